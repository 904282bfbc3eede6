"""flat_map, interleave and unbatch, compared with loops over lists."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import values

import agog_core as ag
from agog_core import random as ag_random
from agog_data import Dataset
from agog_data.transformations.flattening import (
    enumerate_dataset,
    parallel_interleave,
    sloppy_interleave,
    unbatch,
)
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def rows(lengths: list[int]) -> Dataset:
    """Pairs of a number and how many elements its dataset has."""
    return Dataset.from_tensor_slices(np.array(lengths, np.int64)).enumerate()


def row(number: Any, length: Any) -> Dataset:
    return Dataset.range(length).map(lambda k: number * 100 + k)


def interleaved(lists: list[list[int]], cycle: int, block: int) -> Iterator[int]:
    waiting = [iter(each) for each in lists]
    places: list[Any] = [None] * cycle
    while waiting or any(places):
        for place in range(cycle):
            if places[place] is None:
                # An empty dataset leaves the place, whose turn is over, to the next one.
                places[place] = waiting.pop(0) if waiting else None
            for _ in range(block if places[place] else 0):
                try:
                    yield next(places[place])
                except StopIteration:
                    places[place] = None
                    break


LENGTHS = st.lists(st.integers(0, 5), max_size=9)


@settings(max_examples=50, deadline=None)
@given(LENGTHS)
def test_flat_map_gives_one_after_the_other(lengths: list[int]) -> None:
    expected = [n * 100 + k for n, length in enumerate(lengths) for k in range(length)]
    assert values(rows(lengths).flat_map(row)) == expected


@settings(max_examples=100, deadline=None)
@given(LENGTHS, st.integers(1, 6), st.integers(1, 4))
def test_interleave_takes_turns(lengths: list[int], cycle: int, block: int) -> None:
    lists = [[n * 100 + k for k in range(length)] for n, length in enumerate(lengths)]
    assert values(rows(lengths).interleave(row, cycle, block)) == list(interleaved(lists, cycle, block))


@settings(max_examples=15, deadline=None)
@given(LENGTHS, st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))
def test_threads_keep_the_order(lengths: list[int], cycle: int, block: int, calls: int, prefetch: int) -> None:
    expected = values(rows(lengths).interleave(row, cycle, block))
    assert values(rows(lengths).interleave(row, cycle, block, num_parallel_calls=calls)) == expected
    parallel = parallel_interleave(row, cycle, block, buffer_output_elements=1, prefetch_input_elements=prefetch)
    assert values(rows(lengths).apply(parallel)) == expected
    assert sorted(values(rows(lengths).apply(sloppy_interleave(row, cycle, block)))) == sorted(expected)


# What TensorFlow 2.21 gives; of lengths, cycle and block: its `interleave` has kept the order of 1.12.
@pytest.mark.parametrize(
    ("lengths", "cycle", "block", "expected"),
    [
        ([2, 0, 1, 3, 4], 3, 3, [0, 1, 200, 300, 301, 302, 400, 401, 402, 403]),
        ([3, 2, 1, 5, 4], 3, 4, [0, 1, 2, 100, 101, 200, 300, 301, 302, 303, 400, 401, 402, 403, 304]),
        ([0, 1, 5, 2, 0, 1, 5], 6, 3, [100, 200, 201, 202, 300, 301, 500, 600, 601, 602, 203, 204, 603, 604]),
    ],
)
def test_the_order_is_that_of_tensorflow(lengths: list[int], cycle: int, block: int, expected: list[int]) -> None:
    assert values(rows(lengths).interleave(row, cycle, block)) == expected


def test_structures_and_specs() -> None:
    dataset = Dataset.range(1, 3).flat_map(lambda n: Dataset.from_tensors({"n": n, "pair": (n, [1.0, 2.0])}))
    assert dataset.output_types == {"n": ag.int64, "pair": (ag.int64, ag.float32)}
    assert dataset.output_shapes["pair"][1].as_list() == [2]
    assert values(dataset)[1] == {"n": 2, "pair": (2, [1.0, 2.0])}
    assert dataset.batch(2).map(lambda x: x["n"] + 1).output_types == ag.int64


def random_rows(calls: int | None) -> Dataset:
    shared = Dataset.range(4).map(lambda k: k * 10).shuffle(4)  # one dataset, read again for each element

    def random_row(n: Any) -> Dataset:
        offset = ag.random_uniform([], maxval=1000, dtype=ag.int32)
        return shared.map(lambda k: (n, k, offset, ag.random_uniform([], maxval=1000, dtype=ag.int32)))

    return Dataset.range(5).interleave(random_row, 3, 1, calls).repeat(2)


def test_random_values_do_not_depend_on_threads() -> None:
    def drawn(calls: int | None) -> list[Any]:
        ag_random.set_generator(ag_random.Generator(seed=11))
        return values(random_rows(calls))

    expected = drawn(None)
    assert drawn(1) == expected
    assert drawn(4) == expected
    first, second = expected[:20], expected[20:]
    assert [element[0] for element in first] == [element[0] for element in second]
    assert first != second, "another epoch has other random values (seed 11)"
    orders = {tuple(k for n, k, *_ in first if n == number) for number in range(5)}
    assert len(orders) > 1, "each element has its own order of the shared dataset (seed 11)"


def test_sloppy_loses_nothing_when_resumed() -> None:
    def make() -> Dataset:
        return rows([3, 0, 5, 2, 4]).apply(sloppy_interleave(row, 2))

    expected = sorted(values(rows([3, 0, 5, 2, 4]).flat_map(row)))
    iterator = iter(make())
    seen: list[int] = []
    for count in range(len(expected) + 1):
        resumed = iter(make())
        resumed.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert sorted(seen + values(resumed)) == expected, f"resumed after {count} elements"
        seen += values([element] if (element := next(iterator, None)) is not None else [])
    assert sorted(seen) == expected


def test_sloppy_does_not_wait_for_the_slow_one() -> None:
    release = threading.Event()

    def slow_or_fast(n: Any) -> Dataset:
        return Dataset.range(3).map(lambda k: n * 10 + k if int(n) else (release.wait(60), k)[1])

    iterator = iter(Dataset.range(2).apply(parallel_interleave(slow_or_fast, 2, sloppy=True)))
    assert [int(next(iterator)) for _ in range(3)] == [10, 11, 12]
    release.set()
    assert values(iterator) == [0, 1, 2]


def test_threads_work_at_the_same_time() -> None:
    barrier = threading.Barrier(3, timeout=60)

    def meeting(n: Any) -> Dataset:
        return Dataset.range(1).map(lambda k: (barrier.wait(), n)[1])

    assert values(Dataset.range(3).interleave(meeting, 3, num_parallel_calls=3)) == [0, 1, 2]
    assert values(Dataset.range(3).apply(parallel_interleave(meeting, 3))) == [0, 1, 2]


def test_no_more_threads_work_than_were_asked_for() -> None:
    lock = threading.Lock()
    busy, most = 0, 0

    def work(k: Any) -> Any:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.002)
        with lock:
            busy -= 1
        return k

    dataset = Dataset.range(6).interleave(lambda n: Dataset.range(3).map(work), 4, num_parallel_calls=2)
    assert len(values(dataset)) == 18
    assert most <= 2


def failing(n: Any) -> Dataset:
    if int(n) == 1:
        raise ValueError("no dataset for this")
    return Dataset.range(2).map(lambda k: [n * 10 + k, 1 // (2 - int(n))][0])


@pytest.mark.parametrize(
    "make",
    [
        lambda source: source.interleave(failing, 2),
        lambda source: source.interleave(failing, 2, num_parallel_calls=2),
        lambda source: source.apply(parallel_interleave(failing, 2)),
    ],
)
def test_errors_come_in_their_place_and_name_the_element(make: Callable[[Dataset], Dataset]) -> None:
    iterator = iter(make(Dataset.range(4)))
    assert int(next(iterator)) == 0
    stage = iterator.state_dict()["stage"]
    with pytest.raises(ValueError, match="no dataset for this") as info:
        next(iterator)
    assert info.value.__notes__ == [
        f"This happened in {stage}, in the function failing, at element 1 (the first is 0).",
    ]
    assert int(next(iterator)) == 1
    with pytest.raises(ZeroDivisionError) as division:
        next(iterator)
    assert division.value.__notes__ == [
        "This happened in map, in the function failing.<locals>.<lambda>, at element 0 (the first is 0).",
        f"This happened in {stage}, in the dataset that the function failing returned for element 2 (the first is 0).",
    ]
    with pytest.raises(ZeroDivisionError):  # the second element of that dataset
        next(iterator)
    assert values(iterator) == [30, 31]


def test_sloppy_errors_arrive_too() -> None:
    iterator = iter(Dataset.range(4).apply(sloppy_interleave(failing, 2)))
    found: list[Any] = []
    errors = []
    while True:
        try:
            found.append(int(next(iterator)))
        except StopIteration:
            break
        except (ValueError, ZeroDivisionError) as error:
            errors.append(type(error).__name__)
    assert sorted(found) == [0, 1, 30, 31]
    assert sorted(errors) == ["ValueError", "ZeroDivisionError", "ZeroDivisionError"]


def test_errors_of_the_input_come_in_their_place() -> None:
    def source() -> Dataset:
        return Dataset.range(4).map(lambda n: [n, 1 // (1 - int(n) % 3)][0])

    def with_errors(elements: Iterable[Any]) -> list[Any]:
        found: list[Any] = []
        iterator = iter(elements)
        while True:
            try:
                found.append(int(next(iterator)))
            except ZeroDivisionError:
                found.append("error")
            except StopIteration:
                return found

    def twice(n: Any) -> Dataset:
        return Dataset.from_tensors(n).repeat(2)

    expected = [0, "error", 2, 0, 2, 3, 3]
    assert with_errors(source().interleave(twice, 2)) == expected
    assert with_errors(source().interleave(twice, 2, num_parallel_calls=2)) == expected
    assert with_errors(source().apply(parallel_interleave(twice, 2))) == expected
    sloppy = with_errors(source().apply(sloppy_interleave(twice, 2)))
    assert sorted(sloppy, key=str) == sorted(expected, key=str)


def test_the_function_must_return_a_dataset() -> None:
    with says(TypeError, "flat_map: the function must return a Dataset; it returned 3 of type int."):
        next(iter(Dataset.range(1).flat_map(lambda n: 3)))
    with says(TypeError, "interleave: a function is expected; got 3 of type int."):
        Dataset.range(1).interleave(3, 2)  # type: ignore[arg-type]


def test_arguments_are_checked() -> None:
    def error(call: Callable[[], Any]) -> str:
        with pytest.raises(InvalidArgumentError) as info:
            call()
        return str(info.value)

    dataset = Dataset.range(1)
    text = "must be greater than zero; got 0."
    assert error(lambda: dataset.interleave(row, 0)) == f"interleave: cycle_length {text}"
    assert error(lambda: dataset.interleave(row, 1, 0)) == f"interleave: block_length {text}"
    assert error(lambda: dataset.interleave(row, 1, 1, 0)) == f"interleave: num_parallel_calls {text}"
    assert error(lambda: parallel_interleave(row, 0)) == f"parallel_interleave: cycle_length {text}"
    assert error(lambda: parallel_interleave(row, 1, buffer_output_elements=0)) == (
        f"parallel_interleave: buffer_output_elements {text}"
    )
    assert error(lambda: parallel_interleave(row, 1, prefetch_input_elements=-1)) == (
        "parallel_interleave: prefetch_input_elements must not be negative; got -1."
    )
    with says(TypeError, "enumerate: start must be an integer; got 0.5 of type float."):
        dataset.enumerate(0.5)


def test_a_state_of_another_inner_dataset_is_refused_and_changes_nothing() -> None:
    iterator = iter(Dataset.range(3).flat_map(lambda n: Dataset.range(3)))
    next(iterator)
    other = iter(Dataset.range(3).flat_map(lambda n: Dataset.range(3).map(lambda k: k).take(2)))
    next(other)
    next(other)
    with says(
        InvalidArgumentError,
        "load_state_dict: state[...]['nested'] is of stage 'slices'; the iterator has stage 'take' there. "
        "A state fits only an iterator over a dataset with the same stages.",
    ):
        other.load_state_dict(iterator.state_dict())
    assert values(other) == [0, 1, 0, 1]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=6))
def test_unbatch_takes_batches_apart(lengths: list[int]) -> None:
    batches = [list(range(length)) for length in lengths]
    dataset = Dataset.range(len(batches)).map(lambda i: ag.constant(batches[int(i)], ag.int64))
    assert values(dataset.unbatch()) == [number for batch in batches for number in batch]
    assert values(dataset.apply(unbatch())) == values(dataset.unbatch())


def test_unbatch_keeps_structure_dtypes_and_shapes() -> None:
    data = {"x": np.arange(12, dtype=np.float16).reshape(2, 3, 2), "name": [["a", "b", "c"], ["d", "e", "f"]]}
    dataset = Dataset.from_tensor_slices(data).unbatch()
    assert dataset.output_types == {"x": ag.float16, "name": ag.string}
    assert dataset.output_shapes["x"].as_list() == [2]
    assert values(dataset)[4] == {"x": [8.0, 9.0], "name": b"e"}
    assert Dataset.range(4).batch(2).unbatch().map(lambda x: x).output_shapes.as_list() == []


def test_unbatch_needs_first_axes_of_one_length() -> None:
    with says(
        InvalidArgumentError,
        "unbatch: component 0 of element 0 is a scalar, which has no slices; all components need a first axis.",
    ):
        values(Dataset.range(2).unbatch())
    with says(
        InvalidArgumentError,
        "unbatch: component 0 of element 0 has shape (2,) and component 1 has shape (1, 1); "
        "the first axes must have one length.",
    ):
        values(Dataset.from_tensors(([1, 2], [[3]])).unbatch())
    with says(
        InvalidArgumentError,
        "unbatch: component 0 of element 0 is a dataset, which has no slices; all components need a first axis.",
    ):
        values(Dataset.range(2).window(2).unbatch())


def test_enumerate_numbers_from_anywhere() -> None:
    dataset = Dataset.from_tensor_slices([5, 6]).enumerate(start=-1)
    assert values(dataset) == [(-1, 5), (0, 6)]
    assert dataset.output_types == (ag.int64, ag.int32)
    assert values(Dataset.range(1).apply(enumerate_dataset(2**63 - 2))) == [(2**63 - 2, 0)]


def test_what_has_another_order_each_time_cannot_be_split() -> None:
    def reason(dataset: Dataset) -> str:
        with pytest.raises(InvalidArgumentError) as info:
            dataset.split(train=0.5)
        return str(info.value)

    text = (
        "split: the elements must have the same numbers each time, or one could be in two parts, but {}. "
        "Split first, then shuffle and repeat the parts."
    )
    sloppy = Dataset.range(3).apply(sloppy_interleave(row, 2))
    assert reason(sloppy) == text.format("parallel_interleave with sloppy=True gives them in another order each time")
    assert reason(Dataset.range(3).flat_map(lambda n: Dataset.range(3).shuffle(3))) == text.format(
        "shuffle without a seed and reshuffle_each_iteration=False gives them another order each time"
    )
    train, test = rows([3, 3]).flat_map(row).split(train=0.5, test=0.5)
    assert sorted(values(train) + values(test)) == [0, 1, 2, 100, 101, 102]
