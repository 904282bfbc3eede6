"""Functions that take many elements at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_data import Dataset
from agog_testing import says

CALLS = [None, 1, 3]


def counted(calls: list[tuple[int, ...]]) -> Any:
    def function(x: Any) -> Any:
        calls.append(tuple(x.shape.as_list()))
        return x * x

    return function


@pytest.mark.parametrize("calls", CALLS)
def test_a_batch_is_one_call(calls: int | None) -> None:
    seen: list[tuple[int, ...]] = []
    dataset = Dataset.range(10).shuffle(10, seed=3).map(counted(seen), calls, vectorize=True).batch(4)
    expected = Dataset.range(10).shuffle(10, seed=3).map(lambda x: x * x).batch(4)
    assert [x.numpy().tolist() for x in dataset] == [x.numpy().tolist() for x in expected]
    assert sorted(seen) == [(2,), (4,), (4,)]


def test_a_batch_is_one_call_of_each_function() -> None:
    first: list[tuple[int, ...]] = []
    second: list[tuple[int, ...]] = []
    dataset = Dataset.range(6).map(counted(first), vectorize=True).map(counted(second), vectorize=True)
    assert [x.numpy().tolist() for x in dataset.batch(4, drop_remainder=True)] == [[0, 1, 16, 81]]
    assert first == second == [(4,)]


@pytest.mark.parametrize("calls", CALLS)
def test_elements_are_rows_of_few_calls(calls: int | None) -> None:
    seen: list[tuple[int, ...]] = []
    dataset = Dataset.range(200).map(counted(seen), calls, vectorize=True)
    assert [int(x) for x in dataset] == [x * x for x in range(200)]
    assert sorted(seen) == [(8,), (64,), (64,), (64,)]


def test_elements_keep_their_structure() -> None:
    source = Dataset.from_tensor_slices({"a": np.arange(6.0).reshape(3, 2), "b": ["x", "y", "z"]})
    dataset = source.map(lambda e: (e["b"], {"sum": ag.reduce_sum(e["a"], -1)}), vectorize=True)
    assert [(text.numpy(), float(rest["sum"])) for text, rest in dataset] == [(b"x", 1.0), (b"y", 5.0), (b"z", 9.0)]
    assert dataset.output_types == (ag.string, {"sum": ag.float64})
    assert dataset.output_shapes == (ag.TensorShape([]), {"sum": ag.TensorShape([])})
    assert dataset.batch(2).output_shapes == (ag.TensorShape([None]), {"sum": ag.TensorShape([None])})


def test_elements_that_are_no_rows_are_stacked_first() -> None:
    dataset = Dataset.range(5).filter(lambda x: x > 1).map(lambda x: x + 1, vectorize=True)
    assert [int(x) for x in dataset.shuffle(1)] == [3, 4, 5]


@pytest.mark.parametrize("batch", [0, 3])
def test_the_first_axis_must_stay(batch: int) -> None:
    dataset = Dataset.range(3).map(lambda x: (x, ag.reduce_sum(x)), vectorize=True)
    with says(
        InvalidArgumentError,
        "map: with vectorize=True the function test_the_first_axis_must_stay.<locals>.<lambda> was given 3 elements, "
        "joined along a new first axis; component 1 of its result has shape (), but its first size must be 3 too. "
        "A function of single elements is for vectorize=False.",
    ):
        list(dataset.batch(batch) if batch else dataset)


def test_errors_name_the_batch() -> None:
    def function(x: Any) -> Any:
        if int(x[0]) == 4:
            raise KeyError("four")
        return x

    iterator = iter(Dataset.range(8).map(function, vectorize=True).batch(2))
    next(iterator), next(iterator)
    with pytest.raises(KeyError) as info:
        next(iterator)
    assert info.value.__notes__ == [
        "This happened in map, in the function test_errors_name_the_batch.<locals>.function, at batch 2 "
        "(the first is 0)."
    ]
    assert next(iterator).numpy().tolist() == [6, 7]


def test_random_numbers_do_not_depend_on_threads() -> None:
    def noisy(calls: int | None) -> list[list[float]]:
        ag.set_random_seed(4)
        dataset = Dataset.range(6).map(lambda x: ag.random_uniform(x.shape), calls, vectorize=True).batch(2).repeat(2)
        return [x.numpy().tolist() for x in dataset]

    assert noisy(None) == noisy(1) == noisy(3)
    assert len({x for row in noisy(None) for x in row}) == 12


@pytest.mark.parametrize("calls", CALLS)
def test_a_position_is_an_element(calls: int | None) -> None:
    dataset = Dataset.range(130).map(lambda x: x + 1, calls, vectorize=True)
    for position in (0, 1, 63, 64, 65, 128, 130):
        iterator = iter(dataset)
        for _ in range(position):
            next(iterator)
        other = iter(dataset)
        other.load_state_dict(iterator.state_dict())
        assert [int(x) for x in other] == list(range(position + 1, 131))
