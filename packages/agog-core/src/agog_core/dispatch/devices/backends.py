"""Backends: which plugin's backend serves a device type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_core.dispatch.plugins.preference import how_much, preference
from agog_core.errors import PluginError
from agog_core.named_tuple import Named

if TYPE_CHECKING:
    from agog_core.dispatch.plugins.backend import Backend
    from agog_core.dispatch.plugins.loader import Plugin


class Brought(Named):
    """A backend and the plugin that brings it."""

    backend: Backend
    plugin: Plugin


def backends() -> list[Backend]:
    """The backend of each device type, with usable devices or without, those with host memory first: of the plugins
    that the user prefers, then the CPU.

    A type that several plugins bring has none until the user prefers one of them.
    """
    return [rivals[0].backend for rivals in _rivals().values() if len(rivals) == 1]


def device_types() -> list[str]:
    """The types of all devices with a backend, usable or not, those in host memory first."""
    return list(_rivals())


def check_decided(device_type: str) -> None:
    """Raise where several plugins bring a device type, and the user prefers none of them."""
    rivals = _rivals().get(device_type, [])
    if len(rivals) < 2:
        return
    named = " and ".join(f"plugin {plugin.name!r} ({plugin.distribution})" for _, plugin in rivals)
    first = rivals[0].plugin.name
    raise PluginError(
        f"{len(rivals)} plugins bring the device type {device_type!r}: {named}. Choose one: agog.prefer({first!r}), or "
        f"AGOG_PREFER={first} in the environment; or uninstall the others."
    )


def serves(plugin: Plugin, device_type: str) -> bool:
    """Whether a plugin's kernels are for the arrays of a device type: not where it brings another backend for it."""
    if all(backend.device != device_type for backend in plugin.backends):
        return True
    return any(brought.plugin is plugin for brought in _rivals()[device_type])


def _rivals() -> dict[str, list[Brought]]:
    """Per device type the backends that may serve it: of several only the one that is preferred most, if any is."""
    from agog_core.dispatch.plugins.loader import loader

    found: dict[str, list[Brought]] = {}
    brought = [Brought(backend, plugin) for plugin in loader().plugins for backend in plugin.backends]
    preferred = preference()
    for each in sorted(brought, key=lambda each: _place(each, preferred)):
        found.setdefault(each.backend.device, []).append(each)
    for rivals in found.values():
        if len(rivals) > 1:
            best = max(rivals, key=lambda each: how_much(each.plugin.name, preferred))
            if how_much(best.plugin.name, preferred):
                rivals[:] = [best]
    return found


def _place(each: Brought, preferred: tuple[str, ...]) -> tuple[Any, ...]:
    """What backends are sorted by: the first is that of the default device."""
    backend = each.backend
    return not backend.host_memory, -how_much(each.plugin.name, preferred), backend.device != "cpu", backend.device
