"""Cross entropy: calls just above the least size, of few classes and of many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo import Sample


def _losses(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for shape in ((1030, 8), (130, 67), (2, 3, 1501)):
        labels, logits = rng.integers(0, shape[-1], shape[:-1]), rng.normal(0, 2, shape).astype(dtype)
        yield Sample(f"logits of shape {shape}", (), {"labels": labels, "logits": logits})


def _gradients(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _losses(dtype, rng):
        labels, logits = sample.kwargs.values()
        yield Sample(sample.name, (rng.normal(0, 1, labels.shape).astype(dtype), labels, logits))


SAMPLES = {"sparse_softmax_cross_entropy": _losses, "sparse_softmax_cross_entropy_grad": _gradients}
