"""Where an op runs, and the copies that bring its inputs there."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core.devices import Device, default_device, scope_device, scopes
from agog_core.recording import active, record_unary
from agog_core.tensor import Tensor, wrap


def copy_to_device(x: Tensor, device: Device) -> Tensor:
    """Copy a tensor to a device; the gradient is copied back.

    Args:
        x: a tensor.
        device: the target.

    Returns:
        A new tensor; it shares memory when the device is the same.
    """
    source = x._table.device
    if device is source:
        array = x._array
    else:
        array = device.backend.from_host(source.backend.to_host(x._array).copy(), device.index)
    out = wrap(array, device.table(x._table.dtype), x._shape)
    if active and x._watch is not None:
        record_unary(out, x, copy_to_device, (source,))
    return out


def place(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Bring the inputs of one op together: to the scope's device, else to the first of theirs that is not the default.

    Args:
        tensors: the inputs.

    Returns:
        The inputs on one device; those that are there already are the same objects.

    Raises:
        InvalidArgumentError: the scope's device does not exist.
    """
    target = scope_device() if scopes else None
    if target is None:
        default = default_device()
        target = next((x._table.device for x in tensors if x._table.device is not default), default)
    return [x if x._table.device is target else copy_to_device(x, target) for x in tensors]
