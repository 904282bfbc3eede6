"""Recurrent layers whose cells take constants."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import RNN, Bidirectional, GRUCell, Input, Layer, LSTMCell, Model
from agog_layers.serialization.custom_objects import custom_object_scope

SEED = 41
X = np.random.default_rng(SEED).normal(size=(3, 5, 2)).astype(np.float32)
C = np.random.default_rng(SEED + 1).normal(size=(3, 4)).astype(np.float32)


class Linear(Layer):
    """A cell of a program's own: what it keeps is added to products of the input and of a constant."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, input_shape: Any) -> None:
        assert isinstance(input_shape, list)
        of_input, of_constant = input_shape
        self.kernel = self.add_weight("kernel", [of_input[-1], self.units])
        self.constant_kernel = self.add_weight("constant_kernel", [of_constant[-1], self.units])

    def call(self, inputs: Any, states: Any, constants: Any) -> Any:
        (constant,) = constants
        new = states[0] + ag.matmul(inputs, self.kernel) + ag.matmul(constant, self.constant_kernel)
        return new, [new]


def expected(layer: Any, x: Any = X) -> Any:
    kernel, constant_kernel = layer.cell.get_weights()
    return (x @ kernel + (C @ constant_kernel)[:, None]).cumsum(1)[:, -1]


def test_constants_of_a_call_and_at_the_end_of_a_list() -> None:
    layer = RNN(Linear(6))
    np.testing.assert_allclose(layer(X, constants=C), expected(layer), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer([X, C]), expected(layer), rtol=1e-4, atol=1e-5)
    first = np.ones((3, 6), np.float32)
    np.testing.assert_allclose(layer([X, first, C]), expected(layer) + 1, rtol=1e-4, atol=1e-5)


def test_constants_of_models() -> None:
    x, c = Input((None, 2)), Input((4,))
    layer = RNN(Linear(6))
    model = Model([x, c], layer(x, constants=c))
    np.testing.assert_allclose(model([X, C]), expected(layer), rtol=1e-4, atol=1e-5)
    with custom_object_scope({"Linear": Linear}):
        again = RNN.from_config(layer.get_config())
        other = Model.from_config(model.get_config())
    again([X, C])
    again.set_weights(layer.get_weights())
    np.testing.assert_allclose(again([X, C]), expected(layer), rtol=1e-4, atol=1e-5)
    other.set_weights(model.get_weights())
    np.testing.assert_allclose(other([X, C]), expected(layer), rtol=1e-4, atol=1e-5)


def test_stacked_cells_pass_constants_to_those_that_take_them() -> None:
    layer = RNN([GRUCell(3), Linear(6)])
    before = RNN(layer.cell.cells[0], return_sequences=True)
    found = layer(X, constants=[C])
    kernel, constant_kernel = layer.cell.cells[1].get_weights()
    each = before(X).numpy() @ kernel + (C @ constant_kernel)[:, None]
    np.testing.assert_allclose(found, each.cumsum(1)[:, -1], rtol=1e-4, atol=1e-5)


def test_constants_of_both_directions() -> None:
    with custom_object_scope({"Linear": Linear}):
        layer = Bidirectional(RNN(Linear(6)))
    found = layer(X, constants=C)
    there, back = expected(layer.forward_layer), expected(layer.backward_layer, X[:, ::-1])
    np.testing.assert_allclose(found, np.concatenate([there, back], 1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer([X, C]), found, rtol=1e-6)


def test_cells_that_take_no_constants() -> None:
    text = "RNN layer 'n' got constants, which its cell LSTMCell does not support: its call takes no constants."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        RNN(LSTMCell(2), name="n")(X, constants=C)
