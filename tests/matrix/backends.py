"""Print, as JSON, the plugin and device type of every backend that is installed, and why it is absent where it is."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agog_core.dispatch.plugins.loader import loader


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
            absent = backend.unavailable()
            if absent is None and backend.device_count() == 0:
                absent = f"it finds no device of type {backend.device}"
            yield {"plugin": plugin.name, "device": backend.device, "absent": absent}


if __name__ == "__main__":
    print(json.dumps(list(backends())))
