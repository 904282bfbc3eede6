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


def _dense_losses(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _losses(dtype, rng):
        logits = sample.kwargs["logits"]
        labels = rng.uniform(0, 1, logits.shape)
        labels[labels < 0.3] = 0
        labels = (labels / labels.sum(-1, keepdims=True)).astype(dtype)
        yield Sample(sample.name, (), {"labels": labels, "logits": logits})


def _dense_gradients(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for sample in _dense_losses(dtype, rng):
        labels, logits = sample.kwargs.values()
        yield Sample(sample.name, (rng.normal(0, 1, labels.shape[:-1]).astype(dtype), labels, logits))


SAMPLES = {
    "softmax_cross_entropy": _dense_losses,
    "softmax_cross_entropy_grad": _dense_gradients,
    "sparse_softmax_cross_entropy": _losses,
    "sparse_softmax_cross_entropy_grad": _gradients,
}
