"""Methods: methods of tensors by other modules, attached to `Tensor`: copies, DLPack, pickling."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.dispatch.devices.lookup import get_device
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.constant import constant
from agog_core.tensors.dlpack import dlpack_device, to_dlpack
from agog_core.tensors.placement import copy_to_device
from agog_core.tensors.tensor import Tensor

_Pair = tuple[int, int] | None


def cpu(self: Tensor) -> Tensor:
    """A copy on the CPU.

    Returns:
        A new tensor; it shares memory when this one is there already.
    """
    return _copy_to(self, "cpu:0")


def gpu(self: Tensor, gpu_index: int = 0) -> Tensor:
    """A copy on a GPU.

    Args:
        gpu_index: which GPU.

    Returns:
        A new tensor.

    Raises:
        RuntimeError: there is no such GPU.
    """
    return _copy_to(self, f"gpu:{gpu_index}")


def to_device(self: Tensor, device: str, /, *, stream: None = None) -> Tensor:
    """A copy on a device.

    Args:
        device: a device name, such as ``"gpu:0"``.
        stream: None, which is the only one.

    Returns:
        A tensor there; this one, where it is there already.

    Raises:
        ValueError: a stream is given, or the text is no device name.
        InvalidArgumentError: there is no such device.
    """
    if stream is not None:
        raise ValueError(f"Tensor.to_device: stream must be None; got {stream!r}.")
    target = get_device(device)
    return self if target is self._table.device else copy_to_device(self, target)


def _copy_to(x: Tensor, name: str) -> Tensor:
    try:
        target = get_device(name)
    except InvalidArgumentError as error:
        raise RuntimeError(f"Error copying tensor to device: {name.upper()}. {error}") from error
    return copy_to_device(x, target)


def _dlpack(
    self: Tensor, *, stream: Any = None, max_version: _Pair = None, dl_device: _Pair = None, copy: bool | None = None
) -> Any:
    return to_dlpack(self, stream, max_version, dl_device, copy)


def _reduce(self: Tensor) -> tuple[Any, ...]:
    return constant, (np.array(self._host()),)


def _repr_html_(self: Tensor) -> str:
    from agog_core.tensors.display import tensor_html  # here, because only notebooks need it

    title = f"tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, device={self.device}"
    return tensor_html(title, self._host(), self.dtype)


_METHODS = {"cpu": cpu, "gpu": gpu, "to_device": to_device, "__dlpack__": _dlpack, "__dlpack_device__": dlpack_device}

for _name, _method in (_METHODS | {"__reduce__": _reduce, "_repr_html_": _repr_html_}).items():
    setattr(Tensor, _name, _method)
