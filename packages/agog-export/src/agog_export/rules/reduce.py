"""Reduce: rules of sums, means, extrema and scans along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = [
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "l2_loss",
    "linear_recurrence",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "sum_to",
]


def _reduction(kind: str) -> Callable[..., Any]:
    def rule(op: Writer, x: Operand, *, axes: Sequence[int], keepdims: bool) -> Any:
        return getattr(op, kind)(x, list(axes), keepdims=keepdims, noop_with_empty_axes=1)

    return rule


reduce_logsumexp = _reduction("ReduceLogSumExp")
reduce_max = _reduction("ReduceMax")
reduce_min = _reduction("ReduceMin")
reduce_prod = _reduction("ReduceProd")
reduce_sum = _reduction("ReduceSum")


def reduce_mean(op: Writer, x: Operand, *, axes: Sequence[int], keepdims: bool) -> Any:
    """Of no elements it is no number, where ReduceMean gives 0."""
    if any(x.shape[axis] == 0 for axis in axes):
        return op.Div(reduce_sum(op, x, axes=axes, keepdims=keepdims), 0.0)
    return op.ReduceMean(x, list(axes), keepdims=keepdims, noop_with_empty_axes=1)


def reduce_all(op: Writer, x: Operand, *, axes: Sequence[int], keepdims: bool) -> Any:
    return op.cast(reduce_min(op, op.cast(x, np.int32), axes=axes, keepdims=keepdims), bool)


def reduce_any(op: Writer, x: Operand, *, axes: Sequence[int], keepdims: bool) -> Any:
    """By a sum, which is 0 for no elements too."""
    total = reduce_sum(op, op.cast(x, np.int32), axes=axes, keepdims=keepdims)
    return op.cast(total, bool)


def argmax(op: Writer, x: Operand, *, axis: int, dtype: Any) -> Any:
    return op.cast(op.ArgMax(x, axis=axis, keepdims=0), op.out.dtype)


def argmin(op: Writer, x: Operand, *, axis: int, dtype: Any) -> Any:
    return op.cast(op.ArgMin(x, axis=axis, keepdims=0), op.out.dtype)


def cumsum(op: Writer, x: Operand, *, axis: int, exclusive: bool, reverse: bool) -> Any:
    return op.CumSum(x, np.int64(axis), exclusive=exclusive, reverse=reverse)


def cumprod(op: Writer, x: Operand, *, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Each round multiplies twice as many elements."""
    count = x.shape[axis].__index__()
    if 0 in x.shape:
        return x
    y = _reversed(op, x, axis) if reverse else x
    if exclusive:
        shape = [1 if n == axis else size for n, size in enumerate(x.shape)]
        y = op.Concat(op.zeros(shape, x.dtype, 1), op.Slice(y, [0], [count - 1], [axis]), axis=axis)
    step = 1
    while step < count:
        y = op.Concat(op.Slice(y, [0], [step], [axis]), op.Mul(*_shifted(op, y, step, count, axis)), axis=axis)
        step *= 2
    return _reversed(op, y, axis) if reverse else y


def linear_recurrence(op: Writer, factors: Operand, terms: Operand, *, axis: int, reverse: bool) -> Any:
    """Each round composes twice as many steps: y[t] = b + a * y[t - n] for n = 1, 2, 4 and so on."""
    count = terms.shape[axis].__index__()
    a, b = (_reversed(op, x, axis) if reverse else x for x in (factors, terms))
    step = 1
    while step < count and 0 not in terms.shape:
        (later, earlier), (factor, before) = (_shifted(op, x, step, count, axis) for x in (b, a))
        b = op.Concat(op.Slice(b, [0], [step], [axis]), op.Add(later, op.Mul(factor, earlier)), axis=axis)
        a = op.Concat(op.Slice(a, [0], [step], [axis]), op.Mul(factor, before), axis=axis)
        step *= 2
    return _reversed(op, b, axis) if reverse else b


def _shifted(op: Writer, x: Any, step: int, count: int, axis: int) -> tuple[Any, Any]:
    """All elements from some place on, and those that lie so far before them."""
    return op.Slice(x, [step], [count], [axis]), op.Slice(x, [0], [count - step], [axis])


def _reversed(op: Writer, x: Any, axis: int) -> Any:
    return op.Slice(x, [-1], [-(2**62)], [axis], [-1])


def l2_loss(op: Writer, x: Operand) -> Any:
    return op.Mul(op.ReduceSumSquare(x, keepdims=0), 0.5)


def sum_to(op: Writer, x: Operand, *, shape: Sequence[Any]) -> Any:
    """A sum over the axes that a smaller shape was broadcast along."""
    leading = x.rank - len(shape)
    kept = zip(shape, x.shape[leading:], strict=True)
    spread = [leading + axis for axis, (size, whole) in enumerate(kept) if size == 1 and whole != 1]
    axes = [*range(leading), *spread]
    total = op.ReduceSum(x, axes, keepdims=1) if axes else x
    return op.Squeeze(total, list(range(leading))) if leading else total
