"""Backends: the plugin and device type of each one that is installed, and why it is absent where it is."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agog_core.dispatch.plugins.loader import loader
from agog_core.dispatch.plugins.unavailability import why_unavailable
from agog_core.plugin import Backend


def backends() -> Iterator[dict[str, str | None]]:
    """Find out which backends can be used here.

    Yields:
        The plugin's name, the device type, and the reason why it is absent, or None.
    """
    for plugin in loader().plugins:
        if plugin.skipped:
            yield {"plugin": plugin.name, "device": None, "absent": "AGOG_PLUGINS leaves it out"}
        elif plugin.failure is not None:
            yield {"plugin": plugin.name, "device": None, "absent": plugin.failure}
        for backend in plugin.backends:
            yield {"plugin": plugin.name, "device": backend.device, "absent": _why_absent(backend)}


def _why_absent(backend: Backend) -> str | None:
    try:
        if (why := why_unavailable(backend, "backend")) is not None:
            return why
        count: int = backend.loaded.device_count()
    except Exception as error:  # of the plugin
        return f"{type(error).__name__}: {error}"
    return None if count else f"it finds no device of type {backend.device}"


if __name__ == "__main__":
    print(json.dumps(list(backends())))
