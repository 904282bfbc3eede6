"""The digits of scikit-learn."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from agog_core import errors
from agog_data.datasets import digits
from agog_testing import says

EXPECTED_TEST_LABELS = [2, 4, 0, 3, 8, 7, 5, 2, 1, 9, 6, 7]


def test_digits() -> None:
    sklearn = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    (train_images, train_labels), (test_images, test_labels) = digits()
    assert train_images.shape == (1437, 8, 8)
    assert test_images.shape == (360, 8, 8)
    assert {x.dtype.name for x in (train_images, train_labels, test_images, test_labels)} == {"uint8"}
    # Each of the carried images is in one of the two parts, with its label.
    carried = sklearn.load_digits()
    found = {(image.tobytes(), int(label)) for image, label in zip(train_images, train_labels, strict=True)}
    found |= {(image.tobytes(), int(label)) for image, label in zip(test_images, test_labels, strict=True)}
    scaled = np.round(carried.images * 255 / 16).astype(np.uint8)
    assert found == {(image.tobytes(), int(label)) for image, label in zip(scaled, carried.target, strict=True)}
    assert len(train_images) + len(test_images) == len(carried.images)
    # Both parts have all digits in about equal numbers.
    assert np.bincount(test_labels, minlength=10).min() >= 34
    assert np.bincount(train_labels, minlength=10).min() >= 130


def test_the_split_is_always_the_same() -> None:
    pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    (first, _), (_, labels) = digits()
    (again, _), (_, same) = digits()
    assert np.array_equal(first, again)
    assert np.array_equal(labels, same)
    assert labels[:12].tolist() == EXPECTED_TEST_LABELS


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with says(
        errors.NotFoundError,
        "digits: scikit-learn, which carries these images, is not installed. Install it: pip install scikit-learn",
    ):
        digits()
