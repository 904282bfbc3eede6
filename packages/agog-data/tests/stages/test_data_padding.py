"""Padded batches, compared with a loop over lists."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_testing import says

Pair = namedtuple("Pair", ["x", "name"])


def ragged(lengths: list[int]) -> Dataset:
    """Element number i holds i + 1, lengths[i] times."""
    rows = [[i + 1] * length for i, length in enumerate(lengths)]
    return Dataset.range(len(rows)).map(lambda i: ag.constant(np.array(rows[int(i)], np.int64)))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 5), max_size=9),
    st.integers(1, 4),
    st.sampled_from([None, -1, 5, 7]),
    st.integers(-3, 3),
    st.booleans(),
)
def test_rows_are_filled_up(lengths: list[int], size: int, width: int | None, value: int, drop: bool) -> None:
    rows = [[i + 1] * length for i, length in enumerate(lengths)]
    batches = [rows[i : i + size] for i in range(0, len(rows), size)]
    if drop:
        batches = [batch for batch in batches if len(batch) == size]
    expected = []
    for batch in batches:
        target = max(map(len, batch)) if width in (None, -1) else width
        expected.append([row + [value] * (target - len(row)) for row in batch])
    assert values(ragged(lengths).padded_batch(size, [width], value, drop)) == expected


def test_two_axes_are_filled_up() -> None:
    dataset = Dataset.range(1, 3).map(lambda n: ag.ones([int(n), 3 - int(n)]))
    (batch,) = dataset.padded_batch(2, [None, 3], 9.0)
    assert batch.dtype == ag.float32
    assert batch.numpy().tolist() == [[[1, 1, 9], [9, 9, 9]], [[1, 9, 9], [1, 9, 9]]]


def test_scalars_and_rows_without_elements() -> None:
    assert values(Dataset.range(3).padded_batch(2, [])) == [[0, 1], [2]]
    (batch,) = ragged([0, 0]).padded_batch(2, [None])
    assert batch.shape == (2, 0)


def test_structures_and_strings() -> None:
    words = [["a"], ["b", "cc"]]
    dataset = Dataset.range(2).map(lambda i: Pair({"n": i}, ag.constant(words[int(i)])))
    (batch,) = dataset.padded_batch(2, Pair({"n": ()}, ag.TensorShape([None])))
    assert type(batch) is Pair
    assert batch.x["n"].numpy().tolist() == [0, 1]
    assert batch.name.numpy().tolist() == [[b"a", b""], [b"b", b"cc"]]
    (batch,) = dataset.padded_batch(2, Pair({"n": []}, ag.constant([3], ag.int64)), Pair({"n": None}, "-"))
    assert batch.name.numpy().tolist() == [[b"a", b"-", b"-"], [b"b", b"cc", b"-"]]


def test_dtypes_stay() -> None:
    for dtype in ("bool", "uint8", "float16", "bfloat16", "complex64"):
        dataset = Dataset.from_tensor_slices(ag.cast(ag.ones([2, 3]), dtype)).padded_batch(2, [4])
        (batch,) = dataset
        assert batch.dtype.name == dtype
        assert ag.cast(batch, ag.float32).numpy().tolist() == [[1, 1, 1, 0]] * 2
        assert dataset.output_shapes.as_list() == [None, 4]


def test_specs_are_known() -> None:
    dataset = ragged([1, 2]).padded_batch(2, [None], drop_remainder=True)
    assert dataset.output_types == ag.int64
    assert dataset.output_shapes.as_list() == [2, None]
    batches = ragged([3, 3]).padded_batch(2, [None]).map(lambda x: x + 1)
    assert batches.output_shapes.as_list()[0] is None


def failure(kind: type[Exception], dataset: Dataset) -> str:
    with pytest.raises(kind) as info:
        list(dataset)
    return str(info.value)


def test_errors_of_elements() -> None:
    assert failure(ag.errors.DataLossError, ragged([1, 3]).padded_batch(2, [2])) == (
        "padded_batch: component 0 of element 1 of batch 0 has shape (3,), which is larger than its padded shape (2,). "
        "Use None for sizes that shall be the longest of each batch."
    )
    assert failure(ag.errors.InvalidArgumentError, ragged([1, 3]).batch(1).padded_batch(1, [None])) == (
        "padded_batch: component 0 of element 0 of batch 0 has shape (1, 1), but padded_shapes has (?,) for it, "
        "which has 1 axes. Padding keeps the number of axes."
    )
    dataset = Dataset.range(2).map(lambda x: ag.cast(x, ag.float32) if int(x) else x)
    assert failure(ag.errors.InvalidArgumentError, dataset.padded_batch(2, [])) == (
        "padded_batch: component 0 of element 1 of batch 0 has dtype float32; element 0 has int64. "
        "A batch needs equal dtypes."
    )
    dataset = Dataset.range(2).map(lambda x: (x, x) if int(x) == 0 else (x, x, x))
    assert failure(ag.errors.InvalidArgumentError, dataset.padded_batch(2, ([], []))).startswith(
        "padded_batch: all elements of a batch must have one structure; where element 0 has a tuple of 2, another has ("
    )


def test_sparse_tensors_are_refused() -> None:
    dataset = Dataset.range(2).map(lambda x: (x, ag.SparseTensor([[0]], [1.0], [2])))
    assert failure(TypeError, dataset.padded_batch(2, ([], [None]))) == (
        "padded_batch: component 1 of the elements is a SparseTensor, and only tensors can be taken; "
        "make one of it with map() and sparse_tensor_to_dense() first."
    )


def test_errors_of_arguments() -> None:
    with says(ag.errors.InvalidArgumentError, "padded_batch: batch_size must be greater than zero; got 0."):
        ragged([1]).padded_batch(0, [None])
    one, pair = ragged([1]), Dataset.zip((ragged([1]), {"a": ragged([1])}))
    assert failure(TypeError, pair.padded_batch(1, [None])) == (
        "padded_batch: padded_shapes must have the structure of the elements, which have a tuple of 2; "
        "got [None] there."
    )
    assert failure(TypeError, pair.padded_batch(1, ([None], {"b": [None]}))) == (
        "padded_batch: padded_shapes must have the structure of the elements, which have a dict with the keys ['a']; "
        "got {'b': [None]} there."
    )
    assert failure(TypeError, pair.padded_batch(1, ([None], {"a": [None]}), 0)) == (
        "padded_batch: padding_values must have the structure of the elements, which have a tuple of 2; got 0 there."
    )
    assert failure(TypeError, one.padded_batch(1, "x")) == (
        "padded_batch: a shape in padded_shapes must be a TensorShape, a list of sizes or None, "
        "or a one-dimensional integer tensor; got 'x'."
    )
    assert failure(ValueError, one.padded_batch(1, [-2])) == (
        "padded_batch: sizes in padded_shapes must be None or at least -1; got [-2]."
    )
    assert failure(ValueError, one.padded_batch(1, ag.TensorShape(None))) == (
        "padded_batch: a shape in padded_shapes must have a known number of axes."
    )
    assert failure(TypeError, one.padded_batch(1, [None], ag.constant(0.0))) == (
        "padded_batch: the padding value has dtype float32, but its component has int64."
    )
    assert failure(TypeError, one.padded_batch(1, [None], "x")).startswith(
        "padded_batch: the padding value 'x' is none for int64: "
    )
    assert failure(ValueError, one.padded_batch(1, [None], [1, 2])) == (
        "padded_batch: a padding value must be a scalar; got shape (2,)."
    )
    with says(ValueError, "padded_batch: component 0 has shape (3,), which cannot be padded to (2,)."):
        _ = Dataset.from_tensors([1, 2, 3]).padded_batch(1, [2]).output_shapes
