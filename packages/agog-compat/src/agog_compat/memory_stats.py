"""Memory stats: ``tf.contrib.memory_stats``, the memory of the current device as tensors."""

from __future__ import annotations

from agog_core import Tensor, constant, int64
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.devices.memory import memory_stats
from agog_core.errors import UnimplementedError

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]


def BytesInUse() -> Tensor:
    """The bytes that arrays hold on the current device. See `agog_core.memory_stats`.

    Returns:
        A scalar of int64.

    Raises:
        UnimplementedError: the device's backend does not know.
    """
    return _known("BytesInUse", memory_stats().in_use)


def BytesLimit() -> Tensor:
    """The most bytes that the process may take of the current device. See `agog_core.memory_stats`.

    Returns:
        A scalar of int64.

    Raises:
        UnimplementedError: the device's backend does not know.
    """
    return _known("BytesLimit", memory_stats().limit)


@documented_like(BytesInUse)
def MaxBytesInUse() -> Tensor:
    """The most bytes that arrays have held on the current device. See `agog_core.memory_stats`."""
    return _known("MaxBytesInUse", memory_stats().peak)


def _known(function: str, count: int | None) -> Tensor:
    if count is None:
        raise UnimplementedError(f"{function}: the backend of the current device does not know; see tf.memory_stats.")
    return constant(count, int64)
