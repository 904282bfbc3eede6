"""Layers and models that are called with names for all arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import LSTM, BatchNormalization, Dense, Input, Layer, Model, MultiHeadAttention, Sequential
from agog_testing import says

X = np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32)


class Attended(Layer):
    """A layer of a program, whose first argument has a name of its own."""

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight("kernel", shape=(input_shape[-1], 2))
        self.built = True

    def call(self, query: Any, value: Any = None, training: Any = None) -> Any:
        return ag.matmul(query, self.kernel) + (0.0 if value is None else ag.reduce_sum(value)) + float(bool(training))


class Own(Model):
    """A model that calls its layers so."""

    def __init__(self) -> None:
        super().__init__()
        self.attended, self.dense = Attended(), Dense(1)

    def call(self, x: Any, training: Any = None) -> Any:
        return self.dense(inputs=self.attended(value=x, query=x, training=training))


def wanted(layer: Any) -> Any:
    return X.astype(float) @ layer.kernel.numpy() + X.sum()


def test_arrays_and_tensors() -> None:
    layer = Attended()
    for x in (X, ag.constant(X), X):
        np.testing.assert_allclose(layer(value=x, query=x).numpy(), wanted(layer), rtol=1e-5, atol=1e-5)
    assert layer.kernel.name == f"{layer.name}/kernel:0"
    assert len(layer.weights) == 1
    np.testing.assert_allclose(
        layer(training=True, query=X).numpy(), X @ layer.kernel.numpy() + 1, rtol=1e-5, atol=1e-5
    )


def test_symbolic_values() -> None:
    x = Input([3])
    layer = Attended()
    model: Any = Model(x, layer(query=x, value=x))
    np.testing.assert_allclose(model(inputs=X, training=False).numpy(), wanted(layer), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model(X, training=True).numpy(), wanted(layer) + 1, rtol=1e-5, atol=1e-5)
    around: Any = Model(x, model(inputs=x))
    np.testing.assert_array_equal(around(inputs=X).numpy(), model(X).numpy())


def test_models() -> None:
    model: Any = Own()
    out = model(x=X, training=False)
    hidden = X @ model.attended.kernel.numpy() + X.sum()
    kernel, bias = model.dense.get_weights()
    np.testing.assert_allclose(out.numpy(), hidden @ kernel + bias, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(model(training=False, x=ag.constant(X)).numpy(), model(X).numpy())
    assert Sequential([Dense(2)])(inputs=X).shape == (4, 2)


def test_layers_with_names_of_their_own() -> None:
    x = ag.constant(np.ones((2, 3, 4), np.float32))
    attention = MultiHeadAttention(2, 2)
    found = attention(query=x, value=x)
    np.testing.assert_array_equal(found.numpy(), attention(x, x).numpy())
    assert LSTM(2)(inputs=x).shape == (2, 2)
    normalized = BatchNormalization(momentum=0.5)
    normalized(inputs=X, training=True)
    np.testing.assert_allclose(normalized.moving_mean.numpy(), 0.5 * X.mean(0), rtol=1e-5, atol=1e-5)


def test_training_of_a_layer_that_does_not_take_it() -> None:
    assert Dense(2)(inputs=X, training=True).shape == (4, 2)


@pytest.mark.parametrize(
    ("named", "text"),
    [
        ({}, " got no argument. Give 'query' too, in the first place or by name."),
        ({"value": X}, " got 'value' alone. Give 'query' too, in the first place or by name."),
    ],
)
def test_the_first_argument_is_missing(named: dict[str, Any], text: str) -> None:
    with says(TypeError, f"Attended layer 'a' is called without its input:{text}"):
        Attended(name="a")(**named)
