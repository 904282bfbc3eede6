"""Pooling: windows that are apart, over several channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo import Sample

# Shape, that of the result, window, strides, paddings and dilations.
_FORMS: tuple[Any, ...] = (
    ((6, 6, 4, 17), (6, 3, 2, 17), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ((8, 7, 5, 8), (8, 2, 3, 8), (2, 1), (4, 2), ((0, 0), (0, 0)), (1, 1)),
    ((4, 9, 68), (4, 4, 68), (3,), (3,), ((1, 2),), (1,)),
)


def _pools(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for shape, _, *form in _FORMS:
        yield Sample(f"shape {shape}, windows apart", (rng.uniform(-1, 1, shape).astype(dtype), *form))


def _max_pool_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample, (_, out, *_form) in zip(_pools(dtype, rng), _FORMS, strict=True):
        x, window, strides, paddings, _ = sample.args
        maxima = _maxima(x, out, window, strides, paddings)
        yield Sample(sample.name, (rng.uniform(-1, 1, out).astype(dtype), x, maxima, *sample.args[1:]))


def _maxima(x: Any, out: Any, window: Any, strides: Any, paddings: Any) -> Any:
    maxima = np.empty(out, x.dtype)
    for place in np.ndindex(*out[1:-1]):
        axes = zip(place, window, strides, paddings, strict=True)
        ranges = [slice(max(0, n * step - low), n * step - low + size) for n, size, step, (low, _) in axes]
        maxima[(slice(None), *place)] = x[(slice(None), *ranges)].max(axis=tuple(range(1, x.ndim - 1)))
    return maxima


def _avg_pool_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for shape, out, *form in _FORMS:
        yield Sample(f"shape {shape}, windows apart", (rng.uniform(-1, 1, out).astype(dtype), shape, *form))


SAMPLES = {
    "max_pool": _pools,
    "max_pool_with_argmax": _pools,
    "avg_pool": _pools,
    "max_pool_grad": _max_pool_grad,
    "avg_pool_grad": _avg_pool_grad,
}
