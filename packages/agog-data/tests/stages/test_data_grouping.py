"""Groups of elements by keys, buckets of lengths, scans and sliding batches, compared with loops over lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import STAGES, values

import agog_core as ag
from agog_core import random as ag_random
from agog_data import Dataset
from agog_data.transformations.grouping import (
    Reducer,
    bucket_by_sequence_length,
    group_by_reducer,
    group_by_window,
)
from agog_data.transformations.scanning import scan, sliding_window_batch
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def numbers(rows: list[int]) -> Dataset:
    return Dataset.from_tensor_slices(np.array(rows, np.int64))


NUMBERS = st.lists(st.integers(-9, 9), max_size=20)


@settings(max_examples=50, deadline=None)
@given(NUMBERS, st.integers(1, 4))
def test_full_groups_come_first_and_the_rest_in_the_order_of_keys(rows: list[int], size: int) -> None:
    groups: dict[int, list[int]] = {}
    expected = []
    for row in rows:
        groups.setdefault(row % 3, []).append(row)
        if len(groups[row % 3]) == size:
            expected.append((row % 3, groups.pop(row % 3)))
    expected += sorted(groups.items())
    by_rest = group_by_window(lambda x: x % 3, lambda key, group: group.batch(9).map(lambda x: (key, x)), size)
    assert values(numbers(rows).apply(by_rest)) == expected


def test_each_key_has_a_size_of_its_own() -> None:
    calls: list[int] = []

    def size(key: Any) -> Any:
        assert key.dtype == ag.int64
        calls.append(int(key))
        return key + 1

    by_parity = group_by_window(lambda x: x % 2, lambda key, group: group.batch(5), window_size_func=size)
    assert values(Dataset.range(7).apply(by_parity)) == [[0], [2], [1, 3], [4], [6], [5]]
    assert calls == [0, 1]


def test_groups_of_structures() -> None:
    dataset = Dataset.from_tensor_slices({"key": [5, -1, 5], "name": ["a", "b", "c"]})
    grouped = dataset.apply(group_by_window(lambda row: row["key"], lambda key, group: group.take(1), window_size=2))
    assert values(grouped) == [{"key": 5, "name": b"a"}, {"key": -1, "name": b"b"}]
    assert grouped.output_types == {"key": ag.int32, "name": ag.string}
    pairs = Dataset.zip((Dataset.range(3), Dataset.range(3))).apply(
        group_by_window(lambda x, y: (x + y) % 4, lambda key, group: group.map(lambda x, y: x * 10 + y), 2)
    )
    assert values(pairs) == [0, 22, 11]


def total() -> Reducer:
    return Reducer(lambda key: (key, 0), lambda state, x: (state[0], state[1] + ag.cast(x, ag.int32)), lambda k, s: s)


@settings(max_examples=50, deadline=None)
@given(NUMBERS)
def test_reducers_give_one_element_for_each_key(rows: list[int]) -> None:
    expected = [sum(row for row in rows if row % 4 == key) for key in sorted({row % 4 for row in rows})]
    assert values(numbers(rows).apply(group_by_reducer(lambda x: x % 4, total()))) == expected


def test_reducers_of_structures() -> None:
    longest = Reducer(
        lambda key: {"length": 0, "text": ""},
        lambda state, row: row if int(row["length"]) > int(state["length"]) else state,
        lambda state: (state["text"], state["length"]),
    )
    words = ["a", "bcd", "ef", "ghij"]
    dataset = Dataset.from_tensor_slices({"length": [len(word) for word in words], "text": words})
    reduced = dataset.apply(group_by_reducer(lambda row: row["length"] % 2, longest))
    assert values(reduced) == [(b"ghij", 4), (b"bcd", 3)]
    assert reduced.output_types == (ag.string, ag.int32)
    assert longest.init_func(3) == {"length": 0, "text": ""}
    assert longest.reduce_func({"length": 1}, {"length": 2}) == {"length": 2}
    assert longest.finalize_func({"length": 2, "text": "x"}) == ("x", 2)


@settings(max_examples=50, deadline=None)
@given(NUMBERS)
def test_scan_hands_the_state_on(rows: list[int]) -> None:
    sums = scan(np.int64(5), lambda state, x: (state + x, (state, x)))
    expected = [(5 + sum(rows[:k]), row) for k, row in enumerate(rows)]
    assert values(numbers(rows).apply(sums)) == expected


def test_scan_begins_anew_in_each_epoch() -> None:
    fibonacci = scan((0, [1]), lambda state, x: ((state[1][0], [state[0] + state[1][0]]), state[0]))
    dataset = Dataset.range(5).apply(fibonacci)
    assert values(dataset.repeat(2)) == [0, 1, 1, 2, 3] * 2
    assert dataset.output_types == ag.int32
    pairs = Dataset.zip((Dataset.range(3), Dataset.range(3)))
    assert values(pairs.apply(scan(np.int64(0), lambda s, pair: (s + pair[0] * pair[1], s)))) == [0, 0, 1]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))
def test_sliding_batches(count: int, size: int, shift: int, stride: int) -> None:
    reach = (size - 1) * stride + 1
    expected = [list(range(k, k + reach, stride)) for k in range(0, count - reach + 1, shift)]
    assert values(Dataset.range(count).apply(sliding_window_batch(size, None, shift, stride))) == expected
    assert values(Dataset.range(count).apply(sliding_window_batch(size, shift, window_stride=stride))) == expected


def test_sliding_batches_of_structures() -> None:
    dataset = Dataset.from_tensor_slices({"x": [[1.0], [2.0], [3.0]]}).apply(sliding_window_batch(2))
    assert values(dataset) == [{"x": [[1.0], [2.0]]}, {"x": [[2.0], [3.0]]}]
    assert dataset.output_shapes["x"].as_list() == [2, 1]
    ragged = Dataset.range(3).map(lambda n: ag.ones([int(n)])).apply(sliding_window_batch(2))
    with pytest.raises(InvalidArgumentError, match="component 0 of element 1 of batch 0 has dtype float32 and shape"):
        next(iter(ragged))


def lengths(rows: list[int]) -> Dataset:
    return numbers(rows).map(lambda n: (ag.fill([int(n)], n), n))


def bucketed(rows: list[int], boundaries: list[int], sizes: list[int]) -> list[list[int]]:
    buckets: dict[int, list[int]] = {}
    found = []
    for row in rows:
        number = sum(row >= boundary for boundary in boundaries)
        buckets.setdefault(number, []).append(row)
        if len(buckets[number]) == sizes[number]:
            found.append(buckets.pop(number))
    return found + [buckets[number] for number in sorted(buckets)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=20), st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_buckets_hold_similar_lengths(rows: list[int], sizes: list[int]) -> None:
    boundaries = [3, 6]
    by_length = bucket_by_sequence_length(lambda row, length: length, boundaries, sizes)
    batches = bucketed(rows, boundaries, sizes)
    padded = [[[n] * n + [0] * (max(batch) - n) for n in batch] for batch in batches]
    assert values(lengths(rows).apply(by_length)) == list(zip(padded, batches, strict=True))


def test_buckets_with_shapes_and_values() -> None:
    def batches(**options: Any) -> list[Any]:
        by_length = bucket_by_sequence_length(lambda row, length: length, [4], [2, 2], **options)
        return values(lengths([1, 2, 5]).apply(by_length).map(lambda row, length: row))

    minus = {"padding_values": (np.int64(-1), np.int64(0))}
    assert batches(padded_shapes=([6], [])) == [[[1, 0, 0, 0, 0, 0], [2, 2, 0, 0, 0, 0]], [[5, 5, 5, 5, 5, 0]]]
    assert batches(padded_shapes=([None], []), **minus) == [[[1, -1], [2, 2]], [[5, 5, 5, 5, 5]]]
    by_boundary = bucket_by_sequence_length(
        lambda row, length: length, [4, 7], [2, 2, 1], ([None], []), minus["padding_values"], True
    )
    assert values(lengths([1, 2, 5]).apply(by_boundary)) == [
        ([[1, -1, -1], [2, 2, -1]], [1, 2]),
        ([[5, 5, 5, 5, 5, -1]], [5]),
    ]


def test_buckets_take_unknown_sizes_from_the_dataset() -> None:
    dataset = Dataset.from_generator(lambda: [[1], [2, 2], [3, 3, 3]], "int32", [None])
    by_length = bucket_by_sequence_length(len, [3, 6], [2, 2, 2], pad_to_bucket_boundary=True)
    assert values(dataset.apply(by_length)) == [[[1, 0], [2, 2]], [[3, 3, 3, 0, 0]]]


def test_buckets_without_padding() -> None:
    dataset = lengths([2, 3, 2, 3]).map(lambda row, length: row)
    by_length = bucket_by_sequence_length(len, [3], [2, 2], no_padding=True)
    assert values(dataset.apply(by_length)) == [[[2, 2], [2, 2]], [[3, 3, 3], [3, 3, 3]]]


def test_what_is_too_long_for_the_last_boundary() -> None:
    by_length = bucket_by_sequence_length(lambda row, n: n, [2], [1, 1], ([None], []), pad_to_bucket_boundary=True)
    with says(
        InvalidArgumentError,
        "bucket_by_sequence_length: when pad_to_bucket_boundary=True, elements must have length < "
        "max(bucket_boundaries), which is 2.",
    ):
        values(lengths([2]).apply(by_length))


def drawn(key: Any, group: Dataset) -> Dataset:
    offset = ag.random_uniform([])
    return group.map(lambda x: (x, offset, ag.random_uniform([]))).shuffle(3)


def test_epochs_differ_in_their_random_values() -> None:
    ag_random.set_generator(ag_random.Generator(seed=5))
    for name in ("group_by_window", "group_by_reducer", "scan"):
        elements = values(STAGES[name]())
        half = len(elements) // 2
        assert elements[:half] != elements[half:], f"{name} (seed 5)"


def test_a_reducer_that_failed_half_way_goes_on_and_resumes() -> None:
    def key(x: Any) -> Any:
        if int(x) == 3:
            raise OSError("unreadable")
        return x % 2

    def make() -> Dataset:
        return Dataset.range(6).apply(group_by_reducer(key, total()))

    iterator = iter(make())
    with pytest.raises(OSError, match="unreadable") as info:
        next(iterator)
    assert info.value.__notes__ == [
        "This happened in group_by_reducer, in the function "
        "test_a_reducer_that_failed_half_way_goes_on_and_resumes.<locals>.key, at element 3 (the first is 0)."
    ]
    resumed = iter(make())
    resumed.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
    assert values(iterator) == values(resumed) == [6, 6]


def message(kind: type[Exception], call: Callable[[], Any]) -> str:
    with pytest.raises(kind) as info:
        call()
    return str(info.value)


def test_functions_return_what_they_must() -> None:
    def first(transformation: Any) -> Callable[[], Any]:
        return lambda: next(iter(Dataset.range(3).apply(transformation)))

    assert message(ValueError, first(group_by_window(lambda x: 0.5, drawn, 2))) == (
        "group_by_window: key_func must return a scalar integer; it returned dtype float32 and shape ()."
    )
    assert message(TypeError, first(group_by_window(lambda x: 1, lambda key, group: 7, 2))) == (
        "the windows of group_by_window: the function must return a Dataset; it returned 7 of type int."
    )
    assert message(InvalidArgumentError, first(group_by_window(lambda x: -1, drawn, None, lambda key: key))) == (
        "group_by_window: the window size must be greater than zero; got -1 for key -1."
    )
    assert message(ValueError, first(group_by_reducer(lambda x: [1], total()))) == (
        "group_by_reducer: key_func must return a scalar integer; it returned dtype int32 and shape (1,)."
    )
    changing = Reducer(lambda key: (0, 0), lambda state, x: 0.5, lambda state: state)
    assert message(TypeError, first(group_by_reducer(lambda x: 1, changing))) == (
        "group_by_reducer: the element types for the new state must match the initial state. "
        "Expected ('int32', 'int32'); got float32."
    )
    assert message(TypeError, first(scan(0, lambda state, x: 7))) == (
        "scan: the function must return a pair comprising the new state and the output value; "
        "it returned 7 of type int."
    )
    assert message(TypeError, first(scan(0, lambda state, x: (0.5, x)))) == (
        "scan: the element types for the new state must match the initial state. Expected int32; got float32."
    )


def test_arguments_are_checked() -> None:
    key: Any = lambda x: x  # noqa: E731
    assert message(ValueError, lambda: group_by_window(key, drawn)) == (
        "group_by_window: must pass either window_size or window_size_func."
    )
    assert message(ValueError, lambda: group_by_window(key, drawn, 2, key)) == (
        "group_by_window: must pass either window_size or window_size_func."
    )
    assert message(InvalidArgumentError, lambda: group_by_window(key, drawn, 0)) == (
        "group_by_window: window_size must be greater than zero; got 0."
    )
    assert message(TypeError, lambda: group_by_reducer(key, 3)) == (  # type: ignore[arg-type]
        "group_by_reducer: a Reducer is expected; got 3 of type int."
    )
    assert message(ValueError, lambda: bucket_by_sequence_length(key, [1], [1])) == (
        "bucket_by_sequence_length: len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1; "
        "got 1 batch sizes and 1 boundaries."
    )
    assert message(ValueError, lambda: bucket_by_sequence_length(key, [2, 1], [1, 1, 1])) == (
        "bucket_by_sequence_length: bucket_boundaries must rise; got [2, 1]."
    )
    assert message(ValueError, lambda: sliding_window_batch(2, 1, 1)) == (
        "sliding_window_batch: cannot specify both `stride` and `window_shift`."
    )
    for name, arguments in {"window_size": (0,), "stride": (1, 0), "window_shift": (1, None, 0)}.items():
        assert message(InvalidArgumentError, lambda given=arguments: sliding_window_batch(*given)) == (  # type: ignore[misc]
            f"sliding_window_batch: {name} must be greater than zero; got 0."
        )


def test_errors_in_buckets_name_the_function() -> None:
    def length(row: Any, n: Any) -> Any:
        raise KeyError("length")

    with pytest.raises(KeyError) as caught:
        list(lengths([1]).apply(bucket_by_sequence_length(length, [3], [2, 2])))
    assert caught.value.__notes__ == [
        "This happened in bucket_by_sequence_length, in the function "
        "test_errors_in_buckets_name_the_function.<locals>.length, at element 0 (the first is 0)."
    ]
