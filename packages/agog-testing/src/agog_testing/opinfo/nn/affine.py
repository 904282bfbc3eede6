"""Affine: facts about the ops of agog_core.ops.nn.affine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.nn.standardization import _TOLERANCES
from agog_testing.opinfo.values import Rng, constant, invalid, uniform

# Shape, axes and the shape of the weights.
_CASES: tuple[tuple[tuple[int, ...], Any, tuple[int, ...]], ...] = (
    ((1,), 0, (1,)),
    ((2, 3), 0, (3,)),
    ((2, 3), -1, (3,)),
    ((2, 3), (0, 1), (2, 1)),
    ((2, 3, 4), 1, (3, 1)),
    ((2, 2, 3, 2), (0, 1, 2), (2,)),
    ((2, 3, 2, 2), (0, 2, 3), (1, 3, 1, 1)),
    ((2, 3, 0), 1, (0,)),
    ((2, 67), 1, (67,)),
    ((67, 2), 0, (2,)),
    ((3, 2, 5), (1, 2), (2, 5)),
)


def _weights(dtype: str, rng: Rng, shape: tuple[int, ...]) -> tuple[Array, Array]:
    return uniform(dtype, rng, shape, 0.5, 2), uniform(dtype, rng, shape, -1, 1)


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axes, weights in _CASES:
        arrays = uniform(dtype, rng, shape), *_weights(dtype, rng, weights)
        yield Sample(f"shape {shape}, axes {axes}", arrays, {"axes": axes, "epsilon": 0.25})
    special = constant(dtype, [[np.nan, 1.0], [1.0, 2.0]]), *_weights(dtype, rng, (2,))
    yield Sample("NaN", special, {"axes": 1}, smooth=False)


def _affine(x: Array, scale: Array, offset: Array, axes: Any, epsilon: float = 1e-3) -> tuple[Array, Array, Array]:
    mean = np.mean(x, axis=axes, keepdims=True)
    variance = np.var(x, axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * scale + offset, mean, variance


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axes, weights in _CASES:
        kept = np.sum(np.empty(shape), axis=axes, keepdims=True).shape
        scale, _ = _weights(dtype, rng, weights)
        statistics = uniform(dtype, rng, kept, -1, 1), uniform(dtype, rng, kept, 0.5, 2)
        arrays = uniform(dtype, rng, shape), uniform(dtype, rng, shape), scale, *statistics
        yield Sample(f"shape {shape}, axes {axes}", arrays, {"axes": axes, "epsilon": 0.25})


def _affine_grad(
    gradients: Array, x: Array, scale: Array, mean: Array, variance: Array, axes: Any, epsilon: float
) -> tuple[Array, Array, Array]:
    standardized = (x - mean) / np.sqrt(variance + epsilon)
    scaled = gradients * scale
    slope = np.mean(scaled * standardized, axis=axes, keepdims=True)
    of_x = (scaled - np.mean(scaled, axis=axes, keepdims=True) - standardized * slope) / np.sqrt(variance + epsilon)
    sums = []
    for each in (gradients * standardized, gradients):
        while each.ndim > scale.ndim:
            each = each.sum(0)
        for axis, size in enumerate(scale.shape):
            each = each.sum(axis, keepdims=True) if size == 1 else each
        sums.append(each)
    return of_x, sums[0], sums[1]


_ROW, _ROWS = np.ones(3, np.float32), np.ones((2, 3), np.float32)
_COLUMN = np.ones((2, 1), np.float32)

INFOS = (
    OpInfo(
        name="standardize_affine",
        samples=_samples,
        reference=_affine,
        errors=(
            invalid(
                (_ROWS, _ROW, _COLUMN),
                "standardize_affine: scale and offset must be of one shape, which broadcasts to x's; got scale (3,), "
                "offset (2, 1) and x (2, 3).",
                axes=1,
            ),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="standardize_affine_grad",
        samples=_grad_samples,
        reference=_affine_grad,
        errors=(
            invalid(
                (_ROWS, _ROWS, _ROW, _ROW, _COLUMN),
                "standardize_affine_grad: gradients and x must be of one shape, and mean and variance of that shape "
                "with size 1 along axes (1,); got gradients (2, 3), x (2, 3), mean (3,) and variance (2, 1).",
                axes=1,
            ),
        ),
        tolerances=_TOLERANCES,
    ),
)
