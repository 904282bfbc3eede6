"""Unavailability: why something that a plugin brings cannot be used here."""

from __future__ import annotations

from typing import Any

from agog_core.dispatch.plugins.reference import load_function
from agog_core.dispatch.plugins.watch import watched
from agog_core.errors import describe_value


def available() -> None:
    """Nothing speaks against it: the default of what brings no function of its own."""


def devices_of(what: Any) -> tuple[str, ...]:
    """The device types that something is for."""
    devices: tuple[str, ...] = what.devices if hasattr(what, "devices") else (what.device,)
    return devices


def why_unavailable(what: Any, name: str) -> str | None:
    """What ``unavailable`` of a backend, kernel, executor or compiler says.

    Raises:
        TypeError: it says neither a sentence nor None.
    """
    if what.unavailable is available:
        return None
    asked = f"unavailable of the {name} for device type {' and '.join(map(repr, devices_of(what)))}"
    with watched(lambda seconds: f"agog: {asked} has not answered after {seconds:g} s."):
        why = load_function(what.unavailable)()
    if why is not None and not isinstance(why, str):
        raise TypeError(f"unavailable must return a sentence or None; it returned {describe_value(why)}")
    return why
