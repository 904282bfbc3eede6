"""Functions in a pipeline: how they are called, where they run, and how they fail."""

from __future__ import annotations

import threading
import traceback
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_data import Dataset
from agog_testing import says

Pair = namedtuple("Pair", ["a", "b"])
CALLS = [None, 1, 2, 5, -1]


def numbers(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


def test_functions_are_plain_python() -> None:
    def function(x: Any) -> Any:
        if x > 2:
            return float(x.numpy()) / 2
        return 0.0

    assert [x.numpy() for x in Dataset.range(5).map(function)] == [0.0, 0.0, 0.0, 1.5, 2.0]


def test_a_tuple_is_several_arguments_and_nothing_else_is() -> None:
    received: list[tuple[Any, ...]] = []

    def keep(*arguments: Any) -> int:
        received.append(arguments)
        return 0

    for structure in (([1], [2]), Pair([1], [2]), {"a": [1]}, [1], (([1], [2]), [3])):
        numbers(Dataset.from_tensor_slices(structure).map(keep))
    assert [len(arguments) for arguments in received] == [2, 1, 1, 1, 2]
    assert type(received[1][0]) is Pair
    assert type(received[4][0]) is tuple


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ([1, 2.5], (1, 2.5)),
        (([1, 2], 3), ([1, 2], 3)),
        ({"a": [1], "b": (2,)}, {"a": [1], "b": (2,)}),
        (Pair(1, [2]), Pair(1, [2])),
        (np.float64(1.5), 1.5),
        ("text", b"text"),
        (True, True),
    ],
)
def test_results(result: Any, expected: Any) -> None:
    (element,) = Dataset.range(1).map(lambda x: result)
    assert ag.nest.map_structure(lambda t: np.asarray(t.numpy()).tolist(), element) == expected
    assert type(element) is type(expected) or isinstance(element, ag.Tensor)


def test_a_variable_as_result_is_its_value_at_that_time() -> None:
    variable = ag.Variable(0.0)
    assert [float(x) for x in Dataset.range(3).map(lambda x: variable.assign_add(1.0))] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("calls", CALLS)
def test_order_is_kept(calls: int | None) -> None:
    assert numbers(Dataset.range(100).map(lambda x: x * x, calls)) == [x * x for x in range(100)]


def test_calls_run_at_the_same_time() -> None:
    barrier = threading.Barrier(3, timeout=20)

    def function(x: Any) -> Any:
        barrier.wait()  # passes only when three threads are here
        return x

    assert numbers(Dataset.range(9).map(function, num_parallel_calls=3)) == list(range(9))


def test_order_is_kept_when_later_elements_are_ready_earlier() -> None:
    second_done = threading.Event()

    def function(x: Any) -> Any:
        if int(x) == 0:
            assert second_done.wait(20)
        if int(x) == 1:
            second_done.set()
        return x

    assert numbers(Dataset.range(6).map(function, num_parallel_calls=2)) == list(range(6))


def raise_at_seven(x: Any) -> Any:
    if int(x) == 7:
        raise KeyError("seven")
    return x


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("prefetch", [0, 2])
def test_errors_come_with_traceback_and_number(calls: int | None, prefetch: int) -> None:
    iterator = iter(Dataset.range(5, 12).map(raise_at_seven, calls).prefetch(prefetch))
    assert [int(next(iterator)) for _ in range(2)] == [5, 6]
    with pytest.raises(KeyError) as info:
        next(iterator)
    assert info.value.args == ("seven",)
    assert info.value.__notes__ == [
        "This happened in map, in the function raise_at_seven, at element 2 (the first is 0)."
    ]
    assert "raise_at_seven" in [frame.name for frame in traceback.extract_tb(info.value.__traceback__)]
    assert numbers(iterator) == [8, 9, 10, 11]


@pytest.mark.parametrize("calls", CALLS)
def test_stop_iteration_in_a_function_is_an_error(calls: int | None) -> None:
    def function(x: Any) -> Any:
        return next(iter([])) if int(x) == 1 else x

    iterator = iter(Dataset.range(3).map(function, calls))
    next(iterator)
    with says(
        RuntimeError,
        "map: the function test_stop_iteration_in_a_function_is_an_error.<locals>.function raised StopIteration at "
        "element 1.",
    ):
        next(iterator)


