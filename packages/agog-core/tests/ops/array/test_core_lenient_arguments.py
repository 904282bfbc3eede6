"""Arguments in the forms that programs of TensorFlow pass them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says


def test_sparse_tensors_have_shapes() -> None:
    value = ag.SparseTensorValue(((0, 1), (1, 0)), (42, 24), (2, 3))
    for sparse in (value, ag.SparseTensor.from_value(value)):
        assert ag.shape(sparse).numpy().tolist() == [2, 3]
        assert (int(ag.size(sparse)), int(ag.rank(sparse))) == (6, 2)


def test_an_axis_may_be_the_only_element_of_a_list() -> None:
    assert ag.expand_dims("hello", [0]).shape == (1,)
    assert ag.expand_dims(np.zeros((2, 3)), (-1,)).shape == (2, 3, 1)


def test_a_number_fills_an_empty_shape() -> None:
    empty = ag.constant(-np.inf, shape=[0, 2])
    assert (empty.shape, empty.dtype) == ((0, 2), ag.float32)


def test_bools_are_scattered() -> None:
    found = ag.scatter_nd([[4], [3], [3], [7]], [False, True, False, True], [8])
    assert found.numpy().tolist() == [False, False, False, True, False, False, False, True]


def test_ranks_of_sparse_tensors_and_floats() -> None:
    sparse = ag.SparseTensor([[0]], [1.0], [2])
    assert ag.assert_same_float_dtype([sparse, ag.constant(1.0)]) == ag.float32


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: ag.expand_dims(1, axis=[0, 1]),
        InvalidArgumentError,
        "expand_dims: axis must be a tensor with a single value; got [0, 1].",
    ),
    (
        lambda: ag.squeeze([[1, 2, 3]], [1]),
        InvalidArgumentError,
        "squeeze: Can not squeeze dim[1], expected a dimension of 1, got 3: the tensor has shape (1, 3).",
    ),
    (
        lambda: ag.fill((2, -1), 7),
        InvalidArgumentError,
        "fill: dims must be a shape; got (2, -1). A shape's sizes are not negative; got -1.",
    ),
    (
        lambda: ag.split([1, 2, 3], [1, 2], num=3),
        InvalidArgumentError,
        "split: num says 3 pieces; there are 2.",
    ),
    (
        lambda: ag.assert_rank([1], 0.5),
        TypeError,
        "assert_rank: the rank must be of type <dtype: 'int32'>, or another integer; got 0.5 of dtype float32.",
    ),
    (
        lambda: ag.assert_rank_in([1], ([1, 2],)),
        ValueError,
        "assert_rank_in: Rank must be a scalar; got [1, 2] of shape (2,).",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG, ids=[text.partition(":")[0] for *_, text in WRONG])
def test_mistakes(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with says(error, text) as caught:
        call()
    assert type(caught.value) is error
