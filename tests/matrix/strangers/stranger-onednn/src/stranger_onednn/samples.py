"""Samples: products with so many multiplications that the kernels take them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo import Sample


def _uniform(dtype: str, rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(-1, 1, shape).astype(dtype)


def _products(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for n, k, m in ((32, 32, 32), (17, 129, 40), (1, 256, 200)):
        for transpose_a in (False, True):
            for transpose_b in (False, True):
                a = _uniform(dtype, rng, *((k, n) if transpose_a else (n, k)))
                b = _uniform(dtype, rng, *((m, k) if transpose_b else (k, m)))
                name = f"{n} by {k} by {m}, transposed: {transpose_a}, {transpose_b}"
                yield Sample(name, (a, b), {"transpose_a": transpose_a, "transpose_b": transpose_b})


def _with_bias(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for n, k, m in ((32, 32, 32), (17, 129, 40), (1, 256, 200)):
        arrays = _uniform(dtype, rng, n, k), _uniform(dtype, rng, k, m), _uniform(dtype, rng, m)
        for activation in ("linear", "relu", "tanh"):
            yield Sample(f"{n} by {k} by {m}, {activation}", (*arrays, activation), smooth=False)


SAMPLES = {"matmul": _products, "matmul_bias": _with_bias}
"""Op name to its samples."""
