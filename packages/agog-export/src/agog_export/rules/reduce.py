"""Reduce: rules of sums, means, extrema and scans along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = [
    "argmax",
    "argmin",
    "cumsum",
    "l2_loss",
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
