"""Distances of sequences, against the recursive definition; the time of day."""

from __future__ import annotations

import time
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import SparseTensor
from agog_core.errors import InvalidArgumentError
from agog_core.ops.sorting.editing import collapse_repeated
from agog_core.tensors.sparse_tensor import SparseTensorValue, convert_to_tensor_or_sparse_tensor
from agog_testing import says

SEED = 3


def sparse(rows: dict[tuple[int, ...], list[int]], shape: tuple[int, ...]) -> SparseTensor:
    places = [(*row, n) for row, values in sorted(rows.items()) for n in range(len(values))]
    values = np.array([value for _, values in sorted(rows.items()) for value in values], np.int64)
    return SparseTensor(np.array(places, np.int64).reshape(-1, len(shape)), values, np.array(shape, np.int64))


def distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    @cache
    def between(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(
            between(i - 1, j) + 1, between(i, j - 1) + 1, between(i - 1, j - 1) + (first[i - 1] != second[j - 1])
        )

    return between(len(first), len(second))


@pytest.mark.parametrize("normalize", [False, True])
def test_against_the_definition(normalize: bool) -> None:
    rng = np.random.default_rng(SEED)
    rows: list[dict[tuple[int, ...], list[int]]] = [
        {place: rng.integers(0, 3, rng.integers(0, 7)).tolist() for place in np.ndindex(2, 3)} for _ in range(2)
    ]
    shape = (2, 3, 7)
    got = ag.edit_distance(sparse(rows[0], shape), sparse(rows[1], shape), normalize).numpy()
    for place in np.ndindex(2, 3):
        expected: float = distance(tuple(rows[0][place]), tuple(rows[1][place]))
        if normalize and expected:
            expected = expected / len(rows[1][place]) if rows[1][place] else np.inf
        assert got[place] == np.float32(expected), (SEED, place, rows)


def test_sizes_may_differ() -> None:
    got = ag.edit_distance(sparse({(0,): [1]}, (1, 1)), SparseTensorValue([[2, 0]], np.array([1]), [3, 1]))
    assert got.numpy().tolist() == [np.inf, 0.0, 1.0]


@pytest.mark.parametrize(
    ("truth", "error", "text"),
    [
        ([1.0], TypeError, "edit_distance: truth must be a SparseTensor; got [1.0] of type list."),
        (
            SparseTensor([[0]], [1.0], [1]),
            InvalidArgumentError,
            "edit_distance: hypothesis and truth must be of one dtype and rank; got int64 of shape (1, 1) and float32 "
            "of shape (1,).",
        ),
    ],
)
def test_errors(truth: Any, error: type[Exception], text: str) -> None:
    with says(error, text):
        ag.edit_distance(sparse({(0,): [1]}, (1, 1)), truth)


def test_sparse_tensors_of_values() -> None:
    value = SparseTensorValue([[0, 1]], [5.0], [1, 2])
    assert SparseTensor.from_value(SparseTensor.from_value(value)).values.numpy().tolist() == [5.0]
    with says(TypeError, "SparseTensor.from_value: expected a SparseTensor or a SparseTensorValue; got 5 of type int."):
        SparseTensor.from_value(5)


def test_time_goes_on() -> None:
    before = time.time()
    now = ag.timestamp()
    assert now.dtype is ag.dtypes.float64
    assert before <= now.numpy() <= time.time()


def test_repetitions() -> None:
    rng = np.random.default_rng(SEED)
    labels, lengths = rng.integers(0, 2, (5, 9)), np.array([9, 0, 1, 4, 9])
    rows, counts = collapse_repeated(labels, lengths)
    expected = [[value for value, _ in groupby(row[:length])] for row, length in zip(labels, lengths, strict=True)]
    width = max(map(len, expected))
    assert rows.numpy().tolist() == [[*row, *[0] * (width - len(row))] for row in expected], SEED
    assert (counts.numpy().tolist(), counts.dtype.name) == ([len(row) for row in expected], "int64")
    assert collapse_repeated(ag.zeros([2, 0]), [0, 0])[0].shape == (2, 0)
    assert collapse_repeated(ag.zeros([0, 3]), ag.zeros([0], "int32"))[0].shape == (0, 0)
    with says(
        InvalidArgumentError,
        "collapse_repeated: labels must be of shape (batch, steps) and seq_length of shape (batch,); got shapes (2,) "
        "and (1,).",
    ):
        collapse_repeated([1, 2], [1])


def test_conversion_to_sparse_tensors() -> None:
    value = SparseTensorValue([[0, 1]], [5.0], [1, 2])
    sparse = convert_to_tensor_or_sparse_tensor(value, "float32")
    assert convert_to_tensor_or_sparse_tensor(sparse) is sparse
    assert convert_to_tensor_or_sparse_tensor([1], "int64").dtype is ag.dtypes.int64
    with says(
        RuntimeError,
        "convert_to_tensor_or_sparse_tensor: the SparseTensor is of dtype float32; int32 is asked for. Cast its "
        "values.",
    ):
        convert_to_tensor_or_sparse_tensor(value, "int32")
