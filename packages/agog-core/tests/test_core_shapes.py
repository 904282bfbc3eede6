"""TensorShape, Dimension, and the shape rules that families of ops share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agog_core as ag
from agog_core import Dimension, TensorShape
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import broadcast_shapes, normalize_axes, normalize_axis, reduced_shape
from agog_testing import says

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def test_a_known_shape() -> None:
    shape = TensorShape([2, 3])
    assert (shape.ndims, shape.rank, len(shape)) == (2, 2, 2)
    assert shape.as_list() == [2, 3]
    assert shape.dims == [2, 3]
    assert shape.num_elements() == 6
    assert shape.is_fully_defined()
    assert bool(TensorShape([]))
    assert TensorShape([]).num_elements() == 1
    assert (str(shape), str(TensorShape([2])), str(TensorShape([]))) == ("(2, 3)", "(2,)", "()")
    assert repr(shape) == "TensorShape([2, 3])"
    assert shape[0] == 2
    assert int(shape[-1]) == 3
    assert shape[1:] == (3,)
    assert list(shape) == [2, 3]
    assert [*range(shape[0])] == [0, 1]
    assert shape + TensorShape([4]) == (2, 3, 4)
    assert TensorShape(5) == [5]
    assert TensorShape(shape) == shape
    assert TensorShape(np.array([2, 3])) == shape
    assert TensorShape(ag.constant([2, 3])) == shape


def test_a_partial_shape() -> None:
    shape = TensorShape([None, 3])
    assert shape.as_list() == [None, 3]
    assert shape.num_elements() is None
    assert not shape.is_fully_defined()
    assert shape[0] is None
    assert str(shape) == "(?, 3)"
    assert repr(shape) == "TensorShape([None, 3])"
    assert shape.is_compatible_with((2, 3))
    assert not shape.is_compatible_with((2, 4))
    assert not shape.is_compatible_with((3,))


def test_an_unknown_shape() -> None:
    shape = TensorShape(None)
    assert shape.ndims is None
    assert shape.dims is None
    assert shape.num_elements() is None
    assert not shape
    assert not shape.is_fully_defined()
    assert shape.is_compatible_with((1, 2))
    assert (str(shape), repr(shape)) == ("<unknown>", "TensorShape(None)")
    for use, what in [
        (shape.as_list, "as_list()"),
        (lambda: shape[0], "Indexing"),
        (lambda: list(shape), "Iteration"),
        (lambda: len(shape), "len()"),
        (lambda: shape + TensorShape([1]), "+"),
    ]:
        with says(ValueError, f"{what} is not defined on a TensorShape of unknown rank."):
            use()


def test_equality_and_hash() -> None:
    shape = TensorShape([2, 3])
    assert shape == TensorShape((2, 3)) == (2, 3)
    assert shape == [2, 3]
    assert shape != (3, 2)
    assert shape != "ab"
    assert shape != object()
    assert TensorShape(None) == TensorShape(None)
    assert TensorShape([None]) != TensorShape(None)
    assert {shape: 1}[TensorShape((2, 3))] == 1
    assert hash(shape) == hash((2, 3))


def test_errors_of_shapes() -> None:
    with says(ValueError, "A shape's sizes are not negative; got -1."):
        TensorShape([2, -1])
    for size, kind in ((1.5, "float"), ("a", "str")):
        with says(TypeError, f"A shape's sizes are integers or None; got {size!r} of type {kind}."):
            TensorShape([size])
    with says(ValueError, "Shapes (2, ?) and (3, 3) are incompatible"):
        TensorShape([2, None]).assert_is_compatible_with([3, 3])
    TensorShape([2, None]).assert_is_compatible_with([2, 3])


def test_dimensions_are_ints() -> None:
    size = ag.constant([[1.0, 2.0]]).shape[1]
    assert isinstance(size, Dimension)
    assert (size.value, type(size.value)) == (2, int)
    assert size + 1 == 3
    assert size * 2 // 3 == 1
    assert (repr(size), str(size)) == ("Dimension(2)", "2")
    assert ["a", "b", "c"][size] == "c"


@settings(deadline=None)
@given(SHAPES, SHAPES)
def test_broadcasting_is_numpys(x: tuple[int, ...], y: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(x, y)
    except ValueError:
        with pytest.raises(InvalidArgumentError):
            broadcast_shapes("op", x, y)
    else:
        assert broadcast_shapes("op", x, y) == expected


def test_broadcasting_errors() -> None:
    with says(
        InvalidArgumentError,
        "add: Incompatible shapes: [4,2,3] vs. [3,1]: sizes 2 and 3 differ and neither is 1. "
        "Reshape, tile or slice one of them.",
    ):
        broadcast_shapes("add", (4, 2, 3), (3, 1))
    with says(InvalidArgumentError, "broadcast_to: a tensor of shape (2, 3) does not broadcast to shape (3,)."):
        ag.broadcast_to(np.zeros((2, 3)), (3,))


@pytest.mark.parametrize(
    ("axes", "rank", "expected"),
    [
        (None, 3, (0, 1, 2)),
        (1, 3, (1,)),
        (-1, 3, (2,)),
        ((2, 0), 3, (0, 2)),
        ([], 3, ()),
        (np.array([-1, 0]), 2, (0, 1)),
    ],
)
def test_axes(axes: Any, rank: int, expected: tuple[int, ...]) -> None:
    assert normalize_axes("op", axes, rank) == expected
    assert normalize_axes("op", axes if axes is None else ag.constant(axes, dtype=ag.int32), rank) == expected


def test_axis_errors() -> None:
    with says(InvalidArgumentError, "concat: axis 2 is out of range for a tensor of rank 2; use -2 to 1."):
        normalize_axis("concat", 2, 2)
    with says(InvalidArgumentError, "reduce_sum: axis 0 is out of range for a tensor of rank 0; it has no axes."):
        normalize_axes("reduce_sum", 0, 0)
    with says(InvalidArgumentError, "reduce_sum: axis (0, -2) names an axis of a rank 2 tensor twice; name each once."):
        normalize_axes("reduce_sum", (0, -2), 2)
    with says(TypeError, "concat: axis must be an integer; got 1.0 of type float."):
        normalize_axis("concat", 1.0, 2)


@settings(deadline=None)
@given(SHAPES, st.data())
def test_reduced_shapes_are_numpys(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1)) if shape else st.just(set()))))
    for keepdims in (False, True):
        assert reduced_shape(shape, axes, keepdims) == np.zeros(shape).sum(axes, keepdims=keepdims).shape


def test_shapes_as_arguments_of_ops() -> None:
    for shape in ((2, 3), [2, 3], TensorShape([2, 3]), ag.constant([2, 3]), np.array([2, 3]), [ag.constant(2), 3]):
        assert ag.zeros(shape).shape == (2, 3)
    assert ag.zeros(4).shape == (4,)
    assert ag.zeros(()).shape == ()
    with says(ValueError, "A fully known shape is needed here; got (?, 2)."):
        ag.zeros([None, 2])
    with says(TypeError, "A shape's sizes are integers or None; got 1.5 of type float."):
        ag.zeros([1.5])


def test_a_size_may_be_unknown() -> None:
    assert TensorShape((Dimension(None), Dimension(3))).as_list() == [None, 3]
    assert (Dimension(None), Dimension(3) + 1) == (None, 4)
