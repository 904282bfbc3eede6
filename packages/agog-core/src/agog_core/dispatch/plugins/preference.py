"""Preference: the plugins that the user wants before all others."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

from agog_core.errors import PluginWarning

__all__ = ["prefer"]

# The plugins that `prefer` chose, or AGOG_PREFER; None until somebody asks.
_preferred: tuple[str, ...] | None = None
# What forgets choices among plugins when the preference changes: devices add theirs.
forgetting: list[Callable[[], None]] = []


def prefer(*plugins: str) -> tuple[str, ...]:
    """Choose the plugins whose kernels run before all others, whatever their priority.

    Where several plugins bring one device type, it chooses among these too. The choice is the process's; the
    environment variable ``AGOG_PREFER`` (names with commas) makes it from outside.

    Args:
        *plugins: plugin names, the most preferred first; none at all to take every preference back.

    Returns:
        The plugins that were preferred before.

    Raises:
        ValueError: no plugin of that name is loaded.

    >>> before = prefer("cpu-numpy")
    >>> prefer(*before)
    ('cpu-numpy',)
    """
    global _preferred
    from agog_core.dispatch.plugins.loader import loader

    loaded = [plugin.name for plugin in loader().plugins if plugin.failure is None and not plugin.skipped]
    for name in plugins:
        if name not in loaded:
            raise ValueError(f"prefer: no plugin {name!r} is loaded; loaded are {', '.join(loaded) or 'none'}.")
    before = preference()
    _preferred = plugins
    for forget in forgetting:
        forget()
    return before


def preference() -> tuple[str, ...]:
    """The plugins that are preferred, the most preferred first."""
    global _preferred
    if _preferred is None:
        from agog_core.dispatch.plugins.loader import loader

        _preferred = preference_of_environment()
        loaded = {plugin.name for plugin in loader().plugins}
        for name in _preferred:
            if name not in loaded:
                warnings.warn(
                    f"AGOG_PREFER names plugin {name!r}, which is not installed.", PluginWarning, stacklevel=2
                )
    return _preferred


def preference_of_environment() -> tuple[str, ...]:
    """The names in AGOG_PREFER, whether such plugins are there or not."""
    names = (name.strip() for name in os.environ.get("AGOG_PREFER", "").split(","))
    return tuple(name for name in names if name)


def how_much(plugin: str, preferred: tuple[str, ...]) -> int:
    """How much a plugin is preferred: 0 for not at all."""
    return len(preferred) - preferred.index(plugin) if plugin in preferred else 0
