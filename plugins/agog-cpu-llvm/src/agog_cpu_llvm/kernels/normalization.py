"""Normalization: by the mean and variance of rows or of columns, with a scale and an offset, and the gradients.

Rows are the examples of a layer normalization, and columns the channels of a batch normalization. A column is summed
block by block of rows, and the blocks by NumPy in float64: accurate, with the same bits at any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agog_core.plugin import load_reference
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import bits, compiled

LEAST = 8192
"""Elements from which on calls are taken."""

_BLOCK = 1 << 15  # elements of a turn, which stay in a processor's cache between two ways through them
RUN = 32
"""Rows that are summed in one run; runs are summed then, so that less is rounded."""


class _Form:
    """Where a mean and a variance are taken of an array: along its rows, or along its columns."""

    def __init__(self, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
        count, rank = len(axes), len(shape)
        self.is_rows = axes == tuple(range(rank - count, rank))
        is_columns = axes == tuple(range(count))
        self.is_known = bool(count) and self.is_rows != is_columns
        split = rank - count if self.is_rows else count
        self.rows, self.columns = math.prod(shape[:split]), math.prod(shape[split:])
        self.weights = shape[split:]
        self.kept = tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
        fit = max(1, _BLOCK // max(1, self.columns))
        self.block = min(RUN, fit) if self.is_rows else min(RUN * RUN, fit)
        self.blocks = -(-self.rows // self.block)

    def takes(self, *arrays: Any, weights: tuple[Any, ...]) -> bool:
        """Whether arrays lie in such rows, and weights have a number for each column."""
        return (
            self.is_known
            and all(array.flags.c_contiguous for array in (*arrays, *weights))
            and all(weight.shape == self.weights for weight in weights)
        )

    def run(self, dtype: str, name: str, *words: Any) -> None:
        """Call a function that takes arrays and then sizes; numbers behind them are of floating point."""
        given = [word.ctypes.data if isinstance(word, np.ndarray) else bits(word) for word in words]
        sizes = self.rows, self.columns, self.block, self.blocks
        run(compiled("normalization", dtype, is_rows=self.is_rows)[name], (*given, *sizes), most=self.blocks)


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    return partial(_KERNELS[op], dtype)


def _standardize_affine(dtype: str, x: Any, scale: Any, offset: Any, *, axes: tuple[int, ...], epsilon: float) -> Any:
    if x.size < LEAST:
        return NotImplemented
    form = _Form(x.shape, axes)
    if not form.takes(x, weights=(scale, offset)):
        return NotImplemented
    out, mean, variance = (_empty(shape, x.dtype) for shape in (x.shape, form.kept, form.kept))
    if form.is_rows:
        form.run(dtype, "rows", x, scale, offset, out, mean, variance, epsilon)
        return out, mean, variance
    means, squares = np.empty((2, form.blocks, form.columns), dtype)
    form.run(dtype, "moments", x, means, squares)
    counts = np.full((form.blocks, 1), form.block, np.float64)
    counts[-1] = form.rows - form.block * (form.blocks - 1)
    center = (counts * means).sum(0) / form.rows
    spread = (squares.sum(0, np.float64) + (counts * (means - center) ** 2).sum(0)) / form.rows
    mean[...], variance[...] = center.reshape(form.kept), spread.reshape(form.kept)
    factor = (scale.reshape(-1) / np.sqrt(spread + epsilon)).astype(dtype)
    form.run(dtype, "columns", x, mean, factor, offset, out)
    return out, mean, variance


def _standardize_affine_grad(
    dtype: str, g: Any, x: Any, scale: Any, mean: Any, variance: Any, *, axes: tuple[int, ...], epsilon: float
) -> Any:
    if x.size < LEAST:
        return NotImplemented
    form = _Form(x.shape, axes)
    if not form.takes(g, x, mean, variance, weights=(scale,)):
        return NotImplemented
    dx = _empty(x.shape, x.dtype)
    of_scale, of_offset = np.empty((2, form.blocks, form.columns), dtype)
    if form.is_rows:
        form.run(dtype, "rows_grad", g, x, scale, mean, variance, dx, of_scale, of_offset, epsilon)
        sums = of_scale.sum(0, np.float64), of_offset.sum(0, np.float64)
    else:
        root = 1 / np.sqrt(variance.reshape(-1).astype(np.float64) + epsilon)
        form.run(dtype, "sums", g, x, mean, root.astype(dtype), of_scale, of_offset)
        sums = of_scale.sum(0, np.float64), of_offset.sum(0, np.float64)
        factor = scale.reshape(-1) * root
        slope, shift = -factor * root * sums[0] / form.rows, -factor * sums[1] / form.rows
        form.run(dtype, "columns_grad", g, x, mean, *[each.astype(dtype) for each in (factor, slope, shift)], dx)
    return dx, *[each.astype(dtype).reshape(scale.shape) for each in sums]


def _standardize(dtype: str, x: Any, *, axes: tuple[int, ...], epsilon: float) -> Any:
    if not _is_taken(x, axes):
        return NotImplemented
    weights = _Form(x.shape, axes).weights
    arrays = np.ascontiguousarray(x), np.ones(weights, dtype), np.zeros(weights, dtype)
    return _standardize_affine(dtype, *arrays, axes=axes, epsilon=epsilon)


def _standardize_grad(
    dtype: str, g: Any, standardized: Any, variance: Any, *, axes: tuple[int, ...], epsilon: float
) -> Any:
    """That of the standardized values by themselves, whose mean is 0 and whose variance is 1, divided by the root."""
    if not _is_taken(standardized, axes):
        return NotImplemented
    scale = np.ones(_Form(g.shape, axes).weights, dtype)
    zeros, ones = np.zeros(variance.shape, dtype), np.ones(variance.shape, dtype)
    arrays = np.ascontiguousarray(g), np.ascontiguousarray(standardized), scale, zeros, ones
    dx, _, _ = _standardize_affine_grad(dtype, *arrays, axes=axes, epsilon=0.0)
    dx /= np.sqrt(variance + np.asarray(epsilon, dtype))
    return dx


def _is_taken(x: Any, axes: tuple[int, ...]) -> bool:
    """Whether an array without weights is large enough, and its axes are known."""
    return x.size >= LEAST and _Form(x.shape, axes).is_known


_KERNELS: dict[str, Callable[..., Any]] = {
    "standardize": _standardize,
    "standardize_affine": _standardize_affine,
    "standardize_affine_grad": _standardize_affine_grad,
    "standardize_grad": _standardize_grad,
}


def _lowered(op: str) -> Callable[..., Any]:
    """How traced functions take calls apart that are not taken, as the reference kernel does."""

    def lower(*arrays: Any, axes: tuple[int, ...], epsilon: float) -> Any:
        if _is_taken(arrays[0], axes):
            raise NotImplementedError("a call of this size has no steps")
        return load_reference(f"agog_cpu_numpy.lowering:{op}")(*arrays, axes=axes, epsilon=epsilon)

    return lower


lower_standardize = _lowered("standardize")
lower_standardize_grad = _lowered("standardize_grad")


def _empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """Memory of the device's."""
    return load_reference("agog_cpu_numpy.allocator:empty")(shape, dtype)
