"""Activations that are made of other ops."""

from __future__ import annotations

import math

import numpy as np
import pytest

import agog_core as ag
from agog_core import nn


@pytest.mark.parametrize("axis", [-1, 0])
def test_crelu(axis: int) -> None:
    x = np.array([[-1.0, 2.0], [3.0, -4.0]])
    result = nn.crelu(ag.constant(x), axis=axis).numpy()
    assert result.tolist() == np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], axis).tolist()


def test_leaky_relu_of_integers_is_float32() -> None:
    result = nn.leaky_relu(ag.constant([-5, 5]))
    assert result.dtype == ag.float32
    np.testing.assert_allclose(result.numpy(), [-1, 5], rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "at", "slope"),
    [
        (nn.relu, 0.0, 0.0),
        (nn.relu6, 0.0, 0.0),
        (nn.relu6, 6.0, 0.0),
        (nn.elu, 0.0, 1.0),
        (nn.selu, 0.0, 1.0507009873554805),
        (nn.leaky_relu, 0.0, 0.2),
        (nn.softsign, 0.0, 1.0),
    ],
)
def test_gradient_at_kinks_is_the_documented_one(function: object, at: float, slope: float) -> None:
    x = ag.constant(np.array([at]))
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = function(x)  # type: ignore[operator]  # an activation
    assert tape.gradient(y, x).numpy().tolist() == [pytest.approx(slope, abs=1e-15)]


def test_layers_in_one_call() -> None:
    rng = np.random.default_rng(0)
    x, weights, biases = rng.normal(size=(4, 3)), rng.normal(size=(3, 2)), rng.normal(size=2)
    expected = x @ weights + biases
    np.testing.assert_allclose(nn.xw_plus_b(x, weights, biases).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(nn.relu_layer(x, weights, biases).numpy(), np.maximum(expected, 0), rtol=1e-12)


def test_approximate_gelu_keeps_its_digits_where_it_is_nearly_zero() -> None:
    x = np.array([-6.0, -5.0, -4.0, -1.0, -1e-3, 0.0], np.float32)
    polynomial = math.sqrt(2 / math.pi) * (x.astype("f8") + 0.044715 * x.astype("f8") ** 3)
    expected = x * np.exp(2 * polynomial) / (1 + np.exp(2 * polynomial))
    found = nn.gelu(ag.constant(x), approximate=True)
    np.testing.assert_allclose(found.numpy(), expected, rtol=5e-6)


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_at_and_around_0_has_the_slope_one_half(approximate: bool) -> None:
    x = ag.constant(np.array([0.0, -0.0, 1e-45, -1e-40, 1e-30, -1e-16], np.float32))
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = nn.gelu(x, approximate)
    assert tape.gradient(y, x).numpy().tolist() == [0.5] * 6
