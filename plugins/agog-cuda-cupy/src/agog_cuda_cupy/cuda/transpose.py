"""Transpose: arrays with their axes in another order, laid out anew by the kernels of transpose.cu."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import ITEMS, MOST, Modules

Array = Any

_TILE, _LINES = 32, 8
_MOST_AXES = 8
_WALK = np.dtype([("size", "i4", _MOST_AXES), ("step", "i4", _MOST_AXES), ("axes", "i4")])


def transpose(modules: Modules, x: Array, *, perm: tuple[int, ...]) -> Any:
    """A copy of an array that lies in one piece, with its axes in another order.

    The op's kernel gives a view, which costs nothing; this is for what is read often, or by kernels that take no view.
    """
    item = ITEMS.get(x.dtype.itemsize)
    sizes, order = _merged(x.shape, perm)
    if item is None or x.dtype.kind == "O" or not x.flags.c_contiguous or len(sizes) > _MOST_AXES:
        return NotImplemented
    is_turned = bool(x.size) and order in ((1, 0), (0, 2, 1))
    if not is_turned and x.size > MOST:
        return NotImplemented
    y = modules.xp.empty([x.shape[axis] for axis in perm], x.dtype)
    if is_turned:
        rows, columns = sizes[-2:]
        tiles = x.size // (rows * columns) * -(-rows // _TILE) * -(-columns // _TILE)
        kernel = modules.kernel("transpose", "transpose_matrices", AGOG_ITEM=item)
        kernel((tiles,), (_TILE, _LINES), (x, y, rows, columns))
    else:
        modules.launch(
            modules.kernel("transpose", "permute", AGOG_ITEM=item), y.size, x, y, y.size, _walk(sizes, order)
        )
    return y


def contiguous(modules: Modules, x: Array) -> Array:
    """The array in one piece: itself, or a copy, which for a view with its axes in another order is made by tiles."""
    if x.flags.c_contiguous:
        return x
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    perm = tuple([order.index(axis) for axis in range(x.ndim)])
    y = transpose(modules, x.transpose(order), perm=perm)
    return modules.xp.ascontiguousarray(x) if y is NotImplemented else y


@lru_cache(maxsize=1024)
def _merged(shape: tuple[int, ...], perm: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes and the order that are left when axes which stay neighbours are one, and those of size 1 are none."""
    runs: list[list[int]] = []
    for axis in perm:
        if shape[axis] == 1:
            continue
        between = range(runs[-1][-1] + 1, axis) if runs else ()
        if runs and runs[-1][-1] < axis and all(shape[each] == 1 for each in between):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    ordered = sorted(runs)
    sizes = tuple([int(np.prod([shape[axis] for axis in run])) for run in ordered])
    return sizes, tuple([ordered.index(run) for run in runs])


@lru_cache(maxsize=1024)
def _walk(sizes: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """How an array of some sizes is read in another order of its axes."""
    walk = np.zeros((), _WALK)
    walk["axes"] = len(sizes)
    for axis, source in enumerate(order):
        walk["size"][axis] = sizes[source]
        walk["step"][axis] = int(np.prod(sizes[source + 1 :]))
    return walk[()]
