"""Normalization: calls just above the least size, of rows and of columns, in one block and in several."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo import Sample

CASES = (((131, 67), (1,)), ((131, 67), (0,)), ((3, 9, 331), (1, 2)), ((3, 110, 110), (0, 1)), ((700, 66), (0,)))


def _affine(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for shape, axes in CASES:
        weights = shape[-len(axes) :] if axes[-1] == len(shape) - 1 else shape[len(axes) :]
        arrays = rng.normal(0, 1, shape), rng.uniform(0.5, 1.5, weights), rng.normal(0, 1, weights)
        given = tuple([array.astype(dtype) for array in arrays])
        yield Sample(f"shape {shape}, axes {axes}", given, {"axes": axes, "epsilon": 0.25})


def _affine_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _affine(dtype, rng):
        x, scale, _ = sample.args
        over = {"axis": sample.kwargs["axes"], "keepdims": True}
        mean, variance = x.astype(np.float64).mean(**over), x.astype(np.float64).var(**over)
        arrays = rng.normal(0, 1, x.shape), x, scale, mean, variance
        yield Sample(sample.name, tuple([array.astype(dtype) for array in arrays]), sample.kwargs)


def _plain(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _affine(dtype, rng):
        yield Sample(sample.name, sample.args[:1], sample.kwargs)


def _plain_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _affine_grad(dtype, rng):
        g, x, _, mean, variance = (array.astype(np.float64) for array in sample.args)
        arrays = g, (x - mean) / np.sqrt(variance + sample.kwargs["epsilon"]), variance
        yield Sample(sample.name, tuple([array.astype(dtype) for array in arrays]), sample.kwargs)


SAMPLES = {
    "standardize": _plain,
    "standardize_affine": _affine,
    "standardize_affine_grad": _affine_grad,
    "standardize_grad": _plain_grad,
}
