"""Functions of tensors that take symbolic values, of which they make layers."""

from __future__ import annotations

from typing import Any

import numpy as np

import agog_core as ag
from agog_layers import Dense, Input, Model
from agog_layers.layer.function_layer import Called, taking_symbols
from agog_testing import says

_add_up = taking_symbols("test_add_up", lambda xs, scale, axis=0: (xs[0] + xs[-1]) * scale + float(axis))
_twice = taking_symbols("test_twice", lambda x: (x, ag.multiply(x, 2.0)))


def test_tensors_go_through() -> None:
    assert _add_up([ag.ones([2]), ag.ones([2])], 3.0, axis=1).numpy().tolist() == [7.0, 7.0]


def test_symbols_make_layers_that_compute_the_same() -> None:
    one, other = Input([3]), Input([3])
    summed = _add_up([one * 1.0, other], np.float32(2.0), axis=1)
    first, second = _twice(Dense(3, kernel_initializer="ones")(summed))
    model: Any = Model([one, other], [first, second])
    a, b = np.array([[1.0, 2.0, 3.0]], np.float32), np.array([[0.5, 0.0, -1.0]], np.float32)
    wanted = ((a + b) * 2 + 1).sum()
    for found, scale in zip(model([a, b]), (1, 2), strict=True):
        np.testing.assert_allclose(found.numpy(), np.full((1, 3), wanted * scale), rtol=1e-6)
    again: Any = Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again([a, b])[1].numpy(), model([a, b])[1].numpy())


def test_options_may_be_symbols() -> None:
    x = Input([3])
    model: Any = Model(x, _add_up(xs=[x, x], scale=0.5))
    assert model(ag.ones([1, 3])).numpy().tolist() == [[1.0, 1.0, 1.0]]


def test_functions_that_are_none() -> None:
    with says(ValueError, "Called: no function that takes symbolic values is called 'test_none'."):
        Called("test_none", [], {})
