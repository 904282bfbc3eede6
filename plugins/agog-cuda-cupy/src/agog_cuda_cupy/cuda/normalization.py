"""Normalization: `standardize` and its gradient by the kernels of standardize.cu, over neighbouring axes."""

from __future__ import annotations

from typing import Any

from agog_cuda_cupy.cuda.axes import Sizes, sizes_around
from agog_cuda_cupy.cuda.modules import THREADS, Modules, element
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

_COLUMNS, _LINES = 32, 8
_MOST_PIECES = 128
_LEAST_PIECE = 64
_MOST_OUTER = 65535  # blocks along the third axis of a grid


def standardize(modules: Modules, x: Array, *, axes: tuple[int, ...], epsilon: float) -> Any:
    sizes = _sizes(x, axes)
    if sizes is None:
        return NotImplemented
    xp, (outer, count, inner) = modules.xp, sizes
    x = contiguous(modules, x)
    y, (mean, variance) = xp.empty(x.shape, x.dtype), _statistics(modules, x, sizes, 2)
    small = float(epsilon)
    if inner == 1:
        rows = _kernel(modules, x, "standardize_rows")
        rows((outer,), (THREADS,), (x, y, mean, variance, count, small))
    else:
        grid, piece_size = _grid(sizes)
        parts = xp.empty((2, outer, grid[1], inner), mean.dtype)
        pieces = _kernel(modules, x, "column_statistics")
        pieces(grid, (_COLUMNS, _LINES), (x, *parts, count, inner, piece_size))
        combine, together = _kernel(modules, x, "combine_statistics"), (outer, count, inner, piece_size, grid[1])
        modules.launch(combine, outer * inner, *parts, mean, variance, *together)
        columns = _kernel(modules, x, "standardize_columns")
        modules.launch(columns, x.size, x, mean, variance, y, x.size, count, inner, small)
    shape = tuple([1 if axis in axes else size for axis, size in enumerate(x.shape)])
    return y, *[statistic.astype(x.dtype, copy=False).reshape(shape) for statistic in (mean, variance)]


def standardize_grad(
    modules: Modules,
    gradients: Array,
    standardized: Array,
    variance: Array,
    *,
    axes: tuple[int, ...],
    epsilon: float,
) -> Any:
    sizes = _sizes(standardized, axes)
    if sizes is None or any(array.dtype != standardized.dtype for array in (gradients, variance)):
        return NotImplemented
    xp, (outer, count, inner) = modules.xp, sizes
    g, s, v = (contiguous(modules, array) for array in (gradients, standardized, variance))
    y = xp.empty(s.shape, s.dtype)
    small = float(epsilon)
    if inner == 1:
        _kernel(modules, s, "standardize_rows_grad")((outer,), (THREADS,), (g, s, v, y, count, small))
        return y
    grid, piece_size = _grid(sizes)
    mean, slope = _statistics(modules, s, sizes, 2)
    parts = xp.empty((2, outer, grid[1], inner), mean.dtype)
    _kernel(modules, s, "column_sums")(grid, (_COLUMNS, _LINES), (g, s, *parts, count, inner, piece_size))
    combine = _kernel(modules, s, "combine_sums")
    modules.launch(combine, outer * inner, *parts, mean, slope, outer, count, inner, grid[1])
    columns = _kernel(modules, s, "standardize_columns_grad")
    modules.launch(columns, s.size, g, s, v, mean, slope, y, s.size, count, inner, small)
    return y


def _sizes(x: Array, axes: tuple[int, ...]) -> Sizes | None:
    """The sizes around axes that are neighbours; None for what the kernels do not serve."""
    sizes = sizes_around(x.shape, axes)
    if sizes is None or element(x.dtype) is None or not x.size or (sizes[2] > 1 and sizes[0] > _MOST_OUTER):
        return None
    return sizes


def _statistics(modules: Modules, x: Array, sizes: Sizes, count: int) -> Any:
    """Arrays of the type that is computed with, one number for each run of the middle axis."""
    dtype = x.dtype if x.dtype.itemsize > 2 else "float32"
    return modules.xp.empty((count, sizes[0] * sizes[2]), dtype)


def _grid(sizes: Sizes) -> tuple[tuple[int, int, int], int]:
    """The grid for columns, and how long its pieces of the middle axis are."""
    outer, count, inner = sizes
    piece_size = max(_LEAST_PIECE, -(-count // _MOST_PIECES))
    return (-(-inner // _COLUMNS), -(-count // piece_size), outer), piece_size


def _kernel(modules: Modules, x: Array, name: str) -> Any:
    return modules.kernel("standardize", name, AGOG_NUMBER=element(x.dtype) or "")
