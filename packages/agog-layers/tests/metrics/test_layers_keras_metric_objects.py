"""Metrics of ``tf.keras`` as objects: batch by batch they say what one batch says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers.losses import lookup as losses
from agog_layers.losses import loss
from agog_layers.metrics import lookup as metrics
from agog_layers.metrics.keras import counts, means, metric
from agog_testing import says

SEED = 33
N = 40

Sample = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def numbers(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(0.1, 2, (N, 3)), rng.uniform(0.1, 2, (N, 3))


def distributions(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.dirichlet(np.ones(3), N), rng.dirichlet(np.ones(3), N)


def signs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.choice([-1.0, 1.0], (N, 3)), rng.normal(size=(N, 3))


def one_hot(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return np.eye(6)[rng.integers(0, 6, N)], rng.uniform(0.1, 1, (N, 6))


def classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, 6, N), rng.uniform(0.1, 1, (N, 6))


def binary(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, (N, 1))
    return y, 0.7 * rng.uniform(size=(N, 1)) + 0.3 * y


def entropy(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return -(y * np.log(x / x.sum(-1, keepdims=True))).sum(-1)


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def top(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (np.argsort(x, -1)[:, -5:] == y[:, None]).any(-1)


# The class, its name, labels and predictions, and the oracle of each example.
MEANS: list[tuple[Any, str, Sample, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = [
    (means.Accuracy, "accuracy", lambda rng: (rng.integers(0, 2, (N, 3)), rng.integers(0, 2, (N, 3))), np.equal),
    (means.BinaryAccuracy, "binary_accuracy", binary, lambda y, x: ((x > 0.5) == y).mean(-1)),
    (
        means.CategoricalAccuracy,
        "categorical_accuracy",
        one_hot,
        lambda y, x: y.argmax(-1) == x.argmax(-1),
    ),
    (means.SparseCategoricalAccuracy, "sparse_categorical_accuracy", classes, lambda y, x: y == x.argmax(-1)),
    (means.TopKCategoricalAccuracy, "top_k_categorical_accuracy", one_hot, lambda y, x: top(y.argmax(-1), x)),
    (means.SparseTopKCategoricalAccuracy, "sparse_top_k_categorical_accuracy", classes, top),
    (means.MeanSquaredError, "mean_squared_error", numbers, lambda y, x: ((y - x) ** 2).mean(-1)),
    (means.MeanAbsoluteError, "mean_absolute_error", numbers, lambda y, x: np.abs(y - x).mean(-1)),
    (
        means.MeanAbsolutePercentageError,
        "mean_absolute_percentage_error",
        numbers,
        lambda y, x: 100 * np.abs((y - x) / y).mean(-1),
    ),
    (
        means.MeanSquaredLogarithmicError,
        "mean_squared_logarithmic_error",
        numbers,
        lambda y, x: (np.log((1 + y) / (1 + x)) ** 2).mean(-1),
    ),
    (means.LogCoshError, "log_cosh_error", numbers, lambda y, x: np.log(np.cosh(y - x)).mean(-1)),
    (means.Poisson, "poisson", numbers, lambda y, x: (x - y * np.log(x)).mean(-1)),
    (
        means.KLDivergence,
        "kullback_leibler_divergence",
        distributions,
        lambda y, x: (y * np.log(y / x)).sum(-1),
    ),
    (means.CosineProximity, "cosine_proximity", numbers, lambda y, x: -(unit(y) * unit(x)).sum(-1)),
    (means.Hinge, "hinge", signs, lambda y, x: np.maximum(0, 1 - y * x).mean(-1)),
    (means.SquaredHinge, "squared_hinge", signs, lambda y, x: (np.maximum(0, 1 - y * x) ** 2).mean(-1)),
    (
        means.CategoricalHinge,
        "categorical_hinge",
        one_hot,
        lambda y, x: np.maximum(0, 1 + ((1 - y) * x).max(-1) - (y * x).sum(-1)),
    ),
    (means.CategoricalCrossentropy, "categorical_crossentropy", one_hot, entropy),
    (
        means.SparseCategoricalCrossentropy,
        "sparse_categorical_crossentropy",
        classes,
        lambda y, x: entropy(np.eye(6)[y], x),
    ),
    (
        means.BinaryCrossentropy,
        "binary_crossentropy",
        binary,
        lambda y, x: -(y * np.log(x) + (1 - y) * np.log(1 - x)).mean(-1),
    ),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("cls", "name", "sample", "oracle"), MEANS, ids=[name for _, name, _, _ in MEANS])
def test_means(cls: Any, name: str, sample: Sample, oracle: Callable[..., np.ndarray], dtype: str) -> None:
    rng = np.random.default_rng(SEED)
    y, x = sample(rng)
    weights = rng.uniform(0.5, 2, N)
    made = cls(dtype=dtype)
    assert made.name == name
    assert made.result().numpy() == 0
    each = oracle(y, x).astype(np.float64)
    wide = np.broadcast_to(weights if each.ndim == 1 else weights[:, None], each.shape)
    # Accuracies are in float32 inside, and the losses of probabilities add 1e-7, which the oracles do not.
    tolerance = 2e-6
    for given, factors in ((None, np.ones_like(wide)), (weights, wide), (weights[:, None], wide)):
        made.reset_states()
        for part in (slice(0, 9), slice(9, 9), slice(9, N)):
            got = made(y[part], x[part], sample_weight=None if given is None else given[part])
        assert got.dtype == ag.as_dtype(dtype)
        np.testing.assert_allclose(
            made.result().numpy(), np.average(each, weights=factors), rtol=tolerance, err_msg=f"seed {SEED}"
        )
    assert [v.name for v in made.variables] == [f"{name}/total:0", f"{name}/count:0"]
    assert list(made.checkpoint_dependencies()) == ["total", "count"]
    again = metrics.deserialize(metrics.serialize(cls(name="mine", dtype="float64")))
    assert (type(again), again.name, again.dtype) == (cls, "mine", ag.float64)


def test_options() -> None:
    y, x = np.array([[1.0], [0.0], [1.0]]), np.array([[0.9], [0.75], [0.75]])
    np.testing.assert_allclose(means.BinaryAccuracy(threshold=0.8)(y, x).numpy(), 2 / 3, rtol=1e-6)
    assert float(means.TopKCategoricalAccuracy(k=2)(np.eye(3), np.tile([[1.0, 2.0, 3.0]], (3, 1)))) == pytest.approx(
        2 / 3
    )
    assert float(means.SparseTopKCategoricalAccuracy(1)([[2], [0]], [[1.0, 2.0, 3.0]] * 2)) == 0.5
    z = np.log(x / (1 - x))
    for cls, of_loss in (
        (means.BinaryCrossentropy, loss.BinaryCrossentropy),
        (means.CategoricalCrossentropy, loss.CategoricalCrossentropy),
    ):
        pair = np.concatenate([z, 1 - z], 1), np.concatenate([y, 1 - y], 1)
        expected = of_loss(from_logits=True, label_smoothing=0.1)(pair[1], pair[0])
        got = cls(from_logits=True, label_smoothing=0.1, dtype="float64")(pair[1], pair[0])
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-12)
    assert metrics.serialize(means.BinaryAccuracy(threshold=0.8)) == {
        "class_name": "BinaryAccuracy",
        "config": {"name": "binary_accuracy", "dtype": "float32", "threshold": 0.8},
    }
    sparse = means.SparseCategoricalCrossentropy(from_logits=True)([1], [[-1000.0, 1000.0]])
    assert float(sparse) == 0.0


def test_root_mean_squared_error() -> None:
    made = means.RootMeanSquaredError(dtype="float64")
    made.update_state([[0.0, 0.0]], [[1.0, 7.0]])
    assert float(made.result()) == 5.0
    assert metrics.get(metrics.serialize(made)).name == "root_mean_squared_error"


def test_flat_labels_meet_a_column() -> None:
    y, x = np.array([1, 0, 1, 1]), np.array([[0.9], [0.2], [0.3], [0.8]])
    for made, expected in (
        (means.BinaryAccuracy(), 3 / 4),
        (means.MeanAbsoluteError(), 0.3),
        (counts.Precision(), 1.0),
        (counts.Recall(), 2 / 3),
    ):
        np.testing.assert_allclose(made(y, x).numpy(), expected, rtol=1e-6)


def test_mean_and_sum() -> None:
    values, weights = np.arange(6.0).reshape(2, 3), np.array([1.0, 3.0])
    for given, wide in (
        (None, np.ones((2, 3))),
        (2.0, np.full((2, 3), 2.0)),
        (weights, np.broadcast_to(weights[:, None], (2, 3))),
        (values + 1, values + 1),
    ):
        assert float(metric.Mean()(values, given)) == pytest.approx(np.average(values, weights=wide))
        assert float(metric.Sum()(values, sample_weight=given)) == pytest.approx((values * wide).sum())
    made = metric.Mean("loss")
    assert (made.name, made.dtype) == ("loss", ag.float32)
    made(3.0)
    made.reset_states()
    assert float(made.result()) == 0.0
    assert made.weights == made.variables == [made.total, made.count]
    with says(
        ValueError,
        "Metric 'loss': weights of shape (3, 1) can not be broadcast to values of shape (2, 3); they must be a "
        "scalar, or have the same rank and in each axis the same size or 1.",
    ):
        made(values, np.ones(3))


@pytest.mark.parametrize("cls", [counts.Precision, counts.Recall, counts.AUC])
def test_counts(cls: Any) -> None:
    rng = np.random.default_rng(SEED)
    y, x = binary(rng)
    weights = rng.uniform(0.5, 2, N)
    made = cls(dtype="float64")
    assert float(made.result()) == 0.0
    for part in (slice(0, 9), slice(9, N)):
        made.update_state(y[part], x[part], sample_weight=weights[part])
    positive, wide = y[:, 0] == 1, weights
    yes = x[:, 0] > 0.5
    if cls is counts.AUC:
        # The chance that a positive example is above a negative one, on the grid of thresholds.
        grid = np.ceil(x[:, 0] * 199)
        above = (grid[positive][:, None] > grid[~positive]) + 0.5 * (grid[positive][:, None] == grid[~positive])
        pairs = wide[positive][:, None] * wide[~positive]
        expected = (above * pairs).sum() / pairs.sum()
    else:
        expected = wide[yes & positive].sum() / wide[yes if cls is counts.Precision else positive].sum()
    np.testing.assert_allclose(made.result().numpy(), expected, rtol=1e-10, err_msg=f"seed {SEED}")
    assert made.name == cls.__name__.lower()
    assert made.variables == made.weights == made.counter.variables
    assert list(made.checkpoint_dependencies()) == ["counter"]
    made.reset_states()
    assert float(made.result()) == 0.0
    again = metrics.deserialize(metrics.serialize(cls(name="mine")))
    assert (type(again), again.name, again.dtype) == (cls, "mine", ag.float32)


def test_options_of_counts() -> None:
    assert float(counts.Recall(thresholds=0.8)([1, 1], [0.9, 0.7])) == 0.5
    for made in (counts.Precision(0.8), counts.AUC(5, "PR", "minoring")):
        again = metrics.deserialize(metrics.serialize(made))
        assert again.get_config() == made.get_config()
    assert counts.AUC(curve="PR").counter.summation_method == "careful_interpolation"  # type: ignore[attr-defined]
    with says(TypeError, "Precision: thresholds must be one number; got [0.1, 0.2]. Make a metric for each."):
        counts.Precision([0.1, 0.2])  # type: ignore[arg-type]
    with says(ValueError, "Metric 'auc': curve must be one of ROC, PR; got 'roc'."):
        counts.AUC(curve="roc")


def test_own_metric() -> None:
    class Largest(metric.Metric):
        def __init__(self, name: str | None = None, dtype: Any = None) -> None:
            super().__init__(name, dtype)
            self.best = self.add_weight("best", initializer="ones", aggregation="sum")

        def update_state(self, values: Any) -> None:
            self.best.assign(ag.maximum(self.best, ag.reduce_max(values)))

        def result(self) -> Any:
            return self.best.value()

    made = Largest()
    assert made.name == "largest"
    assert float(made([2.0, 5.0])) == 5.0
    made.reset_states()
    assert float(made.result()) == 1.0
    assert metrics.get(made) is made
    assert type(metrics.deserialize(metrics.serialize(made), {"Largest": Largest})) is Largest
    with says(NotImplementedError, "Metric.update_state is not implemented; it takes a batch into account."):
        metric.Metric().update_state()
    with says(NotImplementedError, "Metric.result is not implemented; it computes the metric from the variables."):
        metric.Metric().result()


def test_metrics_and_losses_of_one_name_are_told_apart() -> None:
    data = {"class_name": "MeanSquaredError", "config": {"name": "m"}}
    assert type(metrics.get(data)) is means.MeanSquaredError
    assert type(losses.get(data)) is loss.MeanSquaredError
    with says(
        ValueError,
        "Unknown metric 'FunctionMean'; the names are AUC, Accuracy, BinaryAccuracy, BinaryCrossentropy, BinaryIoU, "
        "CategoricalAccuracy, CategoricalCrossentropy, CategoricalHinge, ConcordanceCorrelation, CosineProximity, "
        "CosineSimilarity, F1Score, FBetaScore, FalseNegatives, FalsePositives, Hinge, IoU, KLDivergence, LogCoshError,"
        " Mean, MeanAbsoluteError, MeanAbsolutePercentageError, MeanIoU, MeanMetricWrapper, MeanSquaredError, "
        "MeanSquaredLogarithmicError, OneHotIoU, OneHotMeanIoU, PearsonCorrelation, Poisson, Precision, "
        "PrecisionAtRecall, R2Score, Recall, RecallAtPrecision, RootMeanSquaredError, SensitivityAtSpecificity, "
        "SparseCategoricalAccuracy, SparseCategoricalCrossentropy, SparseTopKCategoricalAccuracy, "
        "SpecificityAtSensitivity, SquaredHinge, Sum, TopKCategoricalAccuracy, TrueNegatives, TruePositives.",
    ):
        metrics.get({"class_name": "FunctionMean", "config": {}})


def test_values_with_more_axes_than_their_weights() -> None:
    """One axis more is spread over; of more axes the mean counts once for each weight, as in Keras."""
    mean = metric.Mean()
    assert mean.stateful
    mean([[1.0, 3.0]], sample_weight=[2.0])
    assert (float(mean.total), float(mean.count)) == (8.0, 4.0)
    mean([[[1.0, 3.0], [5.0, 7.0]]], sample_weight=[0.5])
    assert (float(mean.total), float(mean.count)) == (10.0, 4.5)
