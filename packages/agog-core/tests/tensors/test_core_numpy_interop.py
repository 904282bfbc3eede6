"""NumPy and tensors: functions take them, mixed arithmetic gives tensors, and arrays are views or copies as asked."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_testing import says

OPERATORS: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.mark.parametrize("make", [ag.constant, ag.Variable], ids=["tensor", "variable"])
def test_functions_of_numpy_take_tensors(make: Callable[[Any], Any]) -> None:
    x = make(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert np.square(x).tolist() == [[1.0, 4.0], [9.0, 16.0]]
    assert np.sum(x, axis=0).tolist() == [4.0, 6.0]
    assert np.concatenate([x, x]).shape == (4, 2)
    assert np.linalg.det(x) == pytest.approx(-2.0)


@pytest.mark.parametrize("function", OPERATORS, ids=lambda function: function.__name__)
def test_array_and_tensor_give_a_tensor(function: Callable[[Any, Any], Any]) -> None:
    array, other = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    for left, right in ((array, ag.constant(other)), (ag.constant(array), other)):
        result = function(left, right)
        assert type(result) is ag.Tensor
        np.testing.assert_allclose(result.numpy(), function(array, other), rtol=1e-15)


def test_array_and_variable_give_a_tensor() -> None:
    result = np.array([1.0, 2.0]) - ag.Variable(np.array([3.0, 5.0]))
    assert type(result) is ag.Tensor
    assert result.numpy().tolist() == [-2.0, -3.0]


@pytest.mark.parametrize("function", [operator.lt, operator.ge], ids=lambda function: function.__name__)
def test_comparisons_of_array_and_tensor_give_a_tensor(function: Callable[[Any, Any], Any]) -> None:
    result = function(np.array([1.0, 7.0]), ag.constant(np.array([3.0, 5.0])))
    assert type(result) is ag.Tensor
    assert result.numpy().tolist() == [function(1.0, 3.0), function(7.0, 5.0)]


@pytest.mark.parametrize("make", [ag.constant, ag.Variable], ids=["tensor", "variable"])
@pytest.mark.parametrize("copy", [None, False], ids=str)
def test_arrays_that_need_no_copy_are_read_only(make: Callable[[Any], Any], copy: bool | None) -> None:
    array = np.asarray(make(np.array([1.0, 2.0])), copy=copy)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 7.0


@pytest.mark.parametrize("make", [ag.constant, ag.Variable], ids=["tensor", "variable"])
def test_a_copy_may_be_written(make: Callable[[Any], Any]) -> None:
    x = make(np.array([1.0, 2.0]))
    for array in (np.asarray(x, copy=True), np.array(x), np.asarray(x, np.float32)):
        array[0] = 7.0
    assert x.numpy().tolist() == [1.0, 2.0]


def test_another_dtype_without_a_copy_is_an_error() -> None:
    with says(ValueError, "A tensor of dtype float32 needs a copy to become an array of dtype float64."):
        np.asarray(ag.constant([1.0]), np.float64, copy=False)


def test_an_array_of_a_variable_stays_what_it_was() -> None:
    v = ag.Variable(np.ones(1000))
    array = np.asarray(v)
    v.assign_add(np.ones(1000))
    assert array.tolist() == [1.0] * 1000


def test_bits_of_integers() -> None:
    x, y = ag.constant([5, 6]), ag.constant([3, 3])
    found = [(x & y), (x | y), (x ^ y), (x << y), (x >> 1), ~x, +x, 3 & x]
    expected = [[1, 2], [7, 7], [6, 5], [40, 48], [2, 3], [-6, -7], [5, 6], [1, 2]]
    assert [result.numpy().tolist() for result in found] == expected


def test_bools_stay_logic() -> None:
    x, y = ag.constant([True, False]), ag.Variable([True, True])
    found = [(x & y), (x | y), (x ^ y), ~x, True ^ x]
    assert [result.numpy().tolist() for result in found] == [
        *([True, False], [True, True], [False, True]),
        *([False, True], [False, True]),
    ]


def test_transposes_and_size() -> None:
    x = ag.constant(np.arange(24).reshape(2, 3, 4))
    assert x.size == 24
    assert x.mT.numpy().tolist() == np.arange(24).reshape(2, 3, 4).swapaxes(1, 2).tolist()
    assert x[0].T.numpy().tolist() == np.arange(12).reshape(3, 4).T.tolist()
    with says(ValueError, "Tensor.T is for matrices; got shape (2, 3, 4). Use x.mT or tf.transpose(x, perm)."):
        _ = x.T


def test_to_device() -> None:
    x = ag.constant([1.0])
    assert x.to_device(x.device) is x
    with says(ValueError, "Tensor.to_device: stream must be None; got 1."):
        x.to_device(x.device, stream=1)  # type: ignore[arg-type]  # that is what is tested


def test_shapes_are_sequences() -> None:
    from collections.abc import Sequence

    shape = ag.TensorShape([2, 3, 2])
    assert isinstance(shape, Sequence)
    assert (shape.index(3), shape.index(2, 1), shape.count(2)) == (1, 2, 2)
    before = (1,)
    assert before + shape == [1, 2, 3, 2]
    assert np.zeros(shape).shape == (2, 3, 2)
    assert shape == [2, 3.0, 2]
    assert shape != (2, 3)
