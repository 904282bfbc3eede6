"""Devices: ``tf.config``, devices and settings."""

from __future__ import annotations

from typing import Any, NamedTuple

from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.devices.lookup import list_devices
from agog_core.dispatch.devices.memory import memory_stats
from agog_core.plugin import threads

__all__ = [
    "LogicalDevice",
    "PhysicalDevice",
    "enable_op_determinism",
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "get_memory_info",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
    "set_memory_growth",
    "set_soft_device_placement",
    "set_visible_devices",
]

# What a program has set.
_settings: dict[str, Any] = {}


class PhysicalDevice(NamedTuple):
    """A device.

    Attributes:
        name: such as ``"/physical_device:CPU:0"``.
        device_type: such as ``"CPU"``.

    >>> PhysicalDevice("/physical_device:CPU:0", "CPU").device_type
    'CPU'
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device, as `tf.device` takes it.

    Attributes:
        name: such as ``"/device:CPU:0"``.
        device_type: such as ``"CPU"``.

    >>> LogicalDevice("/device:CPU:0", "CPU").name
    '/device:CPU:0'
    """

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """List the devices.

    Args:
        device_type: the type, such as ``"GPU"``; None for all.

    Returns:
        The devices.

    >>> list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    kinds = [name.rpartition("device:")[2].partition(":") for name in list_devices()]
    found = [PhysicalDevice(f"/physical_device:{kind}:{index}", kind) for kind, _, index in kinds]
    return [each for each in found if device_type in (None, each.device_type)]


@documented_like(list_physical_devices)
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """List the devices, by the names that `tf.device` takes.

    >>> list_logical_devices("CPU")
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    found = list_physical_devices(device_type)
    return [LogicalDevice(each.name.replace("physical_", ""), each.device_type) for each in found]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """List the devices that the program sees, which are all. See `list_physical_devices`."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Choose the devices that the program sees: all, since others are hidden before it starts.

    Args:
        devices: a device, or a list of them.
        device_type: the type that they are of; None for all types.

    Raises:
        RuntimeError: some devices are not among them.
    """
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    hidden = [each.name for each in list_physical_devices(device_type) if each not in wanted]
    if hidden:
        raise RuntimeError(
            f"set_visible_devices: {', '.join(hidden)} cannot be hidden from a program that runs. Choose devices with "
            "tf.device, or hide GPUs with the environment variable CUDA_VISIBLE_DEVICES."
        )


def set_memory_growth(device: Any, enable: bool) -> None:
    """Take memory of a device as it is needed; that is so always.

    Args:
        device: the device.
        enable: True; for False see `tf.set_memory_limit`.
    """
    _settings[f"memory_growth {device}"] = bool(enable)


def get_memory_info(device: str) -> dict[str, int | None]:
    """How much memory of a device is in use.

    Args:
        device: the device's name, such as ``"GPU:0"``.

    Returns:
        ``current`` and ``peak``, in bytes; None for what the device's backend does not know.

    >>> get_memory_info("CPU:0")
    {'current': None, 'peak': None}
    """
    stats = memory_stats(device)
    return {"current": stats.in_use, "peak": stats.peak}


def set_soft_device_placement(enabled: bool) -> None:
    """Say whether ops without a kernel for a device run on another one; see `tf.fallback`, which does that.

    Args:
        enabled: what `get_soft_device_placement` answers from now on.
    """
    _settings["soft_device_placement"] = bool(enabled)


def get_soft_device_placement() -> bool:
    """What `set_soft_device_placement` was told.

    Returns:
        False unless it was told so.
    """
    return bool(_settings.get("soft_device_placement", False))


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Compute with so many threads from now on.

    Args:
        num_threads: the number; 0 for one that agog chooses.

    Raises:
        InvalidArgumentError: the number is negative.
    """
    threads.set_count(int(num_threads))
    _settings["intra_op_threads"] = int(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """What `set_intra_op_parallelism_threads` was told.

    Returns:
        The number; 0 for one that agog chooses.
    """
    return int(_settings.get("intra_op_threads", 0))


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Say how many ops run at a time, which is one for each thread of the program.

    Args:
        num_threads: what `get_inter_op_parallelism_threads` answers from now on.
    """
    _settings["inter_op_threads"] = int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """What `set_inter_op_parallelism_threads` was told.

    Returns:
        The number; 0 unless one was told.
    """
    return int(_settings.get("inter_op_threads", 0))


def enable_op_determinism() -> None:
    """Make ops give the same bits each time, as those of the device cpu do always."""
