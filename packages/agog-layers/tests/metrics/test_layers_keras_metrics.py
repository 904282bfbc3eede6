"""Metrics of ``tf.keras``, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers.losses import classification, loss, regression
from agog_layers.losses import lookup as losses
from agog_layers.metrics import correctness as accuracy
from agog_layers.metrics import lookup as metrics
from agog_testing import says

SEED = 32


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("label_type", [np.int32, np.int64, np.bool_, np.float32])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_binary_accuracy(threshold: float, label_type: Any, dtype: str) -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.integers(0, 2, (5, 3)).astype(label_type), rng.uniform(size=(5, 3)).astype(dtype)
    expected = (y.astype(int) == (x > threshold)).mean(-1)
    got = accuracy.binary_accuracy(y, x, threshold)
    assert got.dtype == ag.float32
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("shape", [(6, 4), (2, 3, 4), (4,), (0, 4)])
@pytest.mark.parametrize("label_type", [np.int32, np.int64, np.float32])
def test_categorical_accuracies(label_type: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.integers(0, 4, shape[:-1]), rng.normal(size=shape)
    expected = (x.argmax(-1) == y).astype(np.float32)
    one_hot = np.eye(4)[y].astype(label_type)
    np.testing.assert_array_equal(accuracy.categorical_accuracy(one_hot, x).numpy(), expected, f"seed {SEED}")
    given = y.astype(label_type)
    np.testing.assert_array_equal(accuracy.sparse_categorical_accuracy(given, x).numpy(), expected)
    if len(shape) > 1:
        np.testing.assert_array_equal(accuracy.sparse_categorical_accuracy(given[..., None], x).numpy(), expected)


@pytest.mark.parametrize("k", [1, 2, 5, 6])
def test_top_k(k: int) -> None:
    rng = np.random.default_rng(SEED)
    y, x = rng.integers(0, 6, 20), rng.normal(size=(20, 6))
    expected = np.mean([label in np.argsort(row)[-k:] for label, row in zip(y, x, strict=True)])
    for labels in (y, y[:, None], y.astype(np.float32)):
        got = accuracy.sparse_top_k_categorical_accuracy(labels, x, k)
        assert got.shape == ()
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(
        accuracy.top_k_categorical_accuracy(np.eye(6)[y], x, k).numpy(), expected, rtol=1e-6, err_msg=f"seed {SEED}"
    )


def test_accuracy_goes_by_the_shapes() -> None:
    assert accuracy.binary_accuracy([1, 0], [[0.9], [0.7]]).numpy().tolist() == [1.0, 0.0]
    assert accuracy.accuracy([1, 0], [0.9, 0.7]).numpy() == 0.5
    assert accuracy.accuracy([1, 0], [[0.9], [0.7]]).numpy().tolist() == [1.0, 0.0]
    assert accuracy.accuracy([[1], [0]], [[0.9], [0.7]]).numpy().tolist() == [1.0, 0.0]
    x = [[0.2, 0.8], [0.7, 0.3]]
    for y in ([1, 1], [[1], [1]], [[0, 1], [0, 1]]):
        assert accuracy.accuracy(y, x).numpy().tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("of_loss", "size", "kind"),
    [
        ("mse", 1, "binary"),
        ("binary_crossentropy", 3, "binary"),
        (classification.binary_crossentropy, 3, "binary"),
        (loss.BinaryCrossentropy(), 3, "binary"),
        ("sparse_categorical_crossentropy", 3, "sparse_categorical"),
        (loss.SparseCategoricalCrossentropy(), 3, "sparse_categorical"),
        ("sparse_categorical_crossentropy", 1, "binary"),
        ("categorical_crossentropy", 3, "categorical"),
        ("mse", 3, "categorical"),
        (lambda y, x: x, 3, "categorical"),
        (None, 3, "categorical"),
    ],
)
def test_names_that_go_by_the_loss(of_loss: Any, size: int, kind: str) -> None:
    for name in ("accuracy", "acc"):
        assert metrics.get_for(name, of_loss, (None, size)) is getattr(accuracy, f"{kind}_accuracy")
    for name in ("crossentropy", "ce"):
        assert metrics.get_for(name, of_loss, (None, size)) is losses.by_name[f"{kind}_crossentropy"]
    assert metrics.get_for("acc", of_loss, (5,)) is accuracy.binary_accuracy
    assert metrics.get_for("mae", of_loss, (None, size)) is losses.mae


def test_names() -> None:
    for name in ("binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy"):
        assert metrics.get(name) is getattr(accuracy, name)
    for name in ("top_k_categorical_accuracy", "sparse_top_k_categorical_accuracy"):
        assert metrics.deserialize(metrics.serialize(getattr(accuracy, name))) is getattr(accuracy, name)
    assert metrics.get("acc") is metrics.get("accuracy") is accuracy.accuracy
    assert metrics.get("mse") is regression.mean_squared_error
    assert metrics.get(None) is None
    function: Callable[..., Any] = lambda y, x: x  # noqa: E731
    assert metrics.get(function) is function
    with says(
        ValueError,
        "Unknown metric 'accurate'; the names are KLD, MAE, MAPE, MSE, MSLE, acc, accuracy, binary_accuracy, "
        "binary_crossentropy, binary_focal_crossentropy, categorical_accuracy, categorical_crossentropy, "
        "categorical_focal_crossentropy, categorical_generalized_cross_entropy, categorical_hinge, "
        "concordance_correlation, cosine, cosine_proximity, ctc, dice, hinge, huber, huber_loss, kld, "
        "kullback_leibler_divergence, logcosh, mae, mape, mean_absolute_error, mean_absolute_percentage_error, "
        "mean_squared_error, mean_squared_logarithmic_error, mse, msle, pearson_correlation, poisson, "
        "sparse_categorical_accuracy, sparse_categorical_crossentropy, sparse_top_k_categorical_accuracy, "
        "squared_hinge, top_k_categorical_accuracy, tversky.",
    ):
        metrics.get("accurate")
