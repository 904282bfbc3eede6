"""Registration: plugins that a program brings itself, and takes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.dispatch.op import late_ops_of_plugins, registry
from agog_core.errors import PluginError

__all__ = ["register_plugin", "unregister_plugin"]

REGISTERED = "registered by the program"
"""What stands in place of the distribution of a plugin that exists in this process only."""

# What forgets choices among plugins when one comes or goes: kernels add theirs.
forgetting: list[Callable[[], None]] = []


def register_plugin(plugin: Any, name: str) -> None:
    """Load a plugin that no distribution announces: one written in a notebook, or under test.

    Args:
        plugin: a module, or any object, whose functions are marked with `agog_core.plugin.hookimpl`.
        name: the plugin's name.

    Raises:
        PluginError: it could not be loaded.
    """
    from agog_core.dispatch.plugins.loader import loader

    loaded = loader().load(name, REGISTERED, lambda: plugin)
    if loaded.failure is not None:
        loader().plugins.remove(loaded)
        raise PluginError(f"register_plugin({name!r}): {loaded.failure}") from loaded.cause
    _forget()


def unregister_plugin(name: str) -> None:
    """Take back a plugin, by its name.

    Args:
        name: the plugin's name.

    Raises:
        ValueError: no plugin has that name.
    """
    from agog_core.dispatch.plugins.loader import loader

    found = [
        plugin for plugin in loader().plugins if plugin.name == name and plugin.failure is None and not plugin.skipped
    ]
    if not found:
        raise ValueError(f"unregister_plugin: no plugin {name!r} is loaded.")
    for plugin in found:
        loader().plugins.remove(plugin)
        late_ops_of_plugins.pop(name, None)
        for op in plugin.op_names:
            registry.pop(op, None)
    loader().manager.unregister(name=name)
    _forget()


def _forget() -> None:
    for forget in forgetting:
        forget()
