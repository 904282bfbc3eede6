"""Formats: the position of images' channels, in the notation of Keras and of ops."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorLike, convert_to_tensor, transpose
from agog_core.ops.conv.convolutions import convolution

__all__ = ["as_given", "channels_first", "convolved", "last", "op_strides", "padding_name"]


def channels_first(function: str, data_format: str | None) -> bool:
    """Whether a format is ``"channels_first"``; None is ``"channels_last"``, and a ValueError says that it is neither.

    >>> channels_first("conv2d", None)
    False
    """
    if data_format not in (None, "channels_last", "channels_first"):
        raise ValueError(f"{function}: data_format must be 'channels_last' or 'channels_first'; got {data_format!r}.")
    return data_format == "channels_first"


def op_strides(function: str, strides: Any) -> tuple[int, int, int, int]:
    """What ops call strides along height and width; a ValueError says that there are not two.

    >>> op_strides("conv2d", (2, 3))
    (1, 2, 3, 1)
    """
    if not isinstance(strides, (list, tuple)) or len(strides) != 2:
        raise ValueError(f"{function}: strides must be two integers; got {strides!r}.")
    return (1, *strides, 1)


def padding_name(function: str, padding: str) -> str:
    """What ops call a padding; a ValueError says that it is neither ``"same"`` nor ``"valid"``.

    >>> padding_name("conv2d", "same")
    'SAME'
    """
    if padding not in ("same", "valid"):
        raise ValueError(f"{function}: padding must be 'same' or 'valid'; got {padding!r}.")
    return padding.upper()


def convolved(
    function: str, x: TensorLike, kernel: TensorLike, strides: Any, padding: str, form: Any, dilation: Any
) -> Tensor:
    """A convolution of a tensor of that format; ``function`` is the name that errors say."""
    first = channels_first(function, form)
    inputs, name = last(convert_to_tensor(x), first), padding_name(function, padding)
    return as_given(convolution(inputs, kernel, name, strides=strides, dilation_rate=dilation), first)


def last(x: Tensor, first: bool) -> Tensor:
    """The tensor with its channels last, where it has them first.

    >>> from agog_core import zeros
    >>> last(zeros([1, 3, 8, 9]), True).shape
    TensorShape([1, 8, 9, 3])
    """
    return transpose(x, [0, *range(2, x.ndim), 1]) if first else x


def as_given(x: Tensor, first: bool) -> Tensor:
    """The tensor with its channels first again, where it had them so.

    >>> from agog_core import zeros
    >>> as_given(zeros([1, 8, 9, 3]), True).shape
    TensorShape([1, 3, 8, 9])
    """
    return transpose(x, [0, x.ndim - 1, *range(1, x.ndim - 1)]) if first else x
