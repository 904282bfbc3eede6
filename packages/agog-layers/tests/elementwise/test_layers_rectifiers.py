"""Activation functions with arguments, against NumPy and numerical differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import ELU, BatchNormalization, GaussianNoise, Lambda, LeakyReLU, PReLU, ReLU, Softmax, ThresholdedReLU
from agog_testing import says

SEED = 12
X = np.random.default_rng(SEED).normal(0.0, 2.0, (3, 4, 2))
E = np.exp(X - X.max(1, keepdims=True))


def test_the_numbers_are_on_all_sides() -> None:
    assert (X < 0).any()
    assert (np.abs(X) < 1).any()
    assert (X > 2).any()


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (LeakyReLU(), np.where(X > 0, X, 0.3 * X)),
        (LeakyReLU(0.1), np.where(X > 0, X, 0.1 * X)),
        (ELU(), np.where(X > 0, X, np.expm1(X))),
        (ELU(0.5), np.where(X > 0, X, 0.5 * np.expm1(X))),
        (ThresholdedReLU(), np.where(X > 1, X, 0)),
        (ThresholdedReLU(0.5), np.where(X > 0.5, X, 0)),
        (Softmax(1), E / E.sum(1, keepdims=True)),
        (ReLU(), np.maximum(X, 0)),
        (ReLU(2), np.clip(X, 0, 2)),
        (ReLU(2, 0.1), np.minimum(np.where(X > 0, X, 0.1 * X), 2)),
        (ReLU(None, 0.1, 1), np.where(X >= 1, X, 0.1 * (X - 1))),
        (ReLU(2, 0, 1), np.minimum(np.where(X >= 1, X, 0), 2)),
        (PReLU("zeros"), np.maximum(X, 0)),
    ],
)
def test_values(layer: Any, expected: Any, check_gradients: Callable[..., None]) -> None:
    got = layer(ag.constant(X))
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-15, err_msg=f"seed {SEED}")
    assert layer.compute_output_shape((None, 4, 2)).as_list() == [None, 4, 2]
    check_gradients(layer, [X], layer.variables)


@pytest.mark.parametrize(("shared", "shape"), [(None, (4, 2)), ([1], (1, 2)), (2, (4, 1)), ((1, 2), (1, 1))])
def test_prelu(shared: Any, shape: tuple[int, ...], check_gradients: Callable[..., None]) -> None:
    layer = PReLU(shared_axes=shared, alpha_regularizer="l2", name="p")
    layer(ag.constant(X))
    assert [v.name for v in layer.variables] == ["p/alpha:0"]
    assert layer.alpha.shape == shape
    assert [float(loss) for loss in layer.losses] == [0.0]
    alpha = np.random.default_rng(SEED).normal(size=shape)
    layer.alpha.assign(alpha)
    np.testing.assert_allclose(layer(ag.constant(X)).numpy(), np.where(X > 0, X, alpha * X), rtol=1e-12)
    check_gradients(layer, [X[:1]], layer.variables)


@pytest.mark.parametrize("argument", ["max_value", "negative_slope", "threshold"])
def test_negative_arguments(argument: str) -> None:
    with says(ValueError, f"ReLU: {argument} of Relu layer cannot be negative value: -1.0."):
        ReLU(**{argument: -1.0})


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Softmax(axis="1"), "Softmax: axis must be an integer; got '1' of type str."),
        (lambda: Softmax(axis=0.5), "Softmax: axis must be an integer; got 0.5 of type float."),
        (lambda: LeakyReLU("1"), "LeakyReLU: alpha must be a number; got '1' of type str."),
        (lambda: ELU(None), "ELU: alpha must be a number; got None of type NoneType."),
        (lambda: ThresholdedReLU("1"), "ThresholdedReLU: theta must be a number; got '1' of type str."),
        (lambda: ReLU(max_value="6"), "ReLU: max_value must be a number; got '6' of type str."),
        (
            lambda: ReLU(negative_slope=int),
            "ReLU: negative_slope must be a number; got the class int: make one of it, int(...).",
        ),
        (lambda: PReLU(shared_axes="1"), "PReLU: shared_axes must be integers; got '1'."),
        (lambda: GaussianNoise("1"), "GaussianNoise: stddev must be a number; got '1' of type str."),
        (
            lambda: BatchNormalization(momentum="1"),
            "BatchNormalization: momentum must be a number; got '1' of type str.",
        ),
        (
            lambda: BatchNormalization(epsilon="1"),
            "BatchNormalization: epsilon must be a number; got '1' of type str.",
        ),
        (lambda: Lambda("1"), "Lambda: function must be a function; got '1' of type str."),
    ],
)
def test_arguments_of_another_kind_are_refused_where_the_layer_is_made(make: Callable[[], Any], text: str) -> None:
    with says(TypeError, text):
        make()


def test_infinite_inputs_below_the_threshold_are_zero() -> None:
    x = ag.constant([-np.inf, 0.5, 2.0, np.inf, np.nan])
    np.testing.assert_array_equal(ThresholdedReLU(1.0)(x).numpy(), [0.0, 0.0, 2.0, np.inf, np.nan])
