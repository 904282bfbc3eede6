"""Pooling: maxima and means of windows over one to three axes, channels last, and their gradients.

For each place of the output along an axis a table has the places of the input in its window: padding is never read, and
no window is copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

LEAST = 2048
"""Elements of the input from which on calls are taken."""

LEAST_CHANNELS = 3
"""Channels from which on they are: fewer leave most lanes empty."""

_PIXELS = 1 << 24  # of an image, whose numbers the lanes of float32 hold

Pairs = tuple[tuple[int, int], ...]
Sizes = tuple[int, ...]

FIELDS = 4
"""Numbers of a table's line: the window's first place, its end, its size, and whether it begins before the input."""


class _Plan(NamedTuple):
    """What calls of one form have in common."""

    shape: Sizes  # of the output
    words: Sizes  # the sizes and steps
    tables: list[Any]
    overlap: bool
    gaps: bool  # whether places of the input belong to no window


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    if op == "max_pool_with_argmax":
        return partial(_max_pool_with_argmax, dtype)
    if op == "max_pool_grad":
        return partial(_max_pool_grad, dtype)
    return partial(_avg_pool_grad, dtype) if op == "avg_pool_grad" else partial(_pool, op, dtype)


def _pool(op: str, dtype: str, x: Any, out: Any = None, **form: Any) -> Any:
    if _is_declined(x):
        return NotImplemented
    plan = _plan(x.shape, **form)
    filled = np.empty(plan.shape, x.dtype) if out is None else out
    _run(dtype, op, (x, filled), plan, math.prod(plan.shape[:-2]))
    return filled if out is None else None


def _is_declined(x: Any) -> bool:
    return x.size < LEAST or x.shape[-1] < LEAST_CHANNELS or not x.flags.c_contiguous


def _max_pool_with_argmax(compiled_dtype: str, x: Any, *, dtype: Any, **form: Any) -> Any:
    if _is_declined(x) or math.prod(x.shape[1:-1]) >= _PIXELS:
        return NotImplemented
    plan = _plan(x.shape, **form)
    maxima, places = np.empty(plan.shape, x.dtype), np.empty(plan.shape, np.int64)
    _run(compiled_dtype, "max_pool_with_argmax", (x, maxima, places), plan, math.prod(plan.shape[:-2]))
    return maxima, places.astype(dtype, copy=False)


def _max_pool_grad(dtype: str, g: Any, x: Any, maxima: Any, out: Any = None, **form: Any) -> Any:
    return _grad(dtype, "max_pool_grad", (g, x, maxima), x.shape, out, form)


def _avg_pool_grad(dtype: str, g: Any, out: Any = None, *, input_shape: Sizes, **form: Any) -> Any:
    return _grad(dtype, "avg_pool_grad", (g,), input_shape, out, form)


def _grad(dtype: str, op: str, arrays: tuple[Any, ...], shape: Sizes, out: Any, form: dict[str, Any]) -> Any:
    is_small = math.prod(shape) < LEAST or shape[-1] < LEAST_CHANNELS
    if is_small or not all(array.flags.c_contiguous for array in arrays):
        return NotImplemented
    plan = _plan(shape, **form)
    if plan.overlap and dtype not in ("float32", "float64"):
        return NotImplemented  # sums would be rounded again and again
    filled = np.empty(shape, dtype) if out is None else out
    _run(dtype, f"{op}_added" if plan.overlap or plan.gaps else op, (*arrays, filled), plan, shape[0])
    return filled if out is None else None


def _run(dtype: str, function: str, arrays: tuple[Any, ...], plan: _Plan, turns: int) -> None:
    if not turns or not arrays[-1].size:
        return
    addresses = [array.ctypes.data for array in (*arrays, *plan.tables)]
    count = len(arrays)
    entries = compiled("pooling", dtype, is_gradient="grad" in function)
    run(entries[function], (*addresses[:count], *plan.words, *addresses[count:]), most=turns)


@lru_cache(maxsize=1024)
def _plan(shape: Sizes, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> _Plan:
    axes = list(zip(shape[1:-1], window, strides, paddings, dilations, strict=True))
    tables = [_table(*axis) for axis in axes]
    out = tuple([len(table) for table in tables])
    # Of two axes the first is that of planes, since windows are summed up plane by plane.
    sizes, steps = list(shape[1:-1]), list(dilations)
    while len(tables) < 3:
        place = 1 if len(tables) == 2 else 0
        tables.insert(place, _table(1, 1, 1, (0, 0), 1))
        sizes.insert(place, 1)
        steps.insert(place, 1)
    reach = [(n - 1) * d + 1 for n, d in zip(window, dilations, strict=True)]
    overlap = any(n > 1 and step < size for n, size, step in zip(window, reach, strides, strict=True))
    covered = [sum(table[:, 2]) == size for table, size in zip(tables, sizes, strict=True)]
    words = (shape[0], *sizes, shape[-1], *map(len, tables), *steps)
    return _Plan((shape[0], *out, shape[-1]), words, tables, overlap, not all(covered))


def _table(size: int, window: int, stride: int, padding: tuple[int, int], dilation: int) -> Any:
    """For each place of the output along an axis: `FIELDS` of the places of the input in its window."""
    places = max(0, (size + sum(padding) - (window - 1) * dilation - 1) // stride + 1)
    table = np.empty((places, FIELDS), np.int64)
    for place in range(places):
        start = place * stride - padding[0]
        inside = [at for at in range(start, start + window * dilation, dilation) if 0 <= at < size]
        table[place] = (inside[0], inside[-1] + 1, len(inside), start < 0) if inside else (0, 0, 0, start < 0)
    return table
