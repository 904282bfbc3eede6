"""Metrics of counts for each class, against NumPy, over several batches and with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_checkpoint import Checkpoint
from agog_core.errors import InvalidArgumentError
from agog_layers.metrics import lookup
from agog_layers.metrics.keras import scores
from agog_testing import says

rng = np.random.default_rng(23)
CLASSES = rng.integers(0, 3, 40)
LABELS = np.eye(3)[CLASSES]
P = rng.dirichlet(np.ones(3), 40) + LABELS / 2
P /= P.sum(1, keepdims=True)
WEIGHTS = rng.uniform(0.5, 2.0, 40)


def in_batches(metric: Any, y: Any, x: Any, weights: Any = None) -> Any:
    for rows in (slice(0, 15), slice(15, 40)):
        metric.update_state(y[rows], x[rows], sample_weight=None if weights is None else weights[rows])
    return metric.result().numpy()


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize("threshold", [None, 0.3])
@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted"])
@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_f_scores(beta: float, average: Any, threshold: Any, weights: Any) -> None:
    yes = np.eye(3)[P.argmax(1)] if threshold is None else (threshold < P).astype(float)
    w = (np.ones(40) if weights is None else weights)[:, None]
    hits, alarms, misses = ((w * cases).sum(0) for cases in (LABELS * yes, (1 - LABELS) * yes, LABELS * (1 - yes)))
    right = hits + misses
    if average == "micro":
        hits, alarms, misses = hits.sum(), alarms.sum(), misses.sum()
    precision, recall = hits / (hits + alarms), hits / (hits + misses)
    expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    if average == "macro":
        expected = expected.mean()
    if average == "weighted":
        expected = (expected * right).sum() / right.sum()
    metric = scores.FBetaScore(average, beta, threshold)
    np.testing.assert_allclose(in_batches(metric, LABELS, P, weights), expected, rtol=1e-5)
    if beta == 1.0:
        again = scores.F1Score.from_config(scores.F1Score(average, threshold).get_config())
        np.testing.assert_allclose(in_batches(again, LABELS, P, weights), expected, rtol=1e-5)
    metric.reset_state()
    assert float(np.sum(metric.result())) == 0.0


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize("threshold", [None, 0.3])
def test_cases(threshold: Any, weights: Any) -> None:
    y, yes = LABELS[:, 0] > 0, P[:, 0] > (threshold or 0.5)
    w = np.ones(40) if weights is None else weights
    for kind, cases in (
        (scores.TruePositives, y & yes),
        (scores.TrueNegatives, ~y & ~yes),
        (scores.FalsePositives, ~y & yes),
        (scores.FalseNegatives, y & ~yes),
    ):
        metric = kind.from_config(kind(threshold).get_config())
        np.testing.assert_allclose(in_batches(metric, LABELS[:, 0], P[:, 0], weights), (w * cases).sum(), rtol=1e-5)


def shares(weights: Any) -> Any:
    found = P.argmax(1)
    w = np.ones(40) if weights is None else weights
    both = [(w * ((c == CLASSES) & (found == c))).sum() for c in range(3)]
    either = [(w * (c == CLASSES)).sum() + (w * (found == c)).sum() - b for c, b in enumerate(both)]
    return np.array(both) / np.array(either)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
def test_intersections_over_unions(weights: Any) -> None:
    mean = scores.MeanIoU(3)
    np.testing.assert_allclose(in_batches(mean, CLASSES, P.argmax(1), weights), shares(weights).mean(), rtol=1e-5)
    some = scores.IoU.from_config(scores.IoU(3, [0, 2], sparse_y_true=False, sparse_y_pred=False).get_config())
    np.testing.assert_allclose(in_batches(some, LABELS, P, weights), shares(weights)[[0, 2]].mean(), rtol=1e-5)


def test_classes_that_there_were_none_of_do_not_count() -> None:
    assert float(scores.MeanIoU(5)([0, 0, 1, 1], [0, 1, 0, 1])) == pytest.approx(1 / 3)
    assert float(scores.MeanIoU(2).result()) == 0.0


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize("aggregation", ["uniform_average", "variance_weighted_average", None])
def test_explained_variance(aggregation: Any, weights: Any) -> None:
    y = rng.normal(size=(40, 2)) * [1.0, 5.0]
    x = y + rng.normal(size=(40, 2)) / 2
    w = (np.ones(40) if weights is None else weights)[:, None]
    mean = (w * y).sum(0) / w.sum()
    error, spread = (w * (y - x) ** 2).sum(0), (w * (y - mean) ** 2).sum(0)
    expected = {
        "uniform_average": (1 - error / spread).mean(),
        "variance_weighted_average": 1 - error.sum() / spread.sum(),
        None: 1 - error / spread,
    }[aggregation]
    metric = scores.R2Score(aggregation, dtype="float64")
    np.testing.assert_allclose(in_batches(metric, y, x, weights), expected, rtol=1e-9)
    adjusted = scores.R2Score.from_config(scores.R2Score(aggregation, 3, dtype="float64").get_config())
    for _ in range(2):
        np.testing.assert_allclose(in_batches(adjusted, y, x, weights), 1 - (1 - expected) * 79 / 76, rtol=1e-9)
        adjusted.reset_states()


def test_explained_variance_of_few_or_equal_labels() -> None:
    assert float(scores.R2Score().result()) == float(scores.R2Score()([1.0, 1.0], [1.0, 1.0])) == 0.0
    with pytest.warns(UserWarning, match="too few") as caught:
        assert float(scores.R2Score(num_regressors=2)([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])) == 0.5
    assert str(caught[0].message) == (
        "Metric 'r2_score': 3 labels are too few for the adjusted score of 2 regressors; the result is the plain one."
    )
    with says(
        ValueError,
        "Metric 'r2_score': class_aggregation must be one of (None, 'uniform_average', 'variance_weighted_average'); "
        "got 'mean'.",
    ):
        scores.R2Score("mean")
    with says(ValueError, "Metric 'r2_score': num_regressors must be 0 or more; got -1."):
        scores.R2Score(num_regressors=-1)


def test_names_and_errors() -> None:
    assert isinstance(lookup.get("F1Score"), scores.F1Score)
    assert (lookup.get("f1_score").name, lookup.get("MeanSquaredError").name) == ("f1_score", "mean_squared_error")
    with says(
        ValueError, "Metric 'f1_score': average must be one of (None, 'micro', 'macro', 'weighted'); got 'mean'."
    ):
        scores.F1Score(average="mean")
    with says(ValueError, "Metric 'f_beta_score': beta must be positive; got 0."):
        scores.FBetaScore(beta=0)
    with says(
        InvalidArgumentError,
        "Metric 'f1_score': labels and predictions must be of one shape, (batch, classes); got (2,) and (2, 2). Class "
        "numbers become such labels by tf.one_hot.",
    ):
        scores.F1Score()([0, 1], [[0.5, 0.5], [0.1, 0.9]])


def test_counts_that_are_made_late_are_restored(tmp_path: Any) -> None:
    one, other = scores.F1Score(), scores.F1Score()
    expected = in_batches(one, LABELS, P)
    path = Checkpoint(metric=one).write(str(tmp_path / "metric"))
    status = Checkpoint(metric=other).restore(path)
    other.update_state(np.zeros((0, 3)), np.zeros((0, 3)))
    status.assert_consumed()
    np.testing.assert_allclose(other.result().numpy(), expected, rtol=1e-6)
