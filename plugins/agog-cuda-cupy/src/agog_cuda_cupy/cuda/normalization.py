"""Normalization over neighbouring axes: by standardize.cu, and with a scale and an offset by affine.cu."""

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
        _of_columns(modules, x, sizes, mean, variance)
        columns = _kernel(modules, x, "standardize_columns")
        modules.launch(columns, x.size, x, mean, variance, y, x.size, count, inner, small)
    return y, *_kept(x, axes, mean, variance)


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


def standardize_affine(
    modules: Modules, x: Array, scale: Array, offset: Array, *, axes: tuple[int, ...], epsilon: float
) -> Any:
    sizes = _affine_sizes(x, scale, axes)
    if sizes is None or offset.dtype != x.dtype:
        return NotImplemented
    x, scale, offset = (contiguous(modules, array) for array in (x, scale, offset))
    outer, count, inner = sizes
    y, (mean, variance) = modules.xp.empty(x.shape, x.dtype), _statistics(modules, x, sizes, 2)
    small = float(epsilon)
    if inner == 1:
        rows = _affine(modules, x, "affine_rows")
        rows((outer,), (THREADS,), (x, scale, offset, y, mean, variance, count, small))
    else:
        _of_columns(modules, x, sizes, mean, variance)
        columns = _affine(modules, x, "affine_columns")
        modules.launch(columns, x.size, x, scale, offset, mean, variance, y, x.size, inner, small)
    return y, *_kept(x, axes, mean, variance)


def standardize_affine_grad(
    modules: Modules,
    gradients: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *,
    axes: tuple[int, ...],
    epsilon: float,
) -> Any:
    sizes = _affine_sizes(x, scale, axes)
    if sizes is None or any(array.dtype != x.dtype for array in (gradients, mean, variance)):
        return NotImplemented
    g, x, scale, m, v = (contiguous(modules, array) for array in (gradients, x, scale, mean, variance))
    xp, (outer, count, inner), small = modules.xp, sizes, float(epsilon)
    of_x, of_scale, of_offset = xp.empty(x.shape, x.dtype), *(xp.empty(scale.shape, x.dtype) for _ in range(2))
    if inner == 1:
        _affine(modules, x, "affine_rows_grad")((outer,), (THREADS,), (g, x, scale, m, v, of_x, count, small))
    # What the gradients of scale and offset sum over: the rows, or what the statistics are over.
    terms, width = (outer, count) if inner == 1 else (count, inner)
    grid, piece_size = _grid((1, terms, width))
    parts = xp.empty((2, grid[1], width), _wide(x))
    sums = _affine(modules, x, "affine_sums")
    sums(grid, (_COLUMNS, _LINES), (g, x, m, v, *parts, terms, width, piece_size, small, inner == 1))
    modules.launch(_affine(modules, x, "affine_totals"), width, *parts, of_scale, of_offset, width, grid[1])
    if inner != 1:
        columns = _affine(modules, x, "affine_columns_grad")
        modules.launch(columns, x.size, g, x, scale, m, v, *parts, of_x, x.size, count, inner, small)
    return of_x, of_scale, of_offset


def _affine_sizes(x: Array, scale: Array, axes: tuple[int, ...]) -> Sizes | None:
    """The sizes around axes, where the scale is as long as a row, or there is one for each column; else None."""
    sizes = _sizes(x, axes)
    if sizes is None or scale.dtype != x.dtype:
        return None
    outer, _, inner = sizes
    shape = (1,) * (x.ndim - scale.ndim) + scale.shape
    over = [size if (axis in axes) == (inner == 1) else 1 for axis, size in enumerate(x.shape)]
    return sizes if list(shape) == over and (inner == 1 or outer == 1) else None


def _of_columns(modules: Modules, x: Array, sizes: Sizes, mean: Array, variance: Array) -> None:
    """Put the statistics of columns into arrays."""
    outer, count, inner = sizes
    grid, piece_size = _grid(sizes)
    parts = modules.xp.empty((2, outer, grid[1], inner), mean.dtype)
    pieces = _kernel(modules, x, "column_statistics")
    pieces(grid, (_COLUMNS, _LINES), (x, *parts, count, inner, piece_size))
    combine, together = _kernel(modules, x, "combine_statistics"), (outer, count, inner, piece_size, grid[1])
    modules.launch(combine, outer * inner, *parts, mean, variance, *together)


def _kept(x: Array, axes: tuple[int, ...], *statistics: Array) -> list[Array]:
    """Statistics in the dtype of what they are of, with its axes."""
    shape = tuple([1 if axis in axes else size for axis, size in enumerate(x.shape)])
    return [statistic.astype(x.dtype, copy=False).reshape(shape) for statistic in statistics]


def _sizes(x: Array, axes: tuple[int, ...]) -> Sizes | None:
    """The sizes around axes that are neighbours; None for what the kernels do not serve."""
    sizes = sizes_around(x.shape, axes)
    if sizes is None or element(x.dtype) is None or not x.size or (sizes[2] > 1 and sizes[0] > _MOST_OUTER):
        return None
    return sizes


def _statistics(modules: Modules, x: Array, sizes: Sizes, count: int) -> Any:
    """Arrays of the type that is computed with, one number for each run of the middle axis."""
    return modules.xp.empty((count, sizes[0] * sizes[2]), _wide(x))


def _wide(x: Array) -> Any:
    """The dtype that is computed with."""
    return x.dtype if x.dtype.itemsize > 2 else "float32"


def _grid(sizes: Sizes) -> tuple[tuple[int, int, int], int]:
    """The grid for columns, and how long its pieces of the middle axis are."""
    outer, count, inner = sizes
    piece_size = max(_LEAST_PIECE, -(-count // _MOST_PIECES))
    return (-(-inner // _COLUMNS), -(-count // piece_size), outer), piece_size


def _kernel(modules: Modules, x: Array, name: str) -> Any:
    return modules.kernel("standardize", name, AGOG_NUMBER=element(x.dtype) or "")


def _affine(modules: Modules, x: Array, name: str) -> Any:
    return modules.kernel("affine", name, AGOG_NUMBER=element(x.dtype) or "")
