"""Facts about the ops of agog_core.ops.nn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import FLOATING, ORDERED, Rng, binary, constant, nonzero, rejected, unary, uniform

NAN, INF = np.nan, np.inf
_LOGITS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((3,), {}),
    ((1,), {}),
    ((2, 3), {}),
    ((2, 3), {"axis": 0}),
    ((2, 3, 4), {"axis": 1}),
    ((2, 3, 4), {"axis": -2}),
    ((0, 3), {}),
    ((2, 67), {}),
)


def _exact_sum(x: Array, axis: int) -> Array:
    return np.asarray(np.sum(x, axis=axis, keepdims=True))


def _softmax(logits: Array, axis: int = -1) -> Array:
    shifted = np.exp(logits - _finite_maximum(logits, axis))
    return np.asarray(shifted / _exact_sum(shifted, axis))


def _log_softmax(logits: Array, axis: int = -1) -> Array:
    shifted = logits - _finite_maximum(logits, axis)
    return np.asarray(shifted - np.log(_exact_sum(np.exp(shifted), axis)))


def _finite_maximum(logits: Array, axis: int) -> Array:
    highest = np.max(logits, axis=axis, keepdims=True, initial=-INF)
    return np.where(np.isfinite(highest), highest, 0)


def _softmax_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, kwargs in _LOGITS:
        yield Sample(f"shape {shape}, {kwargs}", (uniform(dtype, rng, shape),), kwargs)
    yield Sample("no classes", (uniform(dtype, rng, (2, 0)),), smooth=False)
    large = constant(dtype, [[1000.0, 1001.0, 1002.0], [-1000.0, 0.0, 1000.0]])
    yield Sample("large logits", (large,), smooth=False)
    yield Sample("infinities and NaN", (constant(dtype, [[-INF, 0.0, 1.0], [NAN, 0.0, 1.0]]),), smooth=False)


def _softmax_errors(name: str) -> tuple[ErrorSample, ...]:
    text = f"{name}: axis 2 is out of range for a tensor of rank 2; use -2 to 1."
    return (
        ErrorSample((np.ones((2, 3), np.float32),), {"axis": 2}, InvalidArgumentError, text),
        rejected(name, "int32", FLOATING, (np.ones((2, 3), np.int32),)),
    )


def _softmax_info(name: str, reference: Callable[..., Any]) -> OpInfo:
    tolerances = {"float16": (1e-2, 2e-3), "bfloat16": (6e-2, 3e-2), "float32": (5e-6, 2e-6)}
    return OpInfo(
        name=name,
        samples=_softmax_samples,
        reference=reference,
        errors=_softmax_errors(name),
        tolerances=tolerances,
    )


def _cross_entropy_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, kwargs in _LOGITS:
        labels, logits = uniform(dtype, rng, shape, 0.1, 1), uniform(dtype, rng, shape)
        yield Sample(f"shape {shape}, {kwargs}", (), {"labels": labels, "logits": logits, **kwargs})
    zero, certain = constant(dtype, [[0.0, 1.0]]), constant(dtype, [[-INF, 0.0]])
    yield Sample("an impossible class of probability 0", (), {"labels": zero, "logits": certain}, smooth=False)
    large = constant(dtype, [[1000.0, 0.0]])
    yield Sample("large logits", (), {"labels": constant(dtype, [[1.0, 0.0]]), "logits": large}, smooth=False)


def _cross_entropy(labels: Array, logits: Array, axis: int = -1) -> Array:
    terms = np.where(labels == 0, 0, labels * _log_softmax(logits, axis))
    return np.asarray(-np.sum(terms, axis=axis))


_CROSS_ENTROPY_ERRORS = (
    ErrorSample(
        (),
        {"labels": np.ones((2, 3), np.float32), "logits": np.ones((2, 4), np.float32)},
        InvalidArgumentError,
        "softmax_cross_entropy: labels and logits must be of one shape; got (2, 3) and (2, 4).",
    ),
    ErrorSample(
        (),
        {"labels": np.ones((2, 3)), "logits": np.ones((2, 3), np.float32)},
        InvalidArgumentError,
        "softmax_cross_entropy: labels has dtype float64 and logits has dtype float32 (shapes (2, 3) and (2, 3)), but "
        "they must be of one "
        "dtype; cast one of them, such as tf.cast(logits, tf.float64).",
    ),
)


def _sparse_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((), (1,), (3,), (2, 3), (0,), (67,)):
        labels = np.asarray(rng.integers(0, 5, shape)).astype(np.int32)
        yield Sample(f"labels of shape {shape}", (), {"labels": labels, "logits": uniform(dtype, rng, (*shape, 5))})
    for kind in ("int64", "uint8"):
        labels = np.array([4, 0], kind)
        yield Sample(f"{kind} labels", (), {"labels": labels, "logits": uniform(dtype, rng, (2, 5))})


def _sparse(labels: Array, logits: Array) -> Array:
    out = np.empty(labels.shape, np.float64)
    log_probabilities = _log_softmax(logits)
    for position in np.ndindex(*labels.shape):
        out[position] = -log_probabilities[(*position, int(labels[position]))]
    return out


_SPARSE = "sparse_softmax_cross_entropy"
_SPARSE_ERRORS = (
    ErrorSample(
        (),
        {"labels": np.array([0, 3], np.int32), "logits": np.ones((2, 3), np.float32)},
        InvalidArgumentError,
        f"{_SPARSE}: Received a label value of 3 which is outside the valid range of [0, 3).",
    ),
    ErrorSample(
        (),
        {"labels": np.array([0, -1], np.int64), "logits": np.ones((2, 3), np.float32)},
        InvalidArgumentError,
        f"{_SPARSE}: Received a label value of -1 which is outside the valid range of [0, 3).",
    ),
    ErrorSample(
        (),
        {"labels": np.zeros(3, np.int32), "logits": np.ones((2, 3), np.float32)},
        InvalidArgumentError,
        f"{_SPARSE}: logits of shape (2, 3) need labels of shape (2,); got labels of shape (3,).",
    ),
    ErrorSample(
        (),
        {"labels": np.zeros(2, np.float32), "logits": np.ones((2, 3), np.float32)},
        InvalidArgumentError,
        f"{_SPARSE}: labels must be integers; got dtype float32 and shape (2,). For probabilities use "
        "softmax_cross_entropy_with_logits.",
    ),
)
_LOSS_TOLERANCES = {
    "float16": (1e-2, 1e-2),
    "bfloat16": (6e-2, 2e-1),
    "float32": (1e-5, 1e-5),
    "float64": (1e-12, 1e-12),
}

INFOS = (
    unary("relu", lambda x: np.where(x < 0, 0, x), nonzero, (NAN, INF, -INF, 0.0, -0.0), allowed=ORDERED),
    binary(
        "relu_grad",
        lambda g, x: np.where(x > 0, g, 0),
        y=nonzero,
        special=(-2.0, 0.0, 1.0),
        names=("gradients", "features"),
    ),
    _softmax_info("softmax", _softmax),
    _softmax_info("log_softmax", _log_softmax),
    OpInfo(
        name="softmax_cross_entropy",
        samples=_cross_entropy_samples,
        reference=_cross_entropy,
        errors=_CROSS_ENTROPY_ERRORS,
        tolerances=_LOSS_TOLERANCES,
    ),
    OpInfo(
        name=_SPARSE,
        samples=_sparse_samples,
        reference=_sparse,
        errors=_SPARSE_ERRORS,
        tolerances=_LOSS_TOLERANCES,
    ),
)
