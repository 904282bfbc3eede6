"""Placement: the device of an op, and the copies of its inputs to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import default_device, host_device, scope_device, scopes
from agog_core.dispatch.op import Op, registry
from agog_core.dtypes import int32, int64
from agog_core.errors import InvalidArgumentError
from agog_core.named_tuple import Named
from agog_core.recording import active, record_unary, source_line
from agog_core.settings import Setting
from agog_core.tensors.tensor import Tensor, wrap

__all__ = [
    "DEVICE_PLACEMENT_EXPLICIT",
    "DEVICE_PLACEMENT_SILENT",
    "DEVICE_PLACEMENT_SILENT_FOR_INT32",
    "DEVICE_PLACEMENT_WARN",
    "device_policy",
    "set_device_policy",
]


class Copy(Named):
    """One copy of a tensor to another device.

    Args:
        source: the tensor.
        target: the device.
        start: when it began, in nanoseconds of `time.perf_counter_ns`.
        end: when it ended.
    """

    source: Tensor
    target: Device
    start: int
    end: int


# Called after each copy, in all threads.
copy_observers: list[Callable[[Copy], None]] = []


def copy_to_device(x: Tensor, device: Device, ahead: bool = False) -> Tensor:
    """Copy a tensor to a device; the gradient is copied back.

    Args:
        x: a tensor.
        device: the target.
        ahead: whether the program wants it later, so that the copy may be under way still.

    Returns:
        A new tensor; it shares memory when the device is the same.

    Raises:
        InvalidArgumentError: the device does not hold tensors of the dtype.
    """
    source = x._table.device
    device = source.counterpart(device)
    table = device.table(x._table.dtype)
    if table.device is not device:
        raise InvalidArgumentError(
            f"A tensor of dtype {x.dtype.name} cannot be copied to {device.name}, which holds "
            f"{', '.join(sorted(device.backend.dtypes or ()))}; leave it on the host, or cast it with tf.cast."
        )
    if device is source:
        array = x._array
    else:
        start = perf_counter_ns()
        if ahead and source.backend.host_memory:
            array = device.prefetched(source.to_host(x._array))
        else:
            array = device.copy_from(x._array, source)
        for observer in () if source.untraced is device.untraced else copy_observers:
            observer(Copy(x, device, start, perf_counter_ns()))
    out = wrap(array, table, x._shape)
    if active and x._watch is not None:
        record_unary(out, x, copy_to_device, (source,))
    return out


def bring(x: Tensor, device: Device, ahead: bool = False) -> Tensor:
    """Copy a tensor to a device, unless it is there; to the host where the device does not hold its dtype.

    ``ahead`` is for what the program wants later: see ``Backend.prefetch``.
    """
    target = x._table.device.counterpart(device.table(x._table.dtype).device)
    return x if x._table.device is target else copy_to_device(x, target, ahead)


def place(op: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Bring an op's inputs together: to the scope's device, else to the first of theirs that is not the default.

    A host op, or an op with an input of a dtype that the device does not support, gets them on the host; and so does
    one that computes sizes, in the scope of any device.
    """
    target = scope_device() if scopes else None
    if target is not None:
        for x in tensors:
            if x._table.device is not target:
                break
        else:  # the most frequent case
            if target.backend.host_memory or (known := registry.get(op)) is None or not known.host:
                return list(tensors)
        if are_sizes(op, tensors):
            target = None
    if target is None:
        default = default_device()
        devices = (x._table.device.untraced for x in tensors)
        target = next((device for device in devices if device is not default), default)
    known = registry.get(op)
    kinds = [x._table.dtype for x in tensors]
    if not target.holds_all(kinds) or (known is not None and known.host and not target.backend.host_memory):
        target = host_device(*kinds)
    for x in tensors:
        target = x._table.device.counterpart(target)
    placed = []
    for position, x in enumerate(tensors):
        if x._table.device is not target:
            policy = device_policy()
            if policy != DEVICE_PLACEMENT_SILENT and x._table.device.untraced is not target.untraced:
                _obey(policy, op, position, x, target)
            x = copy_to_device(x, target)
        placed.append(x)
    return placed


