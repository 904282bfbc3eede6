"""Reduction: sums, products, extrema and their positions, by the kernels of reduce.cu."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import as_dtype
from agog_cuda_cupy.cuda.axes import runs_of
from agog_cuda_cupy.cuda.modules import Modules, number
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

# In the order of the source.
_REDUCTIONS = ("sum", "mean", "product", "maximum", "minimum", "first_maximum", "first_minimum", "logsumexp")
_AXIS = np.dtype(
    [(name, "i8") for name in ("outer", "count", "inner", "pieces", "whole")]
    + [(name, "i4") for name in ("reduction", "is_later", "is_last", "is_short")],
    align=True,
)
_WARPS = 4  # of a block for rows; each takes a piece
_ROW_PIECE, _COLUMN_PIECE = 1024, 256
_SHORT = 16  # a warp would have too little to do with a row of so few elements, and a thread takes it


def reduce_sum(modules: Modules, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    return _reduced(modules, "sum", x, axes, keepdims)


def reduce_mean(modules: Modules, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    """See `agog_kernels_xp.reduce.reduction`; integers are declined."""
    return NotImplemented if x.dtype.kind == "i" else _reduced(modules, "mean", x, axes, keepdims)


def reduce_prod(modules: Modules, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    return _reduced(modules, "product", x, axes, keepdims)


def reduce_max(modules: Modules, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    return _reduced(modules, "maximum", x, axes, keepdims)


def reduce_min(modules: Modules, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    return _reduced(modules, "minimum", x, axes, keepdims)


def reduce_logsumexp(modules: Modules, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    """See `agog_kernels_xp.reduce.reduction`; integers are declined."""
    return NotImplemented if x.dtype.kind == "i" else _reduced(modules, "logsumexp", x, axes, keepdims)


def argmax(modules: Modules, input: Array, *, axis: int, dtype: Any) -> Any:
    return _position(modules, "first_maximum", input, axis, dtype)


def argmin(modules: Modules, input: Array, *, axis: int, dtype: Any) -> Any:
    return _position(modules, "first_minimum", input, axis, dtype)


def sum_to(modules: Modules, x: Array, *, shape: tuple[int, ...]) -> Any:
    leading = x.ndim - len(shape)
    repeated = [axis for axis, size in enumerate(shape, leading) if size == 1 and x.shape[axis] != 1]
    total = _reduced(modules, "sum", x, (*range(leading), *repeated), False)
    return total if total is NotImplemented else total.reshape(shape)


def _reduced(modules: Modules, reduction: str, x: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    if number(x.dtype) is None or not x.size or not axes:
        return NotImplemented
    y = modules.xp.empty(_left(x.shape, axes, keepdims), x.dtype)
    _launch(modules, reduction, x, y, axes)
    return y


def _position(modules: Modules, reduction: str, x: Array, axis: int, dtype: Any) -> Any:
    kind = as_dtype(dtype)
    if number(x.dtype) is None or not x.size or kind.name not in ("int32", "int64"):
        return NotImplemented
    y = modules.xp.empty(_left(x.shape, (axis,), False), kind.numpy_dtype)
    _launch(modules, reduction, x, y, (axis,))
    return y


def _left(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    return tuple([1 if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes])


def _launch(modules: Modules, reduction: str, x: Array, y: Array, axes: tuple[int, ...]) -> None:
    given, kind = contiguous(modules, x), number(x.dtype) or ""
    for step in _steps(reduction, x.shape, axes, x.dtype.itemsize, y.itemsize == 4):
        to = y if step.states is None else modules.xp.empty(step.states, "uint8")
        kernel = modules.kernel("reduce", step.kernel, AGOG_NUMBER=kind)
        if step.kernel == "reduce_rows":
            kernel((-(-step.pieces // _WARPS),), (32, _WARPS), (given, to, step.axis, _ROW_PIECE))
        else:
            modules.launch(kernel, step.pieces, given, to, step.axis)
        given = to


class _Step(NamedTuple):
    """A launch: its kernel, the pieces that it reduces, the structure that tells how, and the states that are left."""

    kernel: str
    pieces: int
    axis: Any
    states: tuple[int, int] | None


@lru_cache(maxsize=1024)
def _steps(
    reduction: str, shape: tuple[int, ...], axes: tuple[int, ...], item_size: int, is_short: bool
) -> tuple[_Step, ...]:
    """Reduce pieces of the last run of axes, and their states, until there is one piece; then of the run before it."""
    sizes, reduced = runs_of(shape, axes)
    whole = math.prod([sizes[run] for run in reduced])
    steps: list[_Step] = []
    while reduced:
        run = reduced[-1]
        outer, count, inner = math.prod(sizes[:run]), sizes[run], math.prod(sizes[run + 1 :])
        is_of_rows = inner == 1 and count > _SHORT
        sizes[run] = pieces = -(-count // (_ROW_PIECE if is_of_rows else _COLUMN_PIECE))
        if pieces == 1:
            reduced.pop()
        facts = _REDUCTIONS.index(reduction), bool(steps), not reduced, is_short
        axis = np.array((outer, count, inner, pieces, whole, *facts), _AXIS)[()]
        number_of_pieces = outer * pieces * inner
        states = (number_of_pieces, _state_bytes(reduction, item_size)) if reduced else None
        steps.append(_Step("reduce_rows" if is_of_rows else "reduce_columns", number_of_pieces, axis, states))
    return tuple(steps)


def _state_bytes(reduction: str, item_size: int) -> int:
    """The size of a state in reduce.cu."""
    wide = max(item_size, 4)
    return {"sum": wide, "mean": wide, "product": wide, "logsumexp": 2 * wide}.get(reduction, 16)
