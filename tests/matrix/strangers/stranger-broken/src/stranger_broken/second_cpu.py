"""Another backend for the device "cpu", whose arrays do not live in host memory."""

from collections.abc import Iterator
from typing import Any

from agog_core.plugin import Backend, hookimpl, requires

requires(2)


def _fail(*arguments: Any) -> Any:
    raise RuntimeError("this CPU does not work")


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """A CPU of its own."""
    yield Backend(
        device="cpu",
        array_type="builtins:bytearray",
        device_count=lambda: 1,
        from_host=_fail,
        to_host=_fail,
        copy=_fail,
        synchronize=_fail,
    )
