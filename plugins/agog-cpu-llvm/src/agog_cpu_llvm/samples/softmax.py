"""Softmax: calls just above the least size, of rows that are short, long, and in several blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo import Sample

SHAPES = ((2049, 4), (3, 29, 96), (130, 67), (2, 16_411))


def _logits(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(f"shape {shape}", (rng.normal(0, 2, shape).astype(dtype),))


def _softmax_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for shape in SHAPES:
        parts = rng.uniform(0.5, 1.5, shape)
        given = rng.normal(0, 1, shape), parts / parts.sum(-1, keepdims=True)
        yield Sample(f"shape {shape}", tuple([array.astype(dtype) for array in given]))


def _log_softmax_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _softmax_grad(dtype, rng):
        g, s = sample.args
        yield Sample(sample.name, (g, np.log(s.astype(np.float64)).astype(dtype)))


SAMPLES = {
    **dict.fromkeys(("softmax", "log_softmax"), _logits),
    "softmax_grad": _softmax_grad,
    "log_softmax_grad": _log_softmax_grad,
}
