"""Activations by name, against their formulas in NumPy float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, activations
from agog_testing import says

X = np.linspace(-4, 4, 33)
ERF = np.array([math.erf(x / math.sqrt(2)) for x in X])
SOFTPLUS = np.log1p(np.exp(X))
FORMULAS: dict[str, Any] = {
    "exponential": np.exp(X),
    "gelu": X * (1 + ERF) / 2,
    "leaky_relu": np.where(X > 0, X, 0.2 * X),
    "log_softmax": X - np.log(np.exp(X).sum()),
    "mish": X * np.tanh(SOFTPLUS),
    "relu6": np.clip(X, 0, 6),
    "silu": X / (1 + np.exp(-X)),
    "swish": X / (1 + np.exp(-X)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_values(name: str) -> None:
    np.testing.assert_allclose(activations.get(name)(ag.constant(X)).numpy(), FORMULAS[name], rtol=1e-6, atol=1e-7)


def test_gelu_by_the_approximation() -> None:
    inner = math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)
    found = activations.gelu(ag.constant(X), approximate=True)
    np.testing.assert_allclose(found.numpy(), X * (1 + np.tanh(inner)) / 2, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", FORMULAS)
def test_layers_with_them_are_described(name: str) -> None:
    layer = Dense(2, activation=name)
    again = Dense.from_config(layer.get_config())
    assert again.activation is layer.activation


def test_names_of_functions() -> None:
    assert activations.serialize(activations.gelu) == "gelu"
    with says(
        ValueError,
        "An activation that can be serialized is known by name, or has get_config; got <built-in function len> of "
        "type builtin_function_or_method.",
    ):
        activations.serialize(len)