MOST_SIZES = 64


def are_sizes(op: str, tensors: Sequence[Tensor]) -> bool:
    """Whether an op computes sizes, such as ``tf.shape(x)[0] * 2``: a few integers of the host give integers.

    Programs read them for shapes, so they stay there: a device would have to be waited for.
    """
    known = registry.get(op)
    return (
        known is not None
        and known.dtype is None
        and all(
            x._table.dtype in _OF_SIZES
            and x._table.device.backend.host_memory
            and (x._shape == () or (len(x._shape) == 1 and x._shape[0] <= MOST_SIZES))
            for x in tensors
        )
    )


_OF_SIZES = frozenset((int32, int64))


def on_host(op: Op, inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor] | None:
    """An op's inputs on the host where it has to run there: one for the host, or with a result that the device does
    not hold. None if it runs where they are.
    """
    table = inputs[op.alike[0]]._table
    op.check_dtype(table.dtype)  # its rule for results need not know others
    kinds = results if isinstance(results := op.result_dtype(table.dtype, attributes), list) else [results]
    if table.device.holds_all(kinds) and (table.device.backend.host_memory or not op.host):
        return None
    host = host_device(*kinds, *(x._table.dtype for x in inputs))
    return [copy_to_device(x, host) for x in inputs]


DEVICE_PLACEMENT_EXPLICIT = "explicit"
DEVICE_PLACEMENT_WARN = "warn"
DEVICE_PLACEMENT_SILENT = "silent"
DEVICE_PLACEMENT_SILENT_FOR_INT32 = "silent_for_int32"
_POLICIES = (
    *(DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32),
)

# What `set_device_policy` chose in this thread or task.
_policy = Setting("agog_device_policy", DEVICE_PLACEMENT_SILENT)


def device_policy() -> str:
    """The policy of this thread or task for an op's inputs on another device.

    Returns:
        One of the ``DEVICE_PLACEMENT_...`` values.

    >>> device_policy()
    'silent'
    """
    return _policy.get()


def set_device_policy(policy: str | None) -> str:
    """Choose what happens in this thread or task when an op's input is on another device.

    Args:
        policy: ``DEVICE_PLACEMENT_SILENT`` copies it; ``DEVICE_PLACEMENT_WARN`` copies it, and a warning in the log
            names the op and the devices; ``DEVICE_PLACEMENT_EXPLICIT`` raises; ``DEVICE_PLACEMENT_SILENT_FOR_INT32``
            copies integers of 32 bits and raises for all else; None stands for the first.

    Returns:
        The policy before.

    Raises:
        ValueError: the policy is something else.

    >>> set_device_policy(DEVICE_PLACEMENT_WARN)
    'silent'
    >>> set_device_policy(None)
    'warn'
    """
    if policy is not None and policy not in _POLICIES:
        raise ValueError(
            "device_policy must be one of tfe.DEVICE_PLACEMENT_EXPLICIT, _WARN, _SILENT, _SILENT_FOR_INT32 or None; "
            f"got {policy!r}."
        )
    before = _policy.get()
    _policy.set(policy or DEVICE_PLACEMENT_SILENT)
    return before


def _obey(policy: str, op: str, position: int, x: Tensor, target: Device) -> None:
    if policy == DEVICE_PLACEMENT_SILENT_FOR_INT32 and x.dtype is int32:
        return
    conflict = (
        f"cannot compute {op} as input #{position} was expected to be on {target.name} but is actually on {x.device} "
        f"(operation running on {target.name})"
    )
    if policy == DEVICE_PLACEMENT_WARN:
        import logging  # here, because its import takes milliseconds

        logging.getLogger("agog").warning(
            "%s: before %s, input #%d of dtype %s and shape %s is copied from %s to %s; copies slow a model down.",
            *(source_line(), op, position, x.dtype.name, x._shape, x.device, target.name),
        )
        return
    raise InvalidArgumentError(
        f"Tensors on conflicting devices: {conflict}. Copy it with .gpu() or .cpu(), or let it be copied silently, "
        "with tfe.set_device_policy(tfe.DEVICE_PLACEMENT_SILENT)."
    )
