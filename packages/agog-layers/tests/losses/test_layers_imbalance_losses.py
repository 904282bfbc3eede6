"""Losses for rare classes, noisy labels and sequences, against NumPy in float64 and all alignments."""

from __future__ import annotations

from itertools import groupby, product
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers.losses import imbalance, lookup
from agog_layers.losses.imbalance_losses import (
    CTC,
    BinaryFocalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy,
    Dice,
    Tversky,
)
from agog_layers.losses.sequences import ctc
from agog_testing import says

rng = np.random.default_rng(3)
Y = (rng.random((4, 5)) > 0.5).astype(np.float64)
P = rng.uniform(0.05, 0.95, (4, 5))
CLASSES = np.array([0, 2, 4, 1])
ONE_HOT = np.eye(5)[CLASSES]


@pytest.mark.parametrize("balancing", [False, True])
@pytest.mark.parametrize("logits", [False, True])
def test_binary_focal_crossentropy(balancing: bool, logits: bool) -> None:
    y = Y * 0.9 + 0.05
    p = 1 / (1 + np.exp(-P)) if logits else P
    entropy = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    wanted = (1 - (y * p + (1 - y) * (1 - p))) ** 1.5 * entropy
    if balancing:
        wanted = wanted * (y * 0.3 + (1 - y) * 0.7)
    found = imbalance.binary_focal_crossentropy(Y, P, balancing, 0.3, 1.5, logits, 0.1)
    np.testing.assert_allclose(found.numpy(), wanted.mean(-1))
    loss = BinaryFocalCrossentropy(balancing, 0.3, 1.5, logits, 0.1)
    np.testing.assert_allclose(loss(Y, P).numpy(), wanted.mean())


@pytest.mark.parametrize("alpha", [0.25, [0.1, 0.2, 0.3, 0.4, 0.5]])
@pytest.mark.parametrize("logits", [False, True])
def test_categorical_focal_crossentropy(alpha: Any, logits: bool) -> None:
    y = ONE_HOT * 0.9 + 0.1 / 5
    scores = np.exp(P) if logits else P
    p = scores / scores.sum(-1, keepdims=True)
    wanted = -(np.asarray(alpha) * (1 - p) ** 1.5 * y * np.log(p)).sum(-1)
    found = imbalance.categorical_focal_crossentropy(ONE_HOT, P, alpha, 1.5, logits, 0.1)
    np.testing.assert_allclose(found.numpy(), wanted)
    loss = CategoricalFocalCrossentropy(alpha, 1.5, logits, 0.1)
    np.testing.assert_allclose(loss(ONE_HOT, P).numpy(), wanted.mean())


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_categorical_generalized_cross_entropy(shape: tuple[int, ...]) -> None:
    wanted = (1 - P[np.arange(4), CLASSES] ** 0.7) / 0.7
    found = imbalance.categorical_generalized_cross_entropy(CLASSES.reshape(shape), P, 0.7)
    np.testing.assert_allclose(found.numpy(), wanted)
    loss = CategoricalGeneralizedCrossEntropy(0.7)
    np.testing.assert_allclose(loss(CLASSES.reshape(shape), P).numpy(), wanted.mean())
    with says(ValueError, "categorical_generalized_cross_entropy: q must be between 0 and 1; got 1."):
        loss.from_config({"q": 1})(CLASSES, P)


@pytest.mark.parametrize("axis", [None, 1, (0, 1)])
def test_overlaps(axis: Any) -> None:
    common = (Y * P).sum(axis)
    wanted = 1 - 2 * common / (Y.sum(axis) + P.sum(axis) + 1e-7)
    np.testing.assert_allclose(imbalance.dice(Y, P, axis).numpy(), wanted)
    np.testing.assert_allclose(Dice(axis=axis)(Y, P).numpy(), wanted.mean())
    missed, wrong = (Y * (1 - P)).sum(axis), ((1 - Y) * P).sum(axis)
    wanted = 1 - common / (common + 0.3 * missed + 0.8 * wrong + 1e-7)
    np.testing.assert_allclose(imbalance.tversky(Y, P, 0.3, 0.8, axis).numpy(), wanted)
    np.testing.assert_allclose(Tversky(0.3, 0.8, axis=axis)(Y, P).numpy(), wanted.mean())


def test_ctc_adds_up_all_alignments() -> None:
    labels = np.array([[1, 2, 0], [2, 2, 1]])
    logits = rng.normal(size=(2, 5, 3))
    wanted = []
    for row, scores in zip(labels, logits, strict=True):
        p = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        sought, total = [n for n in row if n], 0.0
        for path in product(range(3), repeat=5):
            if [n for n, _ in groupby(path) if n] == sought:
                total += float(np.prod(p[np.arange(5), path]))
        wanted.append(-np.log(total))
    np.testing.assert_allclose(ctc(labels, logits).numpy(), wanted)
    np.testing.assert_allclose(CTC()(labels, logits).numpy(), np.mean(wanted))


def test_ctc_says_which_shapes_it_takes() -> None:
    with says(
        ValueError,
        "ctc: y_true must be of shape (batch, labels) and y_pred of shape (batch, time, classes); got (2,) and "
        "(1, 2, 3).",
    ):
        ctc([1, 2], ag.zeros([1, 2, 3]))


@pytest.mark.parametrize("name", ["BinaryFocalCrossentropy", "CategoricalFocalCrossentropy", "Dice", "Tversky", "CTC"])
def test_losses_are_found_by_name_and_made_again(name: str) -> None:
    loss = lookup.get({"class_name": name, "config": {}})
    again = lookup.deserialize(lookup.serialize(loss))
    assert (type(again).__name__, again.get_config()) == (name, loss.get_config())
    assert lookup.get("dice") is imbalance.dice
