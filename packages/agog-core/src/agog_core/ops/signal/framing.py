"""Framing: signals in overlapping pieces."""

from __future__ import annotations

import operator
from typing import Any

from agog_core.calls.call import call
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import NUMERIC
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import pad, transpose
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["frame", "overlap_and_add"]


def frame(
    signal: TensorLike,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Split signals into frames, which overlap if the step is smaller than their length.

    Args:
        signal: a tensor of numbers of shape (..., samples, ...).
        frame_length: the number of samples in a frame.
        frame_step: the number of samples from the start of a frame to that of the next.
        pad_end: whether the last frames, which are not full, are completed; otherwise they are left out.
        pad_value: what they are completed with.
        axis: the axis of the samples.

    Returns:
        A tensor of shape (..., frames, frame_length, ...).

    Raises:
        InvalidArgumentError: the signal is a scalar, ``axis`` is out of range, or a number is not positive.

    >>> print(frame([1, 2, 3, 4], 2, 1))
    tf.Tensor(
    [[1 2]
     [2 3]
     [3 4]], shape=(3, 2), dtype=int32)
    """
    x = convert_to_tensor(signal)
    length, step = _size("frame_length", frame_length), _size("frame_step", frame_step)
    if not x._shape:
        raise InvalidArgumentError("frame: signal must have an axis of samples; got a scalar.")
    rank, axis = len(x._shape), normalize_axis("frame", axis, len(x._shape))
    if pad_end:
        count = -(-x._shape[axis] // step)
        missing = max(0, length + step * (count - 1) - x._shape[axis])
        x = pad(x, [(0, missing if other == axis else 0) for other in range(rank)], constant_values=pad_value)
    if axis == rank - 1:
        return call(_frame, x, length=length, step=step)
    others = [other for other in range(rank) if other != axis]
    frames = call(_frame, transpose(x, (*others, axis)), length=length, step=step)
    return transpose(frames, (*range(axis), rank - 1, rank, *range(axis, rank - 1)))


def _size(name: str, value: Any) -> int:
    size = operator.index(host_value(value)[()])
    if size < 1:
        raise InvalidArgumentError(f"frame: {name} must be positive; got {size}.")
    return size


def _frame_shape(signal: Shape, length: int, step: int) -> Shape:
    return (*signal[:-1], max(0, 1 + (signal[-1] - length) // step), length)


def _frame_vjp(g: Tensor, signal_shape: Shape, length: int, step: int) -> Tensor:
    covered = overlap_and_add(g, step)
    missing = signal_shape[-1] - covered._shape[-1]
    return pad(covered, [*[(0, 0)] * (len(signal_shape) - 1), (0, missing)]) if missing else covered


_frame = Op("frame", frame, inputs=["signal"], shape=_frame_shape, dtypes=NUMERIC, vjp={"signal": _frame_vjp})


def overlap_and_add(signal: TensorLike, frame_step: Any, name: str | None = None) -> Tensor:
    """Add up overlapping frames, each where it began: what `frame` cuts, but for the overlap, is put together again.

    Args:
        signal: a tensor of numbers of shape (..., frames, frame_length).
        frame_step: the number of samples from the start of a frame to that of the next.

    Returns:
        A tensor of shape (..., (frames - 1) * frame_step + frame_length).

    Raises:
        InvalidArgumentError: the rank is below 2, or ``frame_step`` is not positive.

    >>> print(overlap_and_add([[1, 1], [10, 10], [100, 100]], 1))
    tf.Tensor([  1  11 110 100], shape=(4,), dtype=int32)
    """
    return call(_overlap_and_add, convert_to_tensor(signal), step=operator.index(host_value(frame_step)[()]))


def _overlap_and_add_shape(signal: Shape, step: int) -> Shape:
    if len(signal) < 2:
        raise InvalidArgumentError(f"overlap_and_add: signal must have axes of frames and samples; got shape {signal}.")
    if step < 1:
        raise InvalidArgumentError(f"overlap_and_add: frame_step must be positive; got {step}.")
    *batch, count, length = signal
    return (*batch, (count - 1) * step + length if count else 0)


_overlap_and_add = define(
    overlap_and_add,
    shape=_overlap_and_add_shape,
    dtypes=NUMERIC,
    vjp={"signal": lambda g, signal_shape, step: call(_frame, g, length=signal_shape[-1], step=step)},
)
