"""Sparse tensors as elements: made of dense ones, joined and taken apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import value_of, values

import agog_core as ag
from agog_core.tensors.sparse_tensor import SparseTensorValue
from agog_data import Dataset
from agog_data.transformations.batching import dense_to_sparse_batch
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def rows(lengths: list[int]) -> Dataset:
    return Dataset.from_tensor_slices(np.array(lengths, np.int32)).map(lambda n: ag.fill([int(n)], n))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=9), st.integers(1, 4), st.sampled_from([5, 8, None, -1]))
def test_all_values_of_rows_are_kept(lengths: list[int], size: int, width: int | None) -> None:
    batches = [lengths[k : k + size] for k in range(0, len(lengths), size)]
    expected = [
        [
            [[number, place] for number, length in enumerate(batch) for place in range(length)],
            [length for length in batch for _ in range(length)],
            [len(batch), max(batch) if width in (None, -1) else width],
        ]
        for batch in batches
    ]
    assert values(rows(lengths).apply(dense_to_sparse_batch(size, [width]))) == expected


# Seen in TensorFlow 2.21.
def test_rows_of_rows() -> None:
    dataset = Dataset.from_tensor_slices([1, 0, 3]).map(lambda n: ag.fill([int(n), 2], n))
    batches = dataset.apply(dense_to_sparse_batch(4, [None, 4]))
    assert values(batches) == [
        [
            [[0, 0, 0], [0, 0, 1], [2, 0, 0], [2, 0, 1], [2, 1, 0], [2, 1, 1], [2, 2, 0], [2, 2, 1]],
            [1, 1, 3, 3, 3, 3, 3, 3],
            [3, 3, 4],
        ]
    ]
    assert batches.output_types == ag.int32
    assert batches.output_shapes.as_list() == [None, None, 4]
    assert batches.output_classes is ag.SparseTensor


def test_scalars_strings_and_shapes_as_tensors() -> None:
    assert values(Dataset.range(5, 7).apply(dense_to_sparse_batch(2, []))) == [[[[0], [1]], [5, 6], [2]]]
    names = Dataset.from_tensor_slices([["a", "b"]])
    for shape in (ag.constant([3]), ag.TensorShape([3])):
        assert values(names.apply(dense_to_sparse_batch(1, shape))) == [[[[0, 0], [0, 1]], [b"a", b"b"], [1, 3]]]


def error(kind: type[Exception], dataset: Dataset) -> str:
    with pytest.raises(kind) as info:
        list(dataset)
    return str(info.value)


def test_what_cannot_be_joined() -> None:
    assert error(ag.errors.DataLossError, rows([1, 3]).apply(dense_to_sparse_batch(2, [2]))) == (
        "dense_to_sparse_batch: element 1 of batch 0 has shape (3,), which is larger than the row shape [2]."
    )
    assert error(InvalidArgumentError, rows([1, 3]).apply(dense_to_sparse_batch(1, [2, None]))) == (
        "dense_to_sparse_batch: element 0 of batch 0 has shape (1,), which has another rank than the row shape "
        "[2, None]."
    )
    mixed = Dataset.range(2).map(lambda n: ag.ones([2], [ag.int32, ag.float32][int(n)]))
    assert error(InvalidArgumentError, mixed.apply(dense_to_sparse_batch(2, [2]))) == (
        "dense_to_sparse_batch: element 1 of batch 0 has dtype float32; that of element 0 is int32."
    )
    pairs = Dataset.zip((Dataset.range(2), Dataset.range(2))).apply(dense_to_sparse_batch(2, []))
    single = "dense_to_sparse_batch: elements of one tensor each are expected; take one component with map() first."
    assert error(TypeError, pairs) == single
    with says(TypeError, single):
        pairs.output_types  # noqa: B018  # the access is what is tested
    with says(InvalidArgumentError, "dense_to_sparse_batch: batch_size must be greater than zero; got 0."):
        dense_to_sparse_batch(0, [1])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.integers(1, 4))
def test_unbatch_takes_sparse_batches_apart(lengths: list[int], size: int) -> None:
    expected = [[[[place] for place in range(n)], [n] * n, [6]] for n in lengths]
    batches = rows(lengths).apply(dense_to_sparse_batch(size, [6]))
    assert values(batches.unbatch()) == expected
    assert values(batches.unbatch().batch(size)) == values(batches)


def test_unbatch_takes_sparse_and_dense_apart_together() -> None:
    sparse = rows([1, 2]).apply(dense_to_sparse_batch(2, [2]))
    dataset = Dataset.zip((sparse, Dataset.range(2).batch(2))).unbatch()
    assert values(dataset) == [([[[0]], [1], [2]], 0), ([[[0], [1]], [2, 2], [2]], 1)]
    assert dataset.output_classes == (ag.SparseTensor, ag.Tensor)
    assert dataset.output_shapes[0].as_list() == [2]
    unequal = Dataset.zip((sparse, Dataset.range(1).batch(1))).unbatch()
    assert error(InvalidArgumentError, unequal) == (
        "unbatch: component 0 of element 0 has shape (2, 2) and component 1 has shape (1,); "
        "the first axes must have one length."
    )


MATRIX = ag.SparseTensor([[0, 1], [2, 0], [2, 3]], [5.0, 6.0, 7.0], [3, 4])
ROWS = [[[[1]], [5.0], [4]], [[], [], [4]], [[[0], [3]], [6.0, 7.0], [4]]]


def test_slices_of_sparse_tensors() -> None:
    dataset = Dataset.from_tensor_slices({"x": MATRIX, "y": [1, 2, 3]})
    assert values(dataset) == [{"x": row, "y": y} for row, y in zip(ROWS, [1, 2, 3], strict=True)]
    assert dataset.output_classes == {"x": ag.SparseTensor, "y": ag.Tensor}
    assert dataset.output_shapes == {"x": [4], "y": []}
    assert values(dataset.batch(3)) == [{"x": value_of(MATRIX), "y": [1, 2, 3]}]
    iterator = dataset.make_one_shot_iterator()
    next(iterator)
    other = dataset.make_one_shot_iterator()
    other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
    assert values(other) == values(dataset)[1:]


def test_one_element_with_a_sparse_tensor() -> None:
    dataset = Dataset.from_tensors((MATRIX, [1.0]))
    assert values(dataset.repeat(2)) == 2 * [(value_of(MATRIX), [1.0])]
    assert dataset.output_types == (ag.float32, ag.float32)
    assert dataset.output_shapes == ([3, 4], [1])


def test_rows_of_sparse_tensors_as_triples() -> None:
    dataset = Dataset.from_sparse_tensor_slices(MATRIX)
    assert values(dataset) == [tuple(row) for row in ROWS]
    assert dataset.output_types == (ag.int64, ag.float32, ag.int64)
    assert [shape.as_list() for shape in dataset.output_shapes] == [[None, 1], [None], [1]]
    with says(TypeError, "from_sparse_tensor_slices: a SparseTensor is expected; got 3 of type int."):
        Dataset.from_sparse_tensor_slices(3)


def test_sparse_slices_of_different_lengths() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        list(Dataset.from_tensor_slices((MATRIX, [1, 2])))
    assert "the first axes must have one length" in str(caught.value)


VALUE = SparseTensorValue(np.array([[0, 1], [2, 0], [2, 3]]), np.array([5.0, 6.0, 7.0], np.float32), np.array([3, 4]))


def test_values_of_sparse_tensors_are_elements() -> None:
    for dataset in (Dataset.from_tensors(VALUE), Dataset.range(1).map(lambda x: VALUE)):
        assert values(dataset) == [value_of(MATRIX)]
        assert dataset.output_classes is ag.SparseTensor
        assert dataset.output_types is ag.float32
    pairs = Dataset.from_tensors({"x": VALUE, "y": (1, VALUE)})
    assert values(pairs) == [{"x": value_of(MATRIX), "y": (1, value_of(MATRIX))}]
    assert values(Dataset.range(2).map(lambda x: (x, VALUE))) == [(0, value_of(MATRIX)), (1, value_of(MATRIX))]


def test_slices_of_values_of_sparse_tensors() -> None:
    assert values(Dataset.from_tensor_slices((VALUE, [1, 2, 3]))) == list(zip(ROWS, [1, 2, 3], strict=True))
    assert values(Dataset.from_sparse_tensor_slices(VALUE)) == [tuple(row) for row in ROWS]


def test_a_value_of_a_sparse_tensor_is_a_namedtuple() -> None:
    assert VALUE._asdict() == {"indices": VALUE.indices, "values": VALUE.values, "dense_shape": VALUE.dense_shape}
    other = VALUE._replace(dense_shape=[3, 9])
    assert type(other) is SparseTensorValue
    assert (other.indices is VALUE.indices, other.values is VALUE.values, other.dense_shape) == (True, True, [3, 9])
    assert SparseTensorValue._make([1, 2, 3]) == SparseTensorValue(1, 2, 3)
    with says(ValueError, "SparseTensorValue has the parts indices, values, dense_shape; got 'shape'."):
        VALUE._replace(shape=[3, 9])
