"""Losses that are made of other ops, and the range in which cross entropies are exact."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import agog_core as ag
from agog_core import nn
from agog_core.ops.nn.losses import sigmoid_cross_entropy_with_logits
from agog_testing.gradcheck import gradcheck

SEED = 3
RNG = np.random.default_rng(SEED)
TARGETS, LOGITS = RNG.uniform(0.1, 0.9, (2, 3)), RNG.uniform(-3, 3, (2, 3))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_weighted_cross_entropy(weight: float) -> None:
    expected = -weight * TARGETS * np.log(sigmoid(LOGITS)) - (1 - TARGETS) * np.log(1 - sigmoid(LOGITS))
    result = nn.weighted_cross_entropy_with_logits(TARGETS, LOGITS, weight)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-12)
    gradcheck(lambda z, x: nn.weighted_cross_entropy_with_logits(z, x, weight), [TARGETS, LOGITS])


def test_weighted_cross_entropy_of_large_logits() -> None:
    result = nn.weighted_cross_entropy_with_logits([1.0, 0.0], [-1000.0, 1000.0], 2.0)
    assert result.numpy().tolist() == [2000.0, 1000.0]


def test_log_poisson_loss() -> None:
    counts, logarithms = np.array([0.0, 0.5, 1.0, 2.0, 7.0]), np.array([0.1, -1.0, 0.5, 1.0, 2.0])
    plain = np.exp(logarithms) - counts * logarithms
    np.testing.assert_allclose(nn.log_poisson_loss(counts, logarithms).numpy(), plain, rtol=1e-12)
    large = counts[3:]
    stirling = large * np.log(large) - large + 0.5 * np.log(2 * np.pi * large)
    full = nn.log_poisson_loss(counts, logarithms, compute_full_loss=True)
    np.testing.assert_allclose(full.numpy(), plain + np.concatenate([[0, 0, 0], stirling]), rtol=1e-12)
    away = np.array([0.2, 0.5, 2.0, 3.0, 7.0])
    gradcheck(lambda z, c: nn.log_poisson_loss(z, c, compute_full_loss=True), [away, logarithms])


def test_shapes_must_be_equal() -> None:
    text = "sigmoid_cross_entropy_with_logits: labels and logits must have the same shape; got (2,) and (1,)."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0])


KINDS = ["float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool"]
ONE_HOT = np.array([[0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_dtype_beside_logits_of_float32(kind: str) -> None:
    logits, labels = ag.constant(LOGITS, "float32"), ag.cast(ag.constant(ONE_HOT), kind)
    log_softmax = LOGITS - np.log(np.exp(LOGITS).sum(1, keepdims=True))
    log_sigmoid = np.log(sigmoid(LOGITS)), np.log(1 - sigmoid(LOGITS))
    binary = -ONE_HOT * log_sigmoid[0] - (1 - ONE_HOT) * log_sigmoid[1]
    weighted = -2 * ONE_HOT * log_sigmoid[0] - (1 - ONE_HOT) * log_sigmoid[1]
    for loss, expected in (
        (nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits), -(ONE_HOT * log_softmax).sum(1)),
        (nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits), -(ONE_HOT * log_softmax).sum(1)),
        (nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), binary),
        (nn.weighted_cross_entropy_with_logits(labels, logits, 2.0), weighted),
        (nn.log_poisson_loss(labels, logits), np.exp(LOGITS) - LOGITS * ONE_HOT),
    ):
        assert loss.dtype == "float32"
        np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-5)


def test_gradients_reach_labels_of_another_dtype() -> None:
    labels, logits = ag.constant(TARGETS), ag.constant(LOGITS, "float32")
    with ag.GradientTape() as tape:
        tape.watch(labels)
        loss = nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    gradient = tape.gradient(loss, labels)
    assert gradient.dtype == "float64"
    np.testing.assert_allclose(gradient.numpy(), np.log(np.exp(LOGITS).sum(1, keepdims=True)) - LOGITS, rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "name", "loss"),
    [
        ("softmax_cross_entropy", "labels", nn.softmax_cross_entropy_with_logits),
        ("sigmoid_cross_entropy_with_logits", "labels", nn.sigmoid_cross_entropy_with_logits),
        ("weighted_cross_entropy_with_logits", "targets", partial(nn.weighted_cross_entropy_with_logits, pos_weight=2)),
    ],
)
def test_labels_that_are_no_numbers_are_refused(op: str, name: str, loss: Callable[..., ag.Tensor]) -> None:
    text = (
        f"{op}: {name} must be floats, integers or bools; got dtype string and shape (2,). Make numbers of strings "
        "with tf.string_to_number, and of complex numbers with tf.real or tf.abs."
    )
    with pytest.raises(ag.errors.InvalidArgumentError, match=f"^{re.escape(text)}$"):
        loss(**{name: ["1", "0"]}, logits=[1.0, 0.0])


@pytest.mark.parametrize("kind", ["float64", "bool"])
def test_class_numbers_are_integers(kind: str) -> None:
    text = (
        f"sparse_softmax_cross_entropy: labels must be integers; got dtype {kind} and shape (2,). For probabilities "
        "use softmax_cross_entropy_with_logits."
    )
    with pytest.raises(ag.errors.InvalidArgumentError, match=f"^{re.escape(text)}$"):
        nn.sparse_softmax_cross_entropy_with_logits(labels=np.array([1, 0]).astype(kind), logits=np.ones((2, 3)))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0, 63.0, 65.0, 1e3, 1e30])
def test_cross_entropy_of_float32_is_exact_in_any_range(scale: float) -> None:
    """Small logits take another way than large ones."""
    logits = (np.random.default_rng(SEED).uniform(-1, 1, (5, 7)) * scale).astype(np.float32)
    labels = np.array([0, 1, 2, 3, 6], np.int32)
    exact = logits.astype(np.float64)
    exact -= exact.max(-1, keepdims=True)
    logarithms = exact - np.log(np.exp(exact).sum(-1, keepdims=True))
    result = nn.sparse_softmax_cross_entropy_with_logits(labels=ag.constant(labels), logits=ag.constant(logits))
    np.testing.assert_allclose(result.numpy(), -logarithms[np.arange(5), labels], rtol=1e-6, atol=3e-7)
    assert (result.numpy() >= 0).all()
    # Differences of logits up to 130 are rounded in float32, by up to 4e-6.
    np.testing.assert_allclose(nn.softmax(ag.constant(logits)).numpy(), np.exp(logarithms), rtol=5e-6, atol=1e-30)