def test_a_result_that_is_no_tensor() -> None:
    with pytest.raises(ValueError, match="None") as info:
        next(iter(Dataset.range(3).map(lambda x: None)))
    assert info.value.__notes__ == [
        "This happened in map, in the function test_a_result_that_is_no_tensor.<locals>.<lambda>, at element 0 "
        "(the first is 0)."
    ]


def test_filter() -> None:
    assert numbers(Dataset.range(10).filter(lambda x: x % 3 < 1)) == [0, 3, 6, 9]
    assert numbers(Dataset.range(10).filter(lambda x: np.bool_(int(x) > 7))) == [8, 9]
    pairs = Dataset.from_tensor_slices(([1, 2, 3], [3, 2, 1])).filter(lambda x, y: x < y)
    assert [(int(x), int(y)) for x, y in pairs] == [(1, 3)]


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (lambda x: x, "dtype int64 and shape ()"),
        (lambda x: [x > 1], None),
        (lambda x: None, "None"),
        (lambda x: 1, "1"),
    ],
)
def test_a_predicate_returns_a_condition(result: Any, shown: str | None) -> None:
    with pytest.raises(ValueError, match="filter: the predicate") as info:
        next(iter(Dataset.range(3).filter(result)))
    if shown is not None:
        assert str(info.value) == (
            f"filter: the predicate must return a bool or a scalar boolean tensor; it returned {shown}."
        )


def test_tapes_do_not_see_the_pipeline() -> None:
    weight = ag.Variable(2.0)

    def function(x: Any) -> Any:
        with ag.GradientTape() as own:
            y = weight * x
        return y, own.gradient(y, weight)

    source = Dataset.from_tensor_slices([3.0, 4.0])
    for dataset in (
        source.map(function),
        source.map(function, 2),
        source.map(function).prefetch(1),
        source.map(function).batch(2),
    ):
        with ag.GradientTape() as tape:
            y, inner = next(iter(dataset))
            loss = ag.reduce_sum(y * y)
        assert float(ag.reduce_max(inner)) in (3.0, 4.0)  # a tape of the function itself works
        assert tape.gradient(loss, weight) is None


def test_tapes_see_what_the_loop_does() -> None:
    weight = ag.Variable(2.0)
    with ag.GradientTape() as tape:
        loss = ag.add_n([weight * x for x in Dataset.from_tensor_slices([3.0, 4.0]).map(lambda x: x + 1.0).prefetch(1)])
    assert float(tape.gradient(loss, weight)) == 9.0


def noisy(calls: int | None, prefetch: int = 0) -> list[float]:
    ag.set_random_seed(4)
    dataset = Dataset.range(6).map(lambda x: ag.random_uniform([]), calls).repeat(2).prefetch(prefetch)
    return [float(x) for x in dataset] + [float(x) for x in dataset]


def test_random_ops_do_not_depend_on_threads() -> None:
    expected = noisy(None)
    assert len(set(expected)) == 24  # another value for each element, epoch and iterator
    for calls in (1, 2, 4):
        assert noisy(calls) == expected
        assert noisy(calls, prefetch=3) == expected


def test_random_ops_leave_the_loop_alone() -> None:
    def loop(calls: int | None) -> list[float]:
        ag.set_random_seed(4)
        dataset = Dataset.range(5).map(lambda x: ag.random_uniform([]), calls).prefetch(2)
        return [float(ag.random_uniform([])) for _ in dataset]

    assert loop(None) == loop(3)


def test_elements_are_on_the_device_of_the_iterator() -> None:
    for device in ag.list_devices():
        with ag.device(device):
            source = Dataset.from_tensor_slices(([1.0, 2.0, 3.0], ["a", "b", "c"]))
            datasets = [
                source.map(lambda x, y: x),
                source.map(lambda x, y: ag.constant(1.0) + x, 2).prefetch(1).batch(2),
                Dataset.from_tensor_slices([[1.0], [2.0]]).batch(2).prefetch(1),
            ]
            iterators = [iter(dataset) for dataset in datasets]
        for iterator in iterators:  # the scope is left
            assert {x.device for x in iterator} == {device}
