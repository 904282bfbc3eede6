"""Affine: standardization with a scale and an offset behind it, and the gradients."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.nn.standardization import standardize, standardize_grad
from agog_kernels_xp.parts.rows import wide
from agog_kernels_xp.reduce.reduction import sum_to


def standardize_affine(
    xp: Any, x: Array, scale: Array, offset: Array, *, axes: tuple[int, ...], epsilon: float
) -> tuple[Array, Array, Array]:
    """Mean 0 and variance 1, then a scale and an offset."""
    out, mean, variance = standardize(xp, wide(x), axes=axes, epsilon=epsilon)
    out = out * wide(scale)
    out += wide(offset)
    kind = x.dtype
    return out.astype(kind, copy=False), mean.astype(kind, copy=False), variance.astype(kind, copy=False)


def standardize_affine_grad(
    xp: Any,
    gradients: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *,
    axes: tuple[int, ...],
    epsilon: float,
) -> tuple[Array, Array, Array]:
    """The gradients of x, the scale and the offset."""
    g, v = wide(gradients), wide(variance)
    standardized = wide(x) - wide(mean)
    standardized /= xp.sqrt(v + epsilon)
    of_x = standardize_grad(xp, g * wide(scale), standardized, v, axes=axes, epsilon=epsilon)
    of_scale, of_offset = (sum_to(xp, each, shape=scale.shape) for each in (g * standardized, g))
    return tuple([each.astype(x.dtype, copy=False) for each in (of_x, of_scale, of_offset)])
