"""Gelu: calls just above the least size, of one block and a rest, and of several blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo import Sample

SIZES = (4_099, 16_391, 50_001)


def _gelu(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for size in SIZES:
        x = rng.normal(0, 2, size).astype(dtype)
        for approximate in (False, True):
            yield Sample(f"{size} elements, approximate={approximate}", (x,), {"approximate": approximate})


def _gelu_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _gelu(dtype, rng):
        (x,) = sample.args
        yield Sample(sample.name, (rng.normal(0, 1, x.shape).astype(dtype), x), sample.kwargs)


SAMPLES = {"gelu": _gelu, "gelu_grad": _gelu_grad}
