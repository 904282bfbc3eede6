"""Products: calls just above the least size, of one block and of several, transposed, in batches, and with a bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo import Sample

Array = np.ndarray[Any, Any]
SIZES = ((128, 128, 128), (131, 257, 67), (24, 300, 521), (1030, 33, 65))


def _pair(dtype: str, rng: np.random.Generator, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[Array, Array]:
    return rng.normal(0, 0.3, left).astype(dtype), rng.normal(0, 0.3, right).astype(dtype)


def _matmul(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for rows, depth, columns in SIZES:
        for transpose_a, transpose_b in ((False, False), (True, False), (False, True), (True, True)):
            left = (depth, rows) if transpose_a else (rows, depth)
            right = (columns, depth) if transpose_b else (depth, columns)
            pair = _pair(dtype, rng, left, right)
            name = f"{rows} by {depth} by {columns}, transpose_a={transpose_a}, transpose_b={transpose_b}"
            yield Sample(name, pair, {"transpose_a": transpose_a, "transpose_b": transpose_b})
    yield Sample("a batch", _pair(dtype, rng, (6, 70, 80), (6, 80, 90)))
    yield Sample("a batch of two axes that is repeated", _pair(dtype, rng, (2, 1, 70, 80), (3, 80, 90)))
    yield Sample("a batch times a matrix", _pair(dtype, rng, (5, 70, 80), (80, 90)))


def _matmul_bias(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for (rows, depth, columns), activation in zip(SIZES, ("linear", "relu", "relu6", "tanh"), strict=True):
        pair = _pair(dtype, rng, (rows, depth), (depth, columns))
        bias = rng.normal(0, 1, columns).astype(dtype)
        yield Sample(f"{rows} by {depth} by {columns}, {activation}", (*pair, bias), {"activation": activation})


SAMPLES = {"matmul": _matmul, "matmul_bias": _matmul_bias}
