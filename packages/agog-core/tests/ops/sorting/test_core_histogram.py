"""Counts, bins and confusion matrices, against loops."""

from __future__ import annotations

import numpy as np

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says

SEED = 20181105


def test_bincount_of_any_shape_and_dtype() -> None:
    assert ag.bincount(np.array([[1, 3], [1, 0]])).numpy().tolist() == [1, 2, 0, 1]
    assert ag.bincount([], minlength=2).numpy().tolist() == [0, 0]
    assert ag.bincount([1], dtype=ag.float64).dtype is ag.float64
    assert ag.bincount([1, 5, 1], [1.5, 9.0, 2.0], minlength=ag.constant(2), maxlength=3).numpy().tolist() == [
        0,
        3.5,
        0,
    ]
    large = 2**62 + 1
    assert ag.bincount([0, 1], np.array([large, 1])).numpy().tolist() == [large, 1]


def test_histogram() -> None:
    values = np.random.default_rng(SEED).uniform(-1, 6, 500)
    bins = [min(max(int(np.floor(v / 5 * 7)), 0), 6) for v in values]
    assert ag.histogram_fixed_width_bins(values, [0.0, 5.0], nbins=7).numpy().tolist() == bins
    counts = ag.histogram_fixed_width(values, [0.0, 5.0], nbins=7, dtype=ag.int64)
    assert counts.dtype is ag.int64
    assert counts.numpy().tolist() == [bins.count(number) for number in range(7)]
    assert ag.histogram_fixed_width([], [0.0, 1.0], nbins=2).numpy().tolist() == [0, 0]


def test_confusion_matrix() -> None:
    rng = np.random.default_rng(SEED)
    labels, predictions, weights = rng.integers(0, 4, 30), rng.integers(0, 4, 30), rng.uniform(0, 1, 30)
    expected, weighed = np.zeros((5, 5), int), np.zeros((5, 5))
    for label, prediction, weight in zip(labels, predictions, weights, strict=True):
        expected[label, prediction] += 1
        weighed[label, prediction] += weight
    assert ag.confusion_matrix(labels, predictions, num_classes=5).numpy().tolist() == expected.tolist()
    assert ag.confusion_matrix(labels[:, None], predictions, 5).numpy().tolist() == expected.tolist()
    got = ag.confusion_matrix(labels, predictions[:, None], 5, dtype=ag.float64, weights=weights)
    np.testing.assert_allclose(got.numpy(), weighed, rtol=1e-13)
    assert ag.confusion_matrix([0, 2], [0, 1]).numpy().tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert ag.confusion_matrix(np.zeros(0, int), np.zeros(0, int)).numpy().shape == (0, 0)


def test_errors_of_confusion_matrix() -> None:
    for labels, predictions, text in [
        ([0, -1], [0, 1], "labels must lie in [0, 2); they lie in [-1, 0]."),
        ([0, 1], [0, 2], "predictions must lie in [0, 2); they lie in [0, 2]."),
        ([0, 1], [0], "labels and predictions must be of one shape; got (2,) and (1,)."),
    ]:
        with says(InvalidArgumentError, f"confusion_matrix: {text}"):
            ag.confusion_matrix(labels, predictions, num_classes=2)
