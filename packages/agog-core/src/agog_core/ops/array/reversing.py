"""Reversing: the order of elements along axes, reversed or shifted."""

from __future__ import annotations

import builtins
from typing import Any

from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.dtypes import int32, int64
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.joining import concat
from agog_core.ops.array.reshaping import one_of
from agog_core.ops.array.slicing import cut, slice_along
from agog_core.shapes import Shape, normalize_axes, normalize_axis
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["reverse", "reverse_sequence", "roll"]


def reverse(tensor: TensorLike, axis: Any, name: str | None = None) -> Tensor:
    """Reverse the order of the elements along axes.

    Args:
        tensor: a tensor.
        axis: a list of axes.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.

    >>> print(reverse([[1, 2], [3, 4]], [1]))
    tf.Tensor(
    [[2 1]
     [4 3]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(tensor)
    axes = normalize_axes("reverse", [] if axis is None else axis, len(x._shape))
    return cut(x, tuple(builtins.slice(None, None, -1 if a in axes else 1) for a in range(len(x._shape))))


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Reverse the beginnings of sequences of various lengths; what comes after them stays where it is.

    Args:
        input: a tensor.
        seq_lengths: a vector of int32 or int64: the length of each sequence.
        seq_axis: the axis along which the sequences go. Its older name is ``seq_dim``.
        batch_axis: the axis along which the sequences lie side by side; 0 by default. Its older name is ``batch_dim``.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: an axis is out of range, both are the same, or the lengths do not fit the input.
        TypeError: ``seq_axis`` is missing.
        ValueError: an argument is given under both names.

    >>> print(reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1))
    tf.Tensor(
    [[2 1 3]
     [6 5 4]], shape=(2, 3), dtype=int32)
    """
    x, lengths = convert_to_tensor(input), convert_to_tensor(seq_lengths)
    along = one_of("reverse_sequence", seq_axis=seq_axis, seq_dim=seq_dim)
    across = one_of("reverse_sequence", batch_axis=batch_axis, batch_dim=batch_dim)
    if along is None:
        raise TypeError("reverse_sequence: seq_axis is missing; give the axis along which the sequences go.")
    if lengths.dtype not in (int32, int64):
        raise InvalidArgumentError(
            f"reverse_sequence: seq_lengths must be int32 or int64; got dtype {lengths.dtype.name}."
        )
    rank = len(x._shape)
    return call(
        _reverse_sequence,
        x,
        lengths,
        seq_axis=normalize_axis("reverse_sequence", along, rank),
        batch_axis=normalize_axis("reverse_sequence", 0 if across is None else across, rank),
    )


def _sequence_shape(input: Shape, seq_lengths: Shape, seq_axis: int, batch_axis: int) -> Shape:
    if seq_axis == batch_axis:
        raise InvalidArgumentError(f"reverse_sequence: seq_axis and batch_axis are both {seq_axis}; they must differ.")
    if seq_lengths != (input[batch_axis],):
        raise InvalidArgumentError(
            f"reverse_sequence: seq_lengths must have shape ({input[batch_axis]},), one length for each element of "
            f"axis {batch_axis} of the input of shape {input}; got shape {seq_lengths}."
        )
    return input


_reverse_sequence = define(
    reverse_sequence,
    shape=_sequence_shape,
    alike=["input"],
    vjp={"input": lambda g, seq_lengths, seq_axis, batch_axis: reverse_sequence(g, seq_lengths, seq_axis, batch_axis)},
    may_fail=True,
)


def roll(input: TensorLike, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Shift the elements along axes; those that leave at one end come back at the other.

    Args:
        input: a tensor.
        shift: how far, towards larger indices: an integer, or one for each axis.
        axis: the axis, or a list of them; shifts of an axis that is named twice add up.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: there are more or fewer shifts than axes, or an axis is out of range.

    >>> print(roll([1, 2, 3, 4], 1, 0))
    tf.Tensor([4 1 2 3], shape=(4,), dtype=int32)
    """
    x = convert_to_tensor(input)
    shifts, axes = host_value(shift), host_value(axis)
    if shifts.shape != axes.shape or shifts.ndim > 1:
        raise InvalidArgumentError(
            f"roll: shift and axis must be scalars or vectors of one length; got shapes {shifts.shape} and "
            f"{axes.shape}."
        )
    for distance, where in zip(shifts.reshape(-1).tolist(), axes.reshape(-1).tolist(), strict=True):
        along = normalize_axis("roll", where, len(x._shape))
        length = x._shape[along]
        if start := -distance % length if length else 0:
            x = concat([slice_along(x, along, start, length - start), slice_along(x, along, 0, start)], along)
    return x
