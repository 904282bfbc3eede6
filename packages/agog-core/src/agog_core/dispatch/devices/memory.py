"""Memory: what a device's memory holds, how much of it a program may take, and giving back what it does not need."""

from __future__ import annotations

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import current_device, get_device
from agog_core.dispatch.plugins.backend import MemoryStats
from agog_core.errors import InternalError, InvalidArgumentError, UnimplementedError

__all__ = ["free_cached_memory", "memory_stats", "set_memory_limit"]


def memory_stats(device: str | None = None) -> MemoryStats:
    """How much memory of a device is in use.

    Args:
        device: the device's name; None for the current one.

    Returns:
        A tuple of bytes with the names ``in_use``, ``peak``, ``reserved``, ``limit`` and ``total``: what arrays hold,
        the most that they have held, what the process has taken from the device, the most that it may take, and all
        that the device has. None is what the device's backend does not know.

    Raises:
        InvalidArgumentError: there is no such device.

    >>> memory_stats("cpu")
    MemoryStats(in_use=None, peak=None, reserved=None, limit=None, total=None)
    """
    found = _device(device)
    stats = found.ask("memory_stats")
    if not isinstance(stats, MemoryStats):
        raise InternalError(
            f"memory_stats of the backend for device {found.type}:{found.index} returned an object of type "
            f"{type(stats).__name__}; it must return MemoryStats. This is a bug of the plugin that brings the device."
        )
    return stats


def set_memory_limit(limit: int | None, device: str | None = None) -> None:
    """Let the process take no more than so much memory of a device.

    Args:
        limit: bytes, or None for no limit.
        device: the device's name; None for the current one.

    Raises:
        InvalidArgumentError: there is no such device, or the limit is negative.
        UnimplementedError: the device's backend cannot limit its memory.

    >>> set_memory_limit(2**30, "cpu")
    Traceback (most recent call last):
    agog_core.errors.UnimplementedError: set_memory_limit: the backend for device cpu:0 cannot limit its memory.
    """
    if limit is not None and limit < 0:
        raise InvalidArgumentError(f"set_memory_limit: limit must not be negative; got {limit}.")
    found = _device(device)
    if found.backend.set_memory_limit is None:
        raise UnimplementedError(
            f"set_memory_limit: the backend for device {found.type}:{found.index} cannot limit its memory."
        )
    found.ask("set_memory_limit", limit)


def free_cached_memory(device: str | None = None) -> None:
    """Give memory back to a device that the process has taken and no array holds, for other programs to take.

    Args:
        device: the device's name; None for the current one.

    Raises:
        InvalidArgumentError: there is no such device.

    >>> free_cached_memory("cpu")
    """
    found = _device(device)
    if found.backend.free_cached is not None:
        found.ask("free_cached")


def _device(name: str | None) -> Device:
    return current_device() if name is None else get_device(name)
