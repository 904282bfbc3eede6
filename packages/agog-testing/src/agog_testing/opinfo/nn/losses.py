"""Losses: facts about the ops of agog_core.ops.nn.losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample, Sized
from agog_testing.opinfo.nn.softmax import INF, LOGITS, NAN, log_softmax, softmax
from agog_testing.opinfo.values import FLOATING, SUMS, Rng, binary, constant, invalid, of_size, rejected, uniform


def _cross_entropy_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, kwargs in LOGITS:
        labels, logits = uniform(dtype, rng, shape, 0.1, 1), uniform(dtype, rng, shape)
        yield Sample(f"shape {shape}, {kwargs}", (), {"labels": labels, "logits": logits, **kwargs})
    zero, certain = constant(dtype, [[0.0, 1.0]]), constant(dtype, [[-INF, 0.0]])
    yield Sample("an impossible class of probability 0", (), {"labels": zero, "logits": certain}, smooth=False)
    large = constant(dtype, [[1000.0, 0.0]])
    yield Sample("large logits", (), {"labels": constant(dtype, [[1.0, 0.0]]), "logits": large}, smooth=False)


def _cross_entropy_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape in ((2, size), (size, 3)):
        labels = softmax(uniform("float64", rng, shape)).astype(as_dtype(dtype).numpy_dtype)
        yield Sample(f"shape {shape}", (), {"labels": labels, "logits": uniform(dtype, rng, shape)})


def _cross_entropy(labels: Array, logits: Array, axis: int = -1) -> Array:
    terms = np.where(labels == 0, 0, labels * log_softmax(logits, axis))
    return np.asarray(-np.sum(terms, axis=axis))


_CROSS_ENTROPY_ERRORS = (
    invalid(
        (),
        "softmax_cross_entropy: labels and logits must be of one shape; got (2, 3) and (2, 4).",
        labels=np.ones((2, 3), np.float32),
        logits=np.ones((2, 4), np.float32),
    ),
    invalid(
        (),
        "softmax_cross_entropy: labels must be floats, integers or bools; got dtype complex64 and shape (2, 3). Make "
        "numbers of strings with tf.string_to_number, and of complex numbers with tf.real or tf.abs.",
        labels=np.ones((2, 3), np.complex64),
        logits=np.ones((2, 3), np.float32),
    ),
)


def _sparse_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((), (1,), (3,), (2, 3), (0,), (67,)):
        labels = np.asarray(rng.integers(0, 5, shape)).astype(np.int32)
        yield Sample(f"labels of shape {shape}", (), {"labels": labels, "logits": uniform(dtype, rng, (*shape, 5))})
    for kind in ("int64", "uint8", "uint64"):
        labels = np.array([4, 0], kind)
        yield Sample(f"{kind} labels", (), {"labels": labels, "logits": uniform(dtype, rng, (2, 5))})

    large = constant(dtype, [[1000.0, 0.0, -1000.0], [0.0, 1.0, 2.0]])
    yield Sample("large logits", (), {"labels": np.array([1, 2], np.int32), "logits": large}, smooth=False)
    special = constant(dtype, [[NAN, 0.0], [0.0, -INF]])
    yield Sample("NaN and infinity", (), {"labels": np.array([1, 0], np.int32), "logits": special}, smooth=False)


def _sparse_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for examples, classes in ((2, size), (size, 3)):
        labels, logits = rng.integers(0, classes, examples), uniform(dtype, rng, (examples, classes))
        yield Sample(f"shape {(examples, classes)}", (), {"labels": labels, "logits": logits})


def _sparse(labels: Array, logits: Array) -> Array:
    out = np.empty(labels.shape, np.float64)
    log_probabilities = log_softmax(logits)
    for position in np.ndindex(*labels.shape):
        out[position] = -log_probabilities[(*position, int(labels[position]))]
    return out


_SPARSE = "sparse_softmax_cross_entropy"
_SPARSE_ERRORS = (
    invalid(
        (),
        f"{_SPARSE}: Received a label value of 3 which is outside the valid range of [0, 3).",
        labels=np.array([0, 3], np.int32),
        logits=np.ones((2, 3), np.float32),
    ),
    invalid(
        (),
        f"{_SPARSE}: Received a label value of -1 which is outside the valid range of [0, 3).",
        labels=np.array([0, -1], np.int64),
        logits=np.ones((2, 3), np.float32),
    ),
    invalid(
        (),
        f"{_SPARSE}: logits of shape (2, 3) need labels of shape (2,); got labels of shape (3,).",
        labels=np.zeros(3, np.int32),
        logits=np.ones((2, 3), np.float32),
    ),
    invalid(
        (),
        f"{_SPARSE}: labels must be integers; got dtype float32 and shape (2,). For probabilities use "
        "softmax_cross_entropy_with_logits.",
        labels=np.zeros(2, np.float32),
        logits=np.ones((2, 3), np.float32),
    ),
)
_LOSS_TOLERANCES = {
    "float16": (1e-2, 1e-2),
    "bfloat16": (6e-2, 2e-1),
    "float32": (1e-5, 1e-5),
    "float64": (1e-12, 1e-12),
}


def _cross_entropy_grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, kwargs in LOGITS:
        labels, logits = uniform(dtype, rng, shape, 0.1, 1), uniform(dtype, rng, shape)
        axis = kwargs.get("axis", -1) % len(shape)
        gradients = uniform(dtype, rng, (*shape[:axis], *shape[axis + 1 :]))
        yield Sample(f"shape {shape}, {kwargs}", (gradients, labels, logits), kwargs)


def _with_gradients(sized: Sized) -> Sized:
    """Samples of a loss, with a gradient for each example first."""

    def found(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
        for sample in sized(dtype, rng, size):
            labels, logits = sample.kwargs["labels"], sample.kwargs["logits"]
            yield Sample(sample.name, (uniform(dtype, rng, logits.shape[:1]), labels, logits))

    return found


def _cross_entropy_grad(gradients: Array, labels: Array, logits: Array, axis: int = -1) -> Array:
    total = labels.sum(axis=axis, keepdims=True)
    return np.asarray(np.expand_dims(gradients, axis) * (softmax(logits, axis) * total - labels))


def _sparse_grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for sample in _sparse_samples(dtype, rng):
        labels, logits = sample.kwargs["labels"], sample.kwargs["logits"]
        arrays = (uniform(dtype, rng, labels.shape), labels, logits)
        yield Sample(sample.name, arrays, smooth=sample.smooth)


def _sparse_grad(gradients: Array, labels: Array, logits: Array) -> Array:
    out = softmax(logits)
    for position in np.ndindex(*labels.shape):
        out[(*position, int(labels[position]))] -= 1
    return out * gradients[..., None]


_TWO, _THREE = np.ones(2, np.float32), np.ones((2, 3), np.float32)
_CROSS_ENTROPY_GRAD_ERROR = (
    "softmax_cross_entropy_grad: labels and logits must be of one shape, and gradients of that shape without axis 0; "
    "got labels (2, 3), logits (2, 3) and gradients (2,)."
)
_SPARSE_GRAD_ERROR = (
    "sparse_softmax_cross_entropy_grad: logits of shape (2, 3) need gradients and labels of shape (2,); got gradients "
    "(2,) and labels (3,)."
)


def _l2_loss_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((), (3,), (2, 3), (0,), (67,)):
        yield Sample(f"shape {shape}", (uniform(dtype, rng, shape),))
    yield Sample("NaN", (constant(dtype, [NAN, 1.0]),), smooth=False)


INFOS = (
    OpInfo(
        name="softmax_cross_entropy",
        samples=_cross_entropy_samples,
        sized=_cross_entropy_sized,
        reference=_cross_entropy,
        errors=_CROSS_ENTROPY_ERRORS,
        tolerances=_LOSS_TOLERANCES,
    ),
    OpInfo(
        name="softmax_cross_entropy_grad",
        samples=_cross_entropy_grad_samples,
        sized=_with_gradients(_cross_entropy_sized),
        reference=_cross_entropy_grad,
        errors=(invalid((_TWO, _THREE, _THREE), _CROSS_ENTROPY_GRAD_ERROR, axis=0),),
        tolerances=_LOSS_TOLERANCES,
    ),
    OpInfo(_SPARSE, _sparse_samples, _sparse, sized=_sparse_sized, errors=_SPARSE_ERRORS, tolerances=_LOSS_TOLERANCES),
    OpInfo(
        name="sparse_softmax_cross_entropy_grad",
        samples=_sparse_grad_samples,
        sized=_with_gradients(_sparse_sized),
        reference=_sparse_grad,
        errors=(invalid((_TWO, np.zeros(3, np.int32), _THREE), _SPARSE_GRAD_ERROR),),
        tolerances=_LOSS_TOLERANCES,
    ),
    binary(
        "sigmoid_cross_entropy",
        lambda y, x: np.logaddexp(x, 0) - x * y,
        special=(NAN, 0.0, 1.0, 80.0, -80.0),
        allowed=FLOATING,
        names=("labels", "logits"),
    ),
    OpInfo(
        name="l2_loss",
        samples=_l2_loss_samples,
        sized=of_size(uniform, ((None,), {}), ((3, None), {})),
        reference=lambda t: np.sum(t * t) / 2,
        errors=(rejected("l2_loss", "int32", FLOATING, (np.array([1], np.int32),)),),
        tolerances=SUMS,
    ),
)
