"""Metrics of directions, correlations, overlaps and single points of curves, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_layers.metrics import lookup
from agog_layers.metrics.keras.operating_points import (
    PrecisionAtRecall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
)
from agog_layers.metrics.keras.similarity import (
    BinaryIoU,
    ConcordanceCorrelation,
    CosineSimilarity,
    MeanMetricWrapper,
    OneHotIoU,
    OneHotMeanIoU,
    PearsonCorrelation,
)
from agog_testing import says

rng = np.random.default_rng(4)
Y, P = rng.normal(size=(4, 5)), rng.normal(size=(4, 5))
LABELS, SCORES = (rng.random(60) > 0.5).astype(np.float64), rng.random(60)


def in_two(metric: Any, y: Any, x: Any) -> Any:
    """The metric of two halves."""
    middle = len(y) // 2
    metric.update_state(y[:middle], x[:middle])
    metric.update_state(y[middle:], x[middle:])
    return metric.result().numpy()


def test_directions() -> None:
    wanted = [y @ p / np.linalg.norm(y) / np.linalg.norm(p) for y, p in zip(Y, P, strict=True)]
    np.testing.assert_allclose(in_two(CosineSimilarity(dtype="float64"), Y, P), np.mean(wanted))


def test_correlations() -> None:
    wanted = [np.corrcoef(y, p)[0, 1] for y, p in zip(Y, P, strict=True)]
    np.testing.assert_allclose(in_two(PearsonCorrelation(dtype="float64"), Y, P), np.mean(wanted))
    wanted = [
        2 * np.cov(y, p, bias=True)[0, 1] / (y.var() + p.var() + (y.mean() - p.mean()) ** 2)
        for y, p in zip(Y, P, strict=True)
    ]
    np.testing.assert_allclose(in_two(ConcordanceCorrelation(dtype="float64"), Y, P), np.mean(wanted))


def test_means_of_functions() -> None:
    metric = MeanMetricWrapper(lambda y_true, y_pred, scale: abs(y_true - y_pred) * scale, "mine", "float64", scale=2.0)
    np.testing.assert_allclose(in_two(metric, Y, P), 2 * np.abs(Y - P).mean())
    assert metric.name == "mine"


def test_overlaps() -> None:
    def shares(y: Any, x: Any, classes: range | list[int]) -> float:
        return float(np.mean([((y == n) & (x == n)).sum() / ((y == n) | (x == n)).sum() for n in classes]))

    guess = (SCORES >= 0.4).astype(int)
    np.testing.assert_allclose(in_two(BinaryIoU([0, 1], 0.4), LABELS, SCORES), shares(LABELS, guess, [0, 1]), rtol=1e-6)
    np.testing.assert_allclose(in_two(BinaryIoU([1], 0.4), LABELS, SCORES), shares(LABELS, guess, [1]), rtol=1e-6)
    y, x = rng.integers(0, 3, 40), rng.random((40, 3))
    one_hot, best = np.eye(3)[y], x.argmax(-1)
    np.testing.assert_allclose(in_two(OneHotIoU(3, [0, 2]), one_hot, x), shares(y, best, [0, 2]), rtol=1e-6)
    np.testing.assert_allclose(in_two(OneHotMeanIoU(3), one_hot, x), shares(y, best, range(3)), rtol=1e-6)


@pytest.mark.parametrize(
    ("cls", "wanted", "other"),
    [
        (PrecisionAtRecall, "precision", "recall"),
        (RecallAtPrecision, "recall", "precision"),
        (SensitivityAtSpecificity, "recall", "specificity"),
        (SpecificityAtSensitivity, "specificity", "recall"),
    ],
)
def test_points_of_curves(cls: Any, wanted: str, other: str) -> None:
    best = 0.0
    for threshold in [-1e-7, *(n / 49 for n in range(1, 49)), 1 + 1e-7]:
        guess = threshold < SCORES
        hits, misses = (guess & (LABELS == 1)).sum(), (~guess & (LABELS == 1)).sum()
        false, right = (guess & (LABELS == 0)).sum(), (~guess & (LABELS == 0)).sum()
        shares = {
            "precision": hits / max(1, hits + false),
            "recall": hits / (hits + misses),
            "specificity": right / (right + false),
        }
        if shares[other] >= 0.55:
            best = max(best, shares[wanted])
    assert best > 0
    np.testing.assert_allclose(in_two(cls(0.55, num_thresholds=50), LABELS, SCORES), best, rtol=1e-6)


def test_weights_of_points() -> None:
    metric = PrecisionAtRecall(0.5, dtype="float64")
    metric.update_state([0, 0, 1, 1], [0.9, 0.6, 0.7, 0.8], sample_weight=[1.0, 1.0, 3.0, 1.0])
    np.testing.assert_allclose(metric.result().numpy(), 4 / 5)


@pytest.mark.parametrize("arguments", [(1.5, 200), (0.5, 0)])
def test_points_that_are_none(arguments: tuple[float, int]) -> None:
    with says(
        ValueError,
        "RecallAtPrecision: precision must be from 0 to 1; got 1.5."
        if arguments[0] > 1
        else "RecallAtPrecision: num_thresholds must be at least 1; got 0.",
    ):
        RecallAtPrecision(*arguments)


def test_metrics_are_made_again() -> None:
    for metric in (PrecisionAtRecall(0.3, 20), BinaryIoU([1], 0.2), OneHotIoU(3, [0]), PearsonCorrelation(axis=0)):
        again = lookup.deserialize(lookup.serialize(metric))
        assert (type(again), again.get_config()) == (type(metric), metric.get_config())
