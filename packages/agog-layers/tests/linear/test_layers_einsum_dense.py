"""EinsumDense, against NumPy's einsum in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, EinsumDense, Identity, Input, Model
from agog_testing import says

X = np.random.default_rng(2).normal(size=(2, 3, 4))


@pytest.mark.parametrize(
    ("equation", "output_shape", "bias_axes", "kernel", "bias", "plain"),
    [
        ("abc,cd->abd", (None, 5), None, [4, 5], None, "abc,cd->abd"),
        ("abc,cd->abd", (3, 5), "d", [4, 5], [5], "abc,cd->abd"),
        ("abc,cde->abde", (None, 5, 6), "de", [4, 5, 6], [5, 6], "abc,cde->abde"),
        ("abc,cde->abde", (None, 5, 6), "e", [4, 5, 6], [6], "abc,cde->abde"),
        ("abc,bcd->ad", 5, "d", [3, 4, 5], [5], "abc,bcd->ad"),
        ("...x,xy->...y", 5, "y", [4, 5], [5], "abx,xy->aby"),
        ("ab...,bc->ac...", 5, "c", [3, 5], [5, 1], "abz,bc->acz"),
    ],
)
def test_values(equation: str, output_shape: Any, bias_axes: Any, kernel: Any, bias: Any, plain: str) -> None:
    layer = EinsumDense(equation, output_shape, bias_axes=bias_axes, bias_initializer="uniform", activation="tanh")
    found = layer(ag.constant(X))
    weights = layer.get_weights()
    assert [list(each.shape) for each in weights] == [each for each in (kernel, bias) if each]
    wanted = np.tanh(np.einsum(plain, X, weights[0]) + (weights[1] if bias else 0))
    np.testing.assert_allclose(found.numpy(), wanted)
    assert layer.compute_output_shape((None, 3, 4)).as_list()[1:] == list(wanted.shape[1:])
    again = EinsumDense.from_config(layer.get_config())
    again.build((None, 3, 4))
    again.set_weights(weights)
    np.testing.assert_allclose(again(ag.constant(X)).numpy(), wanted)


def test_in_functional_models() -> None:
    x = Input([3, 4])
    hidden = Identity()(EinsumDense("abc,cd->abd", (None, 5))(x))
    model: Any = Model(x, Dense(2)(hidden))
    assert hidden.shape.as_list() == [None, 3, 5]
    assert model(ag.constant(X, "float32")).shape == (2, 3, 2)


ERRORS = [
    (
        lambda: EinsumDense("ab->a", 3),
        "EinsumDense: equation must be of the form 'ab,bc->ac', the kernel without an ellipsis; got 'ab->a'.",
    ),
    (
        lambda: EinsumDense("ab,bc->ac", 5, name="e")(ag.constant(X)),
        "EinsumDense layer 'e': the equation 'ab,bc->ac' is not for an input of shape (2, 3, 4).",
    ),
    (
        lambda: EinsumDense("abc,cd->abd", (7, 5), name="e")(ag.constant(X)),
        "EinsumDense layer 'e': axis 'b' of the equation 'abc,cd->abd' has size 3 in the input and 7 in output_shape.",
    ),
    (
        lambda: EinsumDense("abc,cde->abde", (None, None, 5), name="e")(ag.constant(X)),
        "EinsumDense layer 'e': the size of axis 'd' of the kernel is not known; the equation is 'abc,cde->abde', the "
        "input of shape (2, 3, 4), output_shape (None, None, 5).",
    ),
    (
        lambda: EinsumDense("abc,cd->abd", (None, 5), bias_axes="x", name="e")(ag.constant(X)),
        "EinsumDense layer 'e': bias_axes 'x' must be axes of the output 'abd'.",
    ),
]


@pytest.mark.parametrize(("make", "text"), ERRORS)
def test_what_does_not_fit(make: Any, text: str) -> None:
    with says(ValueError, text):
        make()
