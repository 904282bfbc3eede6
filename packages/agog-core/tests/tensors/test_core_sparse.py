"""Dense tensors and sums of sparse ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.indexing.sparse import sparse_reduce_sum, sparse_tensor_to_dense, sparse_to_dense
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_testing import says

POSITIONS = np.array([[0, 1], [1, 0], [1, 2]])


def test_numbers() -> None:
    dense = sparse_tensor_to_dense(SparseTensor(POSITIONS, [1.0, 2.0, 3.0], [2, 3]))
    assert dense.numpy().tolist() == [[0, 1, 0], [2, 0, 3]]
    dense = sparse_tensor_to_dense(SparseTensor(POSITIONS, [1, 2, 3], [2, 3]), default_value=-1)
    assert dense.numpy().tolist() == [[-1, 1, -1], [2, -1, 3]]


def test_strings_and_bools() -> None:
    dense = sparse_tensor_to_dense(SparseTensor([[1]], ["word"], [2]))
    assert dense.numpy().tolist() == [b"", b"word"]
    dense = sparse_tensor_to_dense(SparseTensor([[1]], [True], [2]))
    assert dense.numpy().tolist() == [False, True]


def test_nothing_is_given() -> None:
    dense = sparse_to_dense(np.zeros((0, 2), np.int64), [2, 1], np.zeros(0, np.float32), 3.0)
    assert dense.numpy().tolist() == [[3.0], [3.0]]


def test_one_index_and_one_value() -> None:
    assert sparse_to_dense(1, [3], 5).numpy().tolist() == [0, 5, 0]
    assert sparse_to_dense([0, 2], [3], 5).numpy().tolist() == [5, 0, 5]


def test_gradient() -> None:
    values = ag.constant([1.0, 2.0, 3.0])
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    with ag.GradientTape() as tape:
        tape.watch(values)
        loss = ag.reduce_sum(sparse_tensor_to_dense(SparseTensor(POSITIONS, values, [2, 3])) * weights)
    gradient = ag.convert_to_tensor(tape.gradient(loss, values))
    assert gradient.numpy().tolist() == [1, 3, 5]


@pytest.mark.parametrize(
    ("indices", "values", "text"),
    [
        (
            [[1], [0]],
            [1, 2],
            "sparse_to_dense: indices[1] = [0] is out of order. Many sparse ops require sorted indices without "
            "repetitions; or give validate_indices=False.",
        ),
        (
            [[1], [1]],
            [1, 2],
            "sparse_to_dense: indices[1] = [1] is repeated. Many sparse ops require sorted indices without "
            "repetitions; or give validate_indices=False.",
        ),
        (
            [[0, 1]],
            [1],
            "sparse_to_dense: indices of shape (1, 2) do not name positions in a tensor of shape (3,).",
        ),
        (
            [[0]],
            [1, 2],
            "sparse_to_dense: values of shape (2,) do not fit 1 indices; give as many, or one.",
        ),
    ],
)
def test_errors(indices: list[list[int]], values: list[int], text: str) -> None:
    with pytest.raises(ag.errors.InvalidArgumentError, match=f"^{re.escape(text)}$"):
        sparse_to_dense(indices, [3], values)


def test_input_must_be_sparse() -> None:
    text = "sparse_tensor_to_dense: the input must be a SparseTensor; got 1 of type int."
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        sparse_tensor_to_dense(1)  # type: ignore[arg-type]  # it is wrong


@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0, 1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums(axis: object, keepdims: bool) -> None:
    sparse = SparseTensor([[0, 1], [2, 0], [2, 1]], [5.0, 6.0, -1.0], [3, 2])
    dense = np.array([[0, 5], [0, 0], [6, -1]], np.float32)
    wanted = dense.sum(axis if not isinstance(axis, list) else tuple(axis), keepdims=keepdims)
    np.testing.assert_array_equal(sparse_reduce_sum(sparse, axis, keepdims).numpy(), wanted)


def test_gradients_of_sums() -> None:
    values = ag.constant([5.0, 6.0])
    (gradient,) = ag.gradients_function(
        lambda v: ag.reduce_sum(sparse_reduce_sum(SparseTensor([[0, 1], [1, 0]], v, [2, 2]), 0) * [2.0, 3.0])
    )(values)
    assert gradient.numpy().tolist() == [3.0, 2.0]


def test_what_is_not_sparse() -> None:
    with says(TypeError, "sparse_reduce_sum: sp_input must be a SparseTensor; got list."):
        sparse_reduce_sum([1.0])  # type: ignore[arg-type]
