"""Arrays of NumPy's as inputs of layers: floats become the layer's, whatever precision NumPy gave them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, Flatten, Input, Layer, Model, Sequential


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_arrays_of_floats_become_float32_in_a_new_layer(kind: str) -> None:
    x = np.array([[1.5, -2.0, 3.0]], kind)
    model = Sequential([Flatten(), Dense(2)])
    for layer in (Dense(2), model):
        assert layer(x).dtype == ag.float32
        assert {v.dtype for v in layer.variables} == {ag.float32}
        kernel = layer.variables[0].numpy().astype(np.float64)
        np.testing.assert_allclose(layer(x).numpy(), x @ kernel, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("given", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_arrays_of_floats_become_the_dtype_of_a_layer_that_is_built(kind: str, given: str) -> None:
    layer = Dense(2)
    layer(ag.ones((1, 3), kind))
    x = np.array([[1.5, -2.0, 3.0]], given)
    assert layer(x).dtype == kind
    np.testing.assert_allclose(layer(x).numpy(), x @ layer.kernel.numpy(), rtol=1e-6, atol=1e-6)
    model = Sequential([Flatten(), Dense(2, dtype=kind)])
    assert model(x).dtype == kind


def test_arrays_among_arguments_follow_the_tensors_beside_them() -> None:
    class Sum(Layer):
        def call(self, inputs: Any, other: Any) -> Any:
            return inputs + other

    three, x = ag.constant([3.0], "float64"), np.array([1.0])
    assert Sum()(x, other=three).dtype == ag.float64
    assert Sum()(x, x).dtype == Sum()(x, np.float32([1])).dtype == ag.float32


def test_a_tensor_keeps_its_dtype() -> None:
    layer = Dense(2, name="d")
    layer(ag.ones((1, 3)))
    text = (
        "Dense layer 'd' has a kernel of dtype float32; got an input of dtype float64 and shape (1, 3). Cast it with "
        "tf.cast(x, tf.float32)."
    )
    with pytest.raises(ag.errors.InvalidArgumentError, match=f"^{re.escape(text)}$"):
        layer(ag.ones((1, 3), "float64"))


def test_gradients_reach_variables_that_a_functional_model_casts() -> None:
    symbol = Input((3,))
    model = Model(symbol, Dense(1)(symbol))
    x = ag.Variable(np.ones((1, 3)))
    with ag.GradientTape() as tape:
        y = model(x)
    gradient = tape.gradient(y, x)
    assert gradient.dtype == "float64"
    np.testing.assert_array_equal(gradient.numpy(), model.variables[0].numpy().T.astype(np.float64))
