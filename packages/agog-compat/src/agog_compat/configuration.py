"""Configuration: ``tf.ConfigProto`` and its parts. Settings are kept; the memory limit of GPUs takes effect."""

import warnings
from collections.abc import Mapping
from typing import Any

from agog_core.dispatch.devices.lookup import count_devices
from agog_core.errors import InvalidArgumentError, UnimplementedError

__all__ = ["ConfigProto", "GPUOptions"]


class _Fields:
    """Fields with values: those that a program gives, and else the empty value of the field's type."""

    def __init__(self, **values: Any) -> None:
        fields = type(self).__annotations__
        unknown = sorted(values.keys() - fields.keys())
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {unknown[0]!r}; it has {', '.join(fields)}.")
        for name, make in fields.items():
            value = values.get(name)
            found = make() if value is None else value
            setattr(self, name, _counts(found) if name == "device_count" else found)


class GPUOptions(_Fields):
    """How much memory of GPUs the process may take.

    ``per_process_gpu_memory_fraction`` is the most that it may take of each GPU, as a part of all that the GPU has; 0
    is no limit. Memory is always taken as it is needed, as TensorFlow does with ``allow_growth``.

    >>> GPUOptions(allow_growth=True).allow_growth
    True
    """

    per_process_gpu_memory_fraction: float
    allow_growth: bool
    visible_device_list: str
    allocator_type: str
    deferred_deletion_bytes: int
    force_gpu_compatible: bool
    polling_active_delay_usecs: int
    polling_inactive_delay_msecs: int


class ConfigProto(_Fields):
    """The configuration of a session in TensorFlow.

    ``device_count`` says, by types such as ``"GPU"``, how many devices the program may use at most.

    >>> config = ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    """

    allow_soft_placement: bool
    log_device_placement: bool
    gpu_options: GPUOptions
    inter_op_parallelism_threads: int
    intra_op_parallelism_threads: int
    device_count: dict[str, int]
    device_filters: list[str]
    isolate_session_state: bool
    operation_timeout_in_ms: int
    placement_period: int
    use_per_session_threads: bool


def _counts(value: Any) -> dict[str, int]:
    """Numbers of devices, as the message's map holds them."""
    items = value.items() if isinstance(value, Mapping) else [(None, value)]
    if any(type(kind) is not str or type(count) is not int for kind, count in items):
        raise TypeError(
            "ConfigProto: device_count must be a dict of types of devices and integers, such as {'GPU': 0}; got "
            f"{value!r}."
        )
    return dict(items)


def warn_of_more_devices(device_count: Mapping[str, int]) -> None:
    """Warn if there are more devices of a type than a program asks for, since none can be hidden."""
    for kind, most in device_count.items():
        there = count_devices(kind.lower())
        if there > most:
            warnings.warn(
                f"ConfigProto: device_count is {most} for {kind}, and there are {there}, which a program that runs "
                "cannot hide. Ops run on the CPU unless tf.device says otherwise; to hide GPUs set the environment "
                "variable CUDA_VISIBLE_DEVICES before the program starts.",
                stacklevel=3,
            )


def limit_gpu_memory(options: GPUOptions) -> None:
    """Limit the memory of each GPU to the part that the options name; on a machine without any, nothing happens."""
    fraction = options.per_process_gpu_memory_fraction
    if not 0 <= fraction <= 1:
        raise InvalidArgumentError(f"GPUOptions: per_process_gpu_memory_fraction must be in [0, 1]; got {fraction}.")
    if not fraction:
        return
    from agog_core.dispatch.devices.memory import memory_stats, set_memory_limit  # here: most programs set no limit

    for index in range(count_devices("gpu")):
        total = memory_stats(f"gpu:{index}").total
        if total is None:
            raise UnimplementedError(
                "GPUOptions: per_process_gpu_memory_fraction is a part of the GPU's memory, and the backend for device "
                f"gpu:{index} does not tell how much that is. Use tf.set_memory_limit."
            )
        set_memory_limit(int(fraction * total), f"gpu:{index}")
