"""Eager tensor: TensorFlow's class ``EagerTensor``, for instance checks and construction."""

from __future__ import annotations

from typing import Any

from agog_core.dispatch.devices.lookup import device as on_device
from agog_core.dtypes import ALL
from agog_core.tensors.constant import constant
from agog_core.tensors.tensor import Tensor

__all__ = ["EagerTensor"]

# An argument that was not passed.
_NONE: Any = object()


class _Tensors(type):
    """The kind of class that every tensor is an instance of."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, Tensor)

    def __dir__(cls) -> list[str]:
        return dir(Tensor)


class EagerTensor(metaclass=_Tensors):
    """What `Tensor` is for programs that look into TensorFlow: tensors are instances of it, and a call makes one.

    Args:
        value: what `constant` takes.
        context: the context, which there is one of.
        device: the full name of a device; the empty string for that of the scope.
        dtype: the number that TensorFlow's messages have for the dtype; None for that of the value.

    Raises:
        TypeError: the context or the device was not passed, or the dtype is no such number.

    >>> print(EagerTensor([1.0], context=None, device=""), isinstance(constant(1), EagerTensor))
    tf.Tensor([1.], shape=(1,), dtype=float32) True
    """

    def __new__(cls, value: Any, context: Any = _NONE, device: Any = _NONE, dtype: int | None = None) -> Any:
        for place, (name, argument) in enumerate({"context": context, "device": device}.items(), 2):
            if argument is _NONE:
                raise TypeError(f"EagerTensor: Required argument {name!r} (pos {place}) not found")
        if not isinstance(dtype, int | None):
            raise TypeError(f"EagerTensor: Expecting a DataType value for dtype. Got {type(dtype).__name__}.")
        kind = None if dtype is None else next((kind for kind in ALL if kind.as_datatype_enum == dtype), None)
        if dtype is not None and kind is None:
            raise TypeError(f"EagerTensor: Invalid dtype argument value {dtype}; it is the number of no dtype of agog.")
        if not device:
            return constant(value, kind)
        with on_device(device):
            return constant(value, kind)
