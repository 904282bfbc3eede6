"""Losses, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import losses
from agog_layers.losses import Reduction
from agog_testing import says
from agog_testing.gradcheck import gradcheck

SEED = 30


def log_softmax(z: np.ndarray) -> np.ndarray:
    shifted = z - z.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def huber(labels: np.ndarray, predictions: np.ndarray, delta: float = 1.0) -> np.ndarray:
    error = np.abs(labels - predictions)
    return np.where(error <= delta, 0.5 * error**2, delta * (error - 0.5 * delta))


ELEMENTWISE: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "absolute_difference": lambda y, x: np.abs(y - x),
    "mean_squared_error": lambda y, x: (y - x) ** 2,
    "huber_loss": huber,
}


def reduced(values: np.ndarray, weights: Any, reduction: str) -> Any:
    """The oracle of `compute_weighted_loss`."""
    factors = np.broadcast_to(np.asarray(weights, np.float64), values.shape)
    weighted = values * factors
    divisors = {
        Reduction.SUM: 1,
        Reduction.MEAN: factors.sum(),
        Reduction.SUM_OVER_BATCH_SIZE: values.size,
        Reduction.SUM_BY_NONZERO_WEIGHTS: np.count_nonzero(factors),
    }
    if reduction == Reduction.NONE:
        return weighted
    return weighted.sum() / divisors[reduction] if divisors[reduction] else 0.0


WEIGHTS = [
    1.0,
    1,
    2.5,
    0.0,
    np.array(3.0),
    np.array([[1.0], [0.0], [2.0]]),
    np.array([[1.0, 0.0, 0.5, 2.0]]),
    np.arange(12.0).reshape(3, 4),
    np.zeros((3, 4)),
]


@pytest.mark.parametrize("reduction", Reduction.all())
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_losses(name: str, weights: Any, reduction: str) -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.normal(size=(3, 4)), 2 * rng.normal(size=(3, 4))
    got = getattr(losses, name)(y, x, weights, reduction=reduction)
    assert got.dtype == ag.float64
    np.testing.assert_allclose(
        got.numpy(), reduced(ELEMENTWISE[name](y, x), weights, reduction), rtol=1e-12, err_msg=f"seed {SEED}"
    )


@pytest.mark.parametrize("delta", [0.3, 1.0, 14.0])
def test_huber_delta(delta: float) -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.normal(size=7), 3 * rng.normal(size=7)
    np.testing.assert_allclose(losses.huber_loss(y, x, delta=delta).numpy(), huber(y, x, delta).mean(), rtol=1e-12)


def test_huber_gradient_at_delta() -> None:
    x = ag.constant([-3.0, -1.0, 0.5, 1.0, 3.0])
    gradient = ag.gradients_function(lambda x: losses.huber_loss(ag.zeros([5]), x, reduction=Reduction.SUM))(x)[0]
    assert gradient.numpy().tolist() == [-1.0, -1.0, 0.5, 1.0, 1.0]


@pytest.mark.parametrize("reduction", Reduction.all())
@pytest.mark.parametrize("weights", [1.0, 2.0, np.array([1.0, 0.0, 4.0])], ids=str)
@pytest.mark.parametrize("smoothing", [0, 0.1])
def test_softmax_cross_entropy(smoothing: float, weights: Any, reduction: str) -> None:
    rng = np.random.default_rng(SEED)
    logits, labels = 3 * rng.normal(size=(3, 5)), rng.dirichlet(np.ones(5), size=3)
    smooth = labels * (1 - smoothing) + smoothing / 5
    expected = reduced(-(smooth * log_softmax(logits)).sum(-1), weights, reduction)
    got = losses.softmax_cross_entropy(labels, logits, weights, smoothing, reduction=reduction)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("reduction", Reduction.all())
@pytest.mark.parametrize("weights", [1.0, 2.0, np.array([1.0, 0.0, 4.0]), np.array([[1.0], [0.0], [4.0]])], ids=str)
@pytest.mark.parametrize("column", [False, True])
def test_sparse_softmax_cross_entropy(column: bool, weights: Any, reduction: str) -> None:
    rng = np.random.default_rng(SEED)
    logits, labels = 3 * rng.normal(size=(3, 5)), np.array([4, 0, 2])
    expected = reduced(-log_softmax(logits)[np.arange(3), labels], np.squeeze(weights), reduction)
    given = labels[:, None] if column else labels
    got = losses.sparse_softmax_cross_entropy(given, logits, weights, reduction=reduction)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, err_msg=f"seed {SEED}")


def test_gradient_of_softmax_cross_entropy() -> None:
    rng = np.random.default_rng(SEED)
    logits, labels = rng.normal(size=(3, 5)), np.eye(5)[[4, 0, 2]]
    with ag.GradientTape() as tape:
        z, y = ag.constant(logits), ag.constant(labels)
        tape.watch([z, y])
        loss = losses.softmax_cross_entropy(y, z)
    of_logits, of_labels = tape.gradient(loss, [z, y])
    np.testing.assert_allclose(of_logits.numpy(), (np.exp(log_softmax(logits)) - labels) / 3, rtol=1e-10)
    assert of_labels is None


def test_gradient_of_weighted_loss_reaches_the_weights() -> None:
    y, x, w = ag.zeros([2]), ag.constant([1.0, 3.0]), ag.constant([1.0, 2.0])
    of_x, of_w = ag.gradients_function(lambda x, w: losses.mean_squared_error(y, x, w))(x, w)
    assert of_x.numpy().tolist() == [1.0, 6.0]
    assert of_w.numpy().tolist() == [0.5, 4.5]


def test_gradient_with_zero_weights_is_finite() -> None:
    x = ag.constant([1.0, 3.0])
    for reduction in (Reduction.SUM_BY_NONZERO_WEIGHTS, Reduction.MEAN):
        function = lambda x, r=reduction: losses.mean_squared_error(ag.zeros([2]), x, ag.zeros([2]), reduction=r)  # noqa: E731
        assert ag.gradients_function(function, [0])(x)[0].numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("reduction", [Reduction.MEAN, Reduction.SUM_OVER_BATCH_SIZE, Reduction.SUM_BY_NONZERO_WEIGHTS])
@pytest.mark.parametrize("weights", [1.0, 2.0])
def test_empty_batch(weights: float, reduction: str) -> None:
    empty = ag.zeros([0, 3])
    assert float(losses.mean_squared_error(empty, empty, weights, reduction=reduction)) == 0.0


def test_dtypes() -> None:
    assert losses.mean_squared_error([1, 2], [1, 4]).dtype == ag.float32
    assert float(losses.mean_squared_error([1, 2], [1, 4])) == 2.0
    assert losses.mean_squared_error(np.ones(2), ag.zeros([2])).dtype == ag.float32
    assert losses.softmax_cross_entropy(np.array([[1, 0]]), ag.zeros([1, 2], "float16")).dtype == ag.float16
    assert losses.compute_weighted_loss(np.array([1, 2, 6]), 1.0).dtype == ag.int64


@pytest.mark.parametrize("name", [*ELEMENTWISE, "softmax_cross_entropy"])
def test_shapes_must_agree(name: str) -> None:
    names = ("onehot_labels", "logits") if name == "softmax_cross_entropy" else ("labels", "predictions")
    with says(
        ValueError,
        f"{name}: Shapes (2, 4) and (2, 3) are incompatible: {names[1]} have the first, {names[0]} the second.",
    ):
        getattr(losses, name)(ag.zeros([2, 3]), ag.zeros([2, 4]))


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("absolute_difference", "labels", "predictions"),
        ("mean_squared_error", "labels", "predictions"),
        ("huber_loss", "labels", "predictions"),
        ("softmax_cross_entropy", "onehot_labels", "logits"),
        ("sparse_softmax_cross_entropy", "labels", "logits"),
    ],
)
def test_none_is_an_error(name: str, first: str, second: str) -> None:
    loss = getattr(losses, name)
    values = ag.zeros([2], "int32" if name.startswith("sparse") else "float32")
    for arguments, missing in (((None, ag.zeros([2, 3])), first), ((values, None), second)):
        with says(ValueError, f"{name}: {missing} must not be None."):
            loss(*arguments)
    with says(ValueError, "compute_weighted_loss: weights must not be None."):
        losses.compute_weighted_loss([1.0], None)


@pytest.mark.parametrize("shape", [(2,), (3, 3), (1, 2, 3), (2, 1)])
def test_weights_must_fit(shape: tuple[int, ...]) -> None:
    values = ag.zeros([3, 2])
    with says(
        ValueError,
        f"mean_squared_error: weights of shape {shape} can not be broadcast to values of shape (3, 2); they must be a "
        "scalar, "
        "or have the same rank and in each axis the same size or 1.",
    ):
        losses.mean_squared_error(values, values, ag.ones(shape))


def test_unknown_reduction() -> None:
    with says(
        ValueError,
        "Invalid Reduction Key 'sum'; use one of none, weighted_sum, weighted_mean, weighted_sum_over_batch_size, "
        "weighted_sum_by_nonzero_weights.",
    ):
        losses.mean_squared_error([1.0], [1.0], reduction="sum")
    assert Reduction.SUM_OVER_NONZERO_WEIGHTS == Reduction.SUM_BY_NONZERO_WEIGHTS


@pytest.mark.parametrize("smoothing", [0, 0.2])
def test_sigmoid_cross_entropy(smoothing: float) -> None:
    labels, logits = np.array([[0.0, 1.0], [0.3, 1.0]]), np.array([[1.5, -2.0], [0.5, 0.0]])
    weights = np.array([[1.0], [3.0]])
    p, y = 1 / (1 + np.exp(-logits)), labels * (1 - smoothing) + smoothing / 2
    each = -y * np.log(p) - (1 - y) * np.log(1 - p)
    result = losses.sigmoid_cross_entropy(labels, logits, weights, label_smoothing=smoothing)
    np.testing.assert_allclose(result.numpy(), (each * weights).sum() / 4, rtol=1e-12)


def pairwise(y: np.ndarray, x: np.ndarray, weights: Any) -> float:
    """TensorFlow 1.12's losses in eager mode, example by example; a scalar weight divides by the batch's elements."""
    total, spread = 0.0, np.broadcast_to(weights, y.shape)
    for labels, predictions, factors in zip(y, x, spread, strict=True):
        error, n = (predictions - labels).ravel(), np.count_nonzero(factors) if np.ndim(weights) else y.size
        if n > 1:
            terms = 2 * (error**2).sum() / (n - 1) - 2 * error.sum() ** 2 / (n * (n - 1))
            total += (terms * (factors if np.shape(weights)[1:] == y.shape[1:] else factors.flat[0])).sum()
    return total


PAIR_WEIGHTS = [1.0, 0.0, 2.5, 3, np.array([[1.0], [0.0], [3.0]]), np.array([[2.0]]), np.array([[1.0, 0, 2, 1]] * 3)]


@pytest.mark.parametrize("weights", PAIR_WEIGHTS, ids=str)
@pytest.mark.parametrize("width", [1, 2, 4])
def test_mean_pairwise_squared_error(width: int, weights: Any) -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.normal(size=(3, width)), 2 * rng.normal(size=(3, width))
    weights = weights[:, :width] if np.ndim(weights) else weights
    got = losses.mean_pairwise_squared_error(y, x, weights)
    np.testing.assert_allclose(got.numpy(), pairwise(y, x, weights), rtol=1e-12, atol=1e-15, err_msg=f"seed {SEED}")


def test_mean_pairwise_squared_error_of_more_axes() -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 2))
    for weights in (1.0, np.ones((2, 1, 1))):
        got = losses.mean_pairwise_squared_error(y, x, weights)
        np.testing.assert_allclose(got.numpy(), pairwise(y, x, weights), rtol=1e-12, err_msg=f"seed {SEED}")
    # One weight for each example: the mean over its pairs, one by one.
    pairs = [[(a - b) ** 2 for n, a in enumerate(e) for b in e[:n]] for e in (x - y).reshape(2, -1)]
    np.testing.assert_allclose(got.numpy(), np.mean(pairs, 1).sum(), rtol=1e-12, err_msg=f"seed {SEED}")
    gradcheck(lambda x: losses.mean_pairwise_squared_error(y, x, np.array([[[2.0]], [[1.0]]])), [x])
    with says(
        ValueError,
        "mean_pairwise_squared_error: weights of shape (2, 2, 1) can not be broadcast to values of shape (2, 3, 2); "
        "they must be a scalar, or have the same rank and in each axis the same size or 1.",
    ):
        losses.mean_pairwise_squared_error(y, x, np.ones((2, 2, 1)))
    with says(ValueError, "mean_pairwise_squared_error: labels and predictions must have a batch axis; got scalars."):
        losses.mean_pairwise_squared_error(1.0, 2.0)


@pytest.mark.parametrize("reduction", Reduction.all())
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cosine_distance(axis: int, reduction: str) -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    each = 1 - (y * x).sum(axis, keepdims=True)
    weights = np.where(np.arange(each.size) == 1, 0.0, 2.0).reshape(each.shape)
    for arguments in ({"axis": axis}, {"dim": axis}):
        got = losses.cosine_distance(y, x, weights=weights, reduction=reduction, **arguments)
        np.testing.assert_allclose(got.numpy(), reduced(each, weights, reduction), rtol=1e-12, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("arguments", [{}, {"axis": 1, "dim": 1}])
def test_cosine_distance_needs_an_axis(arguments: dict[str, int]) -> None:
    axis, dim = arguments.get("axis"), arguments.get("dim")
    with says(ValueError, f"cosine_distance: takes one of axis and its older name dim; got axis={axis} and dim={dim}."):
        losses.cosine_distance([[1.0]], [[1.0]], **arguments)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", Reduction.all())
def test_hinge_and_log_loss(reduction: str, dtype: str) -> None:
    rng = np.random.default_rng(SEED)
    y, z, p = rng.integers(0, 2, (3, 4)), rng.normal(size=(3, 4)).astype(dtype), rng.uniform(size=(3, 4)).astype(dtype)
    weights = np.array([[1.0], [0.0], [2.0]])
    hinge = np.maximum(0, 1 - (2 * y - 1) * z.astype(np.float64))
    wide = p.astype(np.float64)
    log = -y * np.log(wide + 0.01) - (1 - y) * np.log(1 - wide + 0.01)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for each, got in (
        (hinge, losses.hinge_loss(y, z, weights, reduction=reduction)),
        (log, losses.log_loss(y, p, weights, 0.01, reduction=reduction)),
    ):
        assert got.dtype == ag.as_dtype(dtype)
        np.testing.assert_allclose(
            got.numpy(), reduced(each, weights, reduction), rtol=tolerance, atol=tolerance, err_msg=f"seed {SEED}"
        )


def test_log_loss_without_doubt_is_finite() -> None:
    got = losses.log_loss([1.0, 0.0], [0.0, 1.0], reduction=Reduction.NONE)
    np.testing.assert_allclose(got.numpy(), [-np.log(1e-7)] * 2, rtol=1e-6)
    half = losses.log_loss([1.0, 0.0], ag.constant([0.0, 1.0], "float16"), reduction=Reduction.NONE)
    assert half.dtype == ag.float16
    np.testing.assert_allclose(half.numpy(), [-np.log(1e-7)] * 2, rtol=1e-3)  # half precision has 11 bits


def test_gradients_of_losses() -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.integers(0, 2, (3, 4)), rng.uniform(0.1, 0.9, (3, 4))
    for name in ("hinge_loss", "log_loss", "mean_pairwise_squared_error", "sigmoid_cross_entropy"):
        gradcheck(lambda x, name=name: getattr(losses, name)(y, x), [x])
    gradcheck(lambda x: losses.cosine_distance(y, x, 1), [x])


def test_eager_execution_collects_no_losses() -> None:
    losses.add_loss(losses.mean_squared_error([1.0], [2.0]))
    assert losses.get_losses() == losses.get_regularization_losses() == []
    assert float(losses.get_regularization_loss()) == 0.0
    with says(
        ValueError,
        "get_total_loss: eager execution collects no losses; add up what the losses return, and model.losses: "
        "tf.add_n([loss, *model.losses]).",
    ):
        losses.get_total_loss()
