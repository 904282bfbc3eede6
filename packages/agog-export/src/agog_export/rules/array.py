"""Array: rules of ops that make, reshape, join, cut and cast tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_export.refusal import Refusal
from agog_export.sizes import Number, Size
from agog_export.writer import Operand, Writer

__all__ = [
    "broadcast_to",
    "cast",
    "check_numerics",
    "concat",
    "eye",
    "fill",
    "linspace",
    "one_hot",
    "pad",
    "range",
    "reshape",
    "reverse_sequence",
    "split",
    "strided_slice",
    "transpose",
]

_LAST = 2**62  # beyond the end of any axis


def broadcast_to(op: Writer, x: Operand, *, shape: Sequence[Number]) -> Any:
    return op.Expand(x, list(shape))


def cast(op: Writer, x: Operand, *, dtype: Any) -> Any:
    return op.cast(x, op.out.dtype)


def check_numerics(op: Writer, x: Operand, *, message: str) -> list[Any]:
    """A model computes on; only agog looks at the values."""
    return [x, None]


def concat(op: Writer, *values: Operand, axis: int) -> Any:
    return op.Concat(*values, axis=axis)


def eye(op: Writer, *, rows: int, columns: int, **_: Any) -> Any:
    return op.constant(np.eye(rows, columns, dtype=op.out.dtype))


def fill(op: Writer, *, shape: Sequence[Number], value: Any, **_: Any) -> Any:
    return op.zeros(shape, op.out.dtype, value)


def linspace(op: Writer, *, start: float, stop: float, num: int, **_: Any) -> Any:
    return op.constant(np.linspace(start, stop, num).astype(op.out.dtype))


def one_hot(op: Writer, indices: Operand, *, depth: int, axis: int, on_value: Any, off_value: Any, **_: Any) -> Any:
    """By a comparison: OneHot counts negative indices from the end."""
    where = len(op.out.shape) - 1 if axis == -1 else axis
    places = np.arange(depth).reshape([depth if n == where else 1 for n, _ in enumerate(op.out.shape)])
    is_on = op.Equal(op.Unsqueeze(op.cast(indices, np.int64), [where]), places)
    if op.out.dtype == np.dtype(bool):
        on, off = (op.constant(np.array(value, bool)) for value in (on_value, off_value))
        return op.Or(op.And(is_on, on), op.And(op.Not(is_on), off))
    return op.Where(is_on, np.array(on_value, op.out.dtype), np.array(off_value, op.out.dtype))


def pad(op: Writer, x: Operand, *, paddings: Sequence[Sequence[int]], value: Any) -> Any:
    if not paddings:
        return x
    pads = [*(before for before, _ in paddings), *(after for _, after in paddings)]
    return op.Pad(x, pads, np.array(value, x.dtype))


def range(op: Writer, *, start: Any, delta: Any, count: Number, **_: Any) -> Any:
    places = op.Range(np.int64(0), op.Squeeze(op.sizes([count]), [0]), np.int64(1))
    return op.Add(op.Mul(op.cast(places, op.out.dtype), delta), start)


def reshape(op: Writer, x: Operand, *, shape: Sequence[Number]) -> Any:
    """One unknown size is what is left of the elements."""
    unknown = [size for size in shape if isinstance(size, Size)]
    if len(unknown) == 1 and 0 not in shape:
        shape = [-1 if isinstance(size, Size) else size for size in shape]
    return op.Reshape(x, list(shape), allowzero=0 in shape)


def reverse_sequence(op: Writer, input: Operand, seq_lengths: Operand, *, seq_axis: int, batch_axis: int) -> Any:
    """By the place of each element: ONNX's operator takes the first two axes alone, and no empty sequences."""
    axes = [axis for axis, _ in enumerate(input.shape)]
    steps = op.Range(np.int64(0), op.Squeeze(op.sizes([input.shape[seq_axis]]), [0]), np.int64(1))
    places = op.Reshape(steps, [-1 if axis == seq_axis else 1 for axis in axes])
    shape = [input.shape[axis] if axis == batch_axis else 1 for axis in axes]
    ends = op.Reshape(op.cast(seq_lengths, np.int64), shape, allowzero=1)
    turned = op.Where(op.Less(places, ends), op.Sub(op.Sub(ends, np.int64(1)), places), places)
    return op.GatherElements(input, op.Expand(turned, list(input.shape)), axis=seq_axis)


def split(op: Writer, x: Operand, *, sizes: Sequence[Number], axis: int) -> Any:
    if len(op.outputs) == 1:
        return [x]
    return op.Split(x, list(sizes), outputs=len(op.outputs), axis=axis)


def strided_slice(op: Writer, x: Operand, *, key: Sequence[Any]) -> Any:
    """A slice of all axes that are indexed, then without those that an integer takes, and with new ones."""
    slices: list[tuple[Number, Number, int]] = []
    dropped, added = [], []
    place = 0  # in the result
    for entry in key:
        if entry is Ellipsis:
            raise Refusal("an ellipsis in a traced index")
        if entry is None:
            added.append(place)
        else:
            slices.append(_bounds(entry))
            if not isinstance(entry, tuple):
                dropped.append(len(slices) - 1)
                continue
        place += 1
    starts, stops, steps = ([each[n] for each in slices] for n in (0, 1, 2))
    result = op.Slice(x, starts, stops, [axis for axis, _ in enumerate(slices)], steps) if slices else x
    result = op.Squeeze(result, dropped) if dropped else result
    return op.Unsqueeze(result, added) if added else result


def _bounds(entry: Any) -> tuple[Number, Number, int]:
    """Where a slice, or an index as a slice of one element, begins and ends, and its step."""
    if isinstance(entry, tuple):
        start, stop, step = (*entry, None, None)[:3]
        step = 1 if step is None else step
        first, last = (0, _LAST) if step > 0 else (_LAST, -_LAST)
        return first if start is None else start, last if stop is None else stop, step
    return entry, _LAST if entry == -1 else entry + 1, 1


def transpose(op: Writer, x: Operand, *, perm: Sequence[int]) -> Any:
    return op.transpose(x, perm)
