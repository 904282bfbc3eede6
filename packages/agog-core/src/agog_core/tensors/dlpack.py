"""DLPack: tensors for other array libraries, and their arrays as tensors.

The protocol is https://dmlc.github.io/dlpack/latest/python_spec.html. A tensor's value never changes, so others get a
copy unless they ask for the memory itself, which is then marked as read-only: not every library obeys the mark.
"""

from __future__ import annotations

from typing import Any

from agog_core.dispatch.devices.backends import backends
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dtypes import as_dtype
from agog_core.recording import lined, note_break
from agog_core.shapes import intern_shape
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.placement import copy_to_device
from agog_core.tensors.tensor import Tensor, is_shared, wrap

__all__ = ["from_dlpack"]

_HOST = (1, 0)  # kDLCPU
_READ_ONLY_SINCE = (1, 0)


def dlpack_device(x: Tensor) -> tuple[int, int]:
    """Where a tensor is, in DLPack's numbers: the device type, such as 1 for a CPU and 2 for CUDA, and the index."""
    place = _place(x)
    if place is None:
        raise BufferError(f"DLPack has no number for {x.device}; copy the tensor to the host first, such as x.cpu().")
    return place


def _place(x: Tensor) -> tuple[int, int] | None:
    device = x._table.device
    return None if device.backend.dlpack_type is None else (device.backend.dlpack_type, device.index)


def to_dlpack(
    x: Tensor, stream: Any, max_version: tuple[int, int] | None, dl_device: tuple[int, int] | None, copy: bool | None
) -> Any:
    """Hand a tensor's value to another library, as a capsule: what `Tensor.__dlpack__` does.

    ``max_version`` None is a consumer from before 1.0; ``copy`` False hands over the memory itself, read-only.
    """
    wanted = None if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted is not None and wanted != _place(x):
        if wanted != _HOST or copy is False:
            raise BufferError(
                f"__dlpack__: the tensor is on {x.device}, and DLPack's device {wanted} was asked for with "
                f"copy={copy}; copy it there first, such as x.cpu() or x.to_device(name)."
            )
        return to_dlpack(x.cpu(), stream, max_version, None, copy)
    dlpack_device(x)
    if copy is False and (max_version is None or tuple(max_version) < _READ_ONLY_SINCE):
        raise BufferError(
            "__dlpack__: a tensor's memory is read-only, which DLPack before 1.0 cannot say; ask with max_version="
            f"(1, 0), or allow a copy. Got copy=False and max_version={max_version}."
        )
    if lined and x._watch is not None:
        note_break("__dlpack__", (x,))
    backend = x._table.device.backend
    array = x._table.device.copy(x._array) if is_shared(x._array) else x._array
    try:
        return backend.to_dlpack(array, stream, max_version, copy is False)
    except BufferError as error:
        raise BufferError(f"__dlpack__: a tensor of dtype {x.dtype.name} on {x.device}: {error}") from error


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Make a tensor of another library's array, through DLPack.

    The values are copied, because whoever owns the array may write to it. Only a tensor is taken as it is.

    Args:
        x: an object with ``__dlpack__`` and ``__dlpack_device__``, such as a NumPy array or a PyTorch tensor.
        device: the device for the tensor; by default the one where the array is.
        copy: True copies tensors too; False raises where a copy would be needed; None copies where needed.

    Returns:
        A tensor of the array's shape and dtype.

    Raises:
        BufferError: ``copy`` is False and a copy is needed, or the array's device or dtype has no place here.
        TypeError: the object has no ``__dlpack__``.

    >>> import numpy as np
    >>> print(from_dlpack(np.arange(3.0)))
    tf.Tensor([0. 1. 2.], shape=(3,), dtype=float64)
    """
    target = None if device is None else get_device(device)
    if isinstance(x, Tensor) or hasattr(type(x), "__tensor__"):
        tensor = convert_to_tensor(x)
        elsewhere = target is not None and target is not tensor._table.device
        if copy is False and elsewhere:
            raise BufferError(
                f"from_dlpack: the tensor is on {tensor.device}, so one on {device} needs a copy; got copy=False."
            )
        if copy and not elsewhere:
            table = tensor._table
            return wrap(table.device.copy(tensor._array), table, tensor._shape)
    else:
        if copy is False:
            raise BufferError(
                f"from_dlpack: whoever owns the {type(x).__name__} may write to it, and a tensor's value never "
                "changes, so it has to be copied; got copy=False."
            )
        tensor = _imported(x)
    return tensor if target is None else copy_to_device(tensor, target)


def _imported(x: Any) -> Tensor:
    """A copy of another library's array, on the device where that is."""
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(
            "from_dlpack takes an object with the methods __dlpack__ and __dlpack_device__; got one of type "
            f"{type(x).__name__}."
        )
    kind, index = (int(number) for number in x.__dlpack_device__())
    serving = [backend for backend in backends() if backend.dlpack_type == kind]
    if not serving:
        known = ", ".join(sorted(f"{b.dlpack_type} ({b.device})" for b in backends() if b.dlpack_type is not None))
        raise BufferError(
            f"from_dlpack: no backend takes arrays of DLPack's device type {kind}; the device types here are {known}."
        )
    device = get_device(f"{serving[0].device}:{index}")
    array = device.backend.from_dlpack(x)
    dtype = as_dtype(array.dtype)
    if not device.holds(dtype):
        raise BufferError(f"from_dlpack: {device.name} holds no arrays of dtype {dtype.name}.")
    return wrap(array, device.table(dtype), intern_shape(tuple(array.shape)))
