"""Labels that do not go with the output: what a loss would broadcast is an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense
from agog_layers.losses.loss import CategoricalCrossentropy, MeanSquaredError
from agog_layers.metrics.keras import CategoricalAccuracy, MeanAbsoluteError
from agog_testing import says
from agog_training import Sequential

X = np.ones((3, 4), np.float32)
CLASSES = np.array([0, 2, 1])


def compiled(units: int, loss: Any, metrics: Any = None) -> Any:
    model = Sequential([Dense(units, input_shape=(4,), activation="softmax")], name="m")
    model.compile("sgd", loss, metrics)
    return model


def sparse(function: str, fits: str, labels: str = "(3,)") -> str:
    return (
        f"Model 'm': {function} compares labels and output number by number; got labels of shape {labels} for an "
        f"output of shape (3, 3). Class numbers go with {fits}; other labels need as many numbers as the last layer "
        "has units."
    )


def other(function: str, labels: str, output: str) -> str:
    return (
        f"Model 'm': {function} compares labels and output number by number; got labels of shape {labels} for an "
        f"output of shape {output}. Make both of one shape."
    )


FITS = "sparse_categorical_crossentropy"


@pytest.mark.parametrize(
    ("model", "labels", "text"),
    [
        (lambda: compiled(3, "mse"), CLASSES, sparse("mean_squared_error", FITS)),
        (lambda: compiled(3, "mse"), CLASSES[:, None], sparse("mean_squared_error", FITS, "(3, 1)")),
        (lambda: compiled(3, "categorical_crossentropy"), CLASSES, sparse("categorical_crossentropy", FITS)),
        (lambda: compiled(3, "binary_crossentropy"), CLASSES, sparse("binary_crossentropy", FITS)),
        (lambda: compiled(3, "kld"), CLASSES, sparse("kullback_leibler_divergence", FITS)),
        (lambda: compiled(3, MeanSquaredError()), CLASSES, sparse("mean_squared_error", FITS)),
        (lambda: compiled(3, CategoricalCrossentropy()), CLASSES, sparse("categorical_crossentropy", FITS)),
        (lambda: compiled(1, "mse"), np.eye(3), other("mean_squared_error", "(3, 3)", "(3, 1)")),
        (lambda: compiled(3, "mae"), np.ones((3, 2)), other("mean_absolute_error", "(3, 2)", "(3, 3)")),
        (lambda: compiled(3, "mse"), np.ones((3, 3, 3)), other("mean_squared_error", "(3, 3, 3)", "(3, 3)")),
        (
            lambda: compiled(3, FITS, ["categorical_accuracy"]),
            CLASSES,
            sparse("categorical_accuracy", "sparse_categorical_accuracy"),
        ),
        (
            lambda: compiled(3, FITS, [CategoricalAccuracy()]),
            CLASSES,
            sparse("categorical_accuracy", "sparse_categorical_accuracy"),
        ),
        (lambda: compiled(3, FITS, [MeanAbsoluteError()]), CLASSES, sparse("mean_absolute_error", FITS)),
        (lambda: compiled(3, FITS, ["mae"]), CLASSES, sparse("mean_absolute_error", FITS)),
        (
            lambda: compiled(3, FITS),
            np.eye(3),
            "Model 'm': sparse_categorical_crossentropy takes class numbers; got labels of shape (3, 3) for an output "
            "of shape (3, 3). One-hot labels go with categorical_crossentropy.",
        ),
    ],
)
def test_labels_that_do_not_fit(model: Any, labels: Any, text: str) -> None:
    made = model()
    before = made.get_weights()
    uses = (
        lambda: made.fit(X, labels, verbose=0),
        lambda: made.evaluate(X, labels, verbose=0),
        lambda: made.train_on_batch(X, labels),
        lambda: made.test_on_batch(X, labels),
    )
    for use in uses:
        with says(ValueError, text):
            use()
    for one, two in zip(before, made.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (lambda: compiled(3, "mse", ["mae", "acc"]), np.eye(3)),
        (lambda: compiled(3, FITS, ["acc", "ce", FITS]), CLASSES),
        (lambda: compiled(3, FITS), CLASSES[:, None]),
        (lambda: compiled(1, "mse", ["mae"]), np.ones(3)),
        (lambda: compiled(1, "mse"), np.ones((3, 1))),
        (lambda: compiled(1, "binary_crossentropy", ["acc"]), np.ones(3)),
        (lambda: compiled(3, lambda y, p: ag.square(p - ag.expand_dims(ag.cast(y, p.dtype), -1))), CLASSES),
    ],
)
def test_labels_that_fit(model: Any, labels: Any) -> None:
    assert np.isfinite(model().fit(X, labels, verbose=0).history["loss"]).all()
