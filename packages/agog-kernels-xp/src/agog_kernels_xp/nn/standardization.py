"""Standardization along axes, and sums over neighbouring channels."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.rows import wide

_SHORT = 64


def standardize(xp: Any, x: Array, *, axes: tuple[int, ...], epsilon: float) -> tuple[Array, Array, Array]:
    """Mean 0 and variance 1; the variance is that of the differences from the mean, so that nothing cancels."""
    values = wide(x)
    mean = _mean(xp, values, axes)
    values = values - _spread(xp, mean, values, axes)
    variance = _mean(xp, values * values, axes)
    values /= _spread(xp, xp.sqrt(variance + epsilon), values, axes)
    kind = x.dtype
    return values.astype(kind, copy=False), mean.astype(kind, copy=False), variance.astype(kind, copy=False)


def standardize_grad(
    xp: Any, gradients: Array, standardized: Array, variance: Array, *, axes: tuple[int, ...], epsilon: float
) -> Array:
    """Its gradient."""
    g, s = wide(gradients), wide(standardized)
    values = g * s
    values = s * _spread(xp, -_mean(xp, values, axes), s, axes)
    values += g
    values -= _spread(xp, _mean(xp, g, axes), s, axes)
    values /= _spread(xp, xp.sqrt(wide(variance) + epsilon), s, axes)
    return values.astype(standardized.dtype, copy=False)


def neighbor_sum(xp: Any, x: Array, *, radius: int) -> Array:
    """Sum over a window that slides along the last axis; one shifted addition for each neighbour."""
    values = wide(x)
    total, size = values.astype(values.dtype), x.shape[-1]
    for shift in range(1, min(radius, size - 1) + 1):
        total[..., shift:] += values[..., : size - shift]
        total[..., : size - shift] += values[..., shift:]
    return total.astype(x.dtype, copy=False)


def _mean(xp: Any, x: Array, axes: tuple[int, ...]) -> Array:
    """The mean over axes, which stay. Neighbouring axes are summed over by a product with a vector of ones.

    The BLAS library computes that several times as fast as the array library reduces.
    """
    kept = tuple([1 if axis in axes else size for axis, size in enumerate(x.shape)])
    count = math.prod([x.shape[axis] for axis in axes])
    total = x if x.size else xp.add.reduce(x, axis=axes, keepdims=True)
    for first, last in _runs(axes) if x.size else ():
        shape = total.shape
        before, size, after = math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:])
        if after == 1:
            total = total.reshape(before, size).dot(_ones(xp, x, size))
        elif before == 1:
            total = _ones(xp, x, size).dot(total.reshape(size, after))
        else:
            total = xp.matmul(_ones(xp, x, size), total.reshape(before, size, after))
        total = total.reshape(*shape[:first], *[1] * (last - first), *shape[last:])
    return xp.true_divide(total, x.dtype.type(count)).reshape(kept)


def _runs(axes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Neighbouring axes together: the first, and the one after the last."""
    runs: list[tuple[int, int]] = []
    for axis in axes:
        if runs and runs[-1][1] == axis:
            runs[-1] = (runs[-1][0], axis + 1)
        else:
            runs.append((axis, axis + 1))
    return runs


def _spread(xp: Any, statistic: Array, x: Array, axes: tuple[int, ...]) -> Array:
    """Repeat a mean or the like along short last axes, since loops over few elements are slow."""
    first, last = _runs(axes)[-1] if axes else (0, 0)
    short = last == x.ndim and len(axes) > last - first and math.prod(x.shape[first:]) < _SHORT
    if not short:
        return statistic
    return xp.ascontiguousarray(xp.broadcast_to(statistic, (*statistic.shape[:first], *x.shape[first:])))


def _ones(xp: Any, x: Array, count: int) -> Array:
    ones = xp.empty(count, x.dtype)
    ones.fill(1)
    return ones
