"""Layers that merge tensors, and their functions, against NumPy and numerical differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import (
    Add,
    Average,
    Concatenate,
    Dot,
    Input,
    Maximum,
    Minimum,
    Model,
    Multiply,
    Subtract,
)
from agog_layers.merging import functions
from agog_testing import says

SEED = 31
ELEMENTWISE: list[tuple[Any, Callable[..., Any]]] = [
    (Add, lambda *xs: sum(xs)),
    (Multiply, lambda *xs: np.prod(np.broadcast_arrays(*xs), axis=0)),
    (Average, lambda *xs: sum(xs) / len(xs)),
    (Maximum, lambda *xs: np.max(np.broadcast_arrays(*xs), axis=0)),
    (Minimum, lambda *xs: np.min(np.broadcast_arrays(*xs), axis=0)),
]


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    numbers = np.random.default_rng(SEED)
    return [numbers.normal(size=shape) for shape in shapes]


def check(layer: Any, xs: list[Any], expected: Any) -> None:
    got = layer([ag.constant(x) for x in xs])
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-12, err_msg=f"seed {SEED}")
    assert layer.compute_output_shape([x.shape for x in xs]) == got.shape
    unknown = layer.compute_output_shape([(None, *x.shape[1:]) for x in xs])
    assert unknown.as_list() == [None, *expected.shape[1:]]


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize(("kind", "oracle"), ELEMENTWISE)
def test_elementwise(kind: Any, oracle: Callable[..., Any], count: int) -> None:
    xs = arrays(*[(2, 3, 4)] * count)
    check(kind(), xs, oracle(*xs))
    function = getattr(functions, kind.__name__.lower())
    np.testing.assert_allclose(function([ag.constant(x) for x in xs]).numpy(), oracle(*xs), rtol=1e-12)


@pytest.mark.parametrize(("kind", "oracle"), ELEMENTWISE)
def test_broadcasting(kind: Any, oracle: Callable[..., Any]) -> None:
    xs = arrays((2, 3, 4), (2, 1, 4), (2, 4))
    check(kind(), xs, oracle(xs[0], xs[1], xs[2][:, None]))


def test_subtract() -> None:
    xs = arrays((2, 3), (2, 3))
    check(Subtract(), xs, xs[0] - xs[1])
    np.testing.assert_array_equal(functions.subtract(list(map(ag.constant, xs))).numpy(), xs[0] - xs[1])


@pytest.mark.parametrize("axis", [-1, 1, 2, -2])
def test_concatenate(axis: int) -> None:
    shapes = [(2, 3, 4), (2, 5, 4), (2, 1, 4)] if axis in (1, -2) else [(2, 3, 4), (2, 3, 1), (2, 3, 2)]
    xs = arrays(*shapes)
    check(Concatenate(axis), xs, np.concatenate(xs, axis))
    np.testing.assert_array_equal(
        functions.concatenate(list(map(ag.constant, xs)), axis).numpy(), np.concatenate(xs, axis)
    )
    assert Concatenate(1).compute_output_shape([(None, None), (None, 2)]).as_list() == [None, None]


def unit(x: Any, axis: int) -> Any:
    return x / np.sqrt((x**2).sum(axis, keepdims=True))


@pytest.mark.parametrize(
    ("axes", "shapes", "formula"),
    [
        (1, [(3, 4), (3, 4)], "bi,bi->b"),
        (-1, [(3, 2, 4), (3, 5, 4)], "bij,bkj->bik"),
        ((2, 1), [(3, 2, 4), (3, 4, 5)], "bij,bjk->bik"),
        ((1, 2), [(3, 4, 2), (3, 5, 4)], "bji,bkj->bik"),
        ([1, 1], [(3, 4, 2), (3, 4)], "bji,bj->bi"),
    ],
)
def test_dot(axes: Any, shapes: list[tuple[int, ...]], formula: str) -> None:
    xs = arrays(*shapes)
    expected = np.einsum(formula, *xs)
    expected = expected[:, None] if expected.ndim == 1 else expected
    check(Dot(axes), xs, expected)
    first, second = (axes, axes) if isinstance(axes, int) else axes
    units = unit(xs[0], first), unit(xs[1], second)
    cosines = np.einsum(formula, *units).reshape(expected.shape)
    check(Dot(axes, normalize=True), xs, cosines)
    np.testing.assert_allclose(functions.dot(list(map(ag.constant, xs)), axes, True).numpy(), cosines, rtol=1e-12)


@pytest.mark.parametrize(
    "layer",
    [Add(), Subtract(), Multiply(), Average(), Maximum(), Minimum(), Concatenate(), Dot(1), Dot(1, normalize=True)],
    ids=lambda layer: type(layer).__name__,
)
def test_gradients(layer: Any, check_gradients: Callable[..., None]) -> None:
    check_gradients(lambda x, y: layer([x, y]), arrays((2, 3), (2, 3)))


def test_symbolic_values() -> None:
    one, two = Input(shape=(3,)), Input(shape=(3,))
    model = Model(inputs=[one, two], outputs=functions.concatenate([functions.add([one, two]), one * two]))
    xs = arrays((2, 3), (2, 3))
    expected = np.concatenate([xs[0] + xs[1], xs[0] * xs[1]], 1)
    np.testing.assert_allclose(model(list(map(ag.constant, xs))).numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Add(name="a")(ag.zeros([2])),
            "Add layer 'a' should be called on a list of at least 2 tensors; got one tensor.",
        ),
        (
            lambda: Concatenate(name="a")([ag.zeros([2])]),
            "Concatenate layer 'a' should be called on a list of at least 2 tensors; got a list of 1.",
        ),
        (
            lambda: Subtract(name="a")([ag.zeros([2])] * 3),
            "Subtract layer 'a' takes a list of 2 tensors; got a list of 3.",
        ),
        (lambda: Dot(1, name="a")([ag.zeros([2])] * 3), "Dot layer 'a' takes a list of 2 tensors; got a list of 3."),
        (
            lambda: Maximum(name="a")([ag.zeros([2, 3]), ag.zeros([2, 4])]),
            "Maximum layer 'a': inputs of shapes (2, 3), (2, 4) cannot be merged, since a size must be the same for "
            "all, or 1.",
        ),
        (
            lambda: Concatenate(name="a")([ag.zeros([2, 3]), ag.zeros([4, 3])]),
            "Concatenate layer 'a' requires inputs with matching shapes except for the concat axis -1; got (2, 3), "
            "(4, 3).",
        ),
        (
            lambda: Concatenate(2, name="a")([ag.zeros([2, 3]), ag.zeros([2, 3])]),
            "Concatenate layer 'a' requires inputs with matching shapes except for the concat axis 2; got (2, 3), "
            "(2, 3).",
        ),
        (
            lambda: Dot(1, name="a")([ag.zeros([2, 3]), ag.zeros([2, 4])]),
            "Dot layer 'a': inputs of shapes (2, 3) and (2, 4) have no axes 1 of one size beside the batch's.",
        ),
        (
            lambda: Dot((0, 1), name="a")([ag.zeros([2, 3]), ag.zeros([2, 2])]),
            "Dot layer 'a': inputs of shapes (2, 3) and (2, 2) have no axes (0, 1) of one size beside the batch's.",
        ),
        (lambda: Dot((1, 2, 3)), "Dot: axes must be an integer or two of them; got (1, 2, 3)."),
    ],
)
def test_errors(make: Callable[[], Any], text: str) -> None:
    with says(ValueError, text):
        make()
