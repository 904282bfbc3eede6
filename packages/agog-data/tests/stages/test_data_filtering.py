"""Transformations that leave elements out, check them, count them, and join them into one value."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_data.elements import ComponentSpec
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.transformations.batching import (
    batch_and_drop_remainder,
    map_and_batch,
    padded_batch_and_drop_remainder,
)
from agog_data.transformations.counting import Counter, RandomDataset
from agog_data.transformations.filtering import (
    assert_element_shape,
    get_single_element,
    ignore_errors,
    take_while,
    unique,
)
from agog_data.transformations.grouping import Reducer, reduce_dataset

InvalidArgumentError = ag.errors.InvalidArgumentError
Pair = namedtuple("Pair", ["x", "y"])


def fails_for(*wrong: int) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        if int(x) in wrong:
            raise ValueError(f"{int(x)} is wrong")
        return x

    return function


def text_of(kind: type[Exception], call: Callable[[], Any]) -> str:
    with pytest.raises(kind) as info:
        call()
    return str(info.value)


# take_while, unique


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=12))
def test_take_while_and_unique(numbers: list[int]) -> None:
    dataset = Dataset.from_tensor_slices(np.array(numbers, np.int64))
    expected = list(itertools.takewhile(lambda x: x < 2, numbers))
    assert values(dataset.apply(take_while(lambda x: x < 2))) == expected
    assert values(dataset.apply(unique())) == list(dict.fromkeys(numbers))
    assert values(dataset.apply(unique()).repeat(2)) == list(dict.fromkeys(numbers)) * 2


def test_the_end_of_take_while_is_one() -> None:
    iterator = iter(Dataset.from_tensor_slices([1, 9, 1]).apply(take_while(lambda x: x < 5)))
    assert int(next(iterator)) == 1
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(iterator)


def test_unique_elements_of_any_kind() -> None:
    words = Dataset.from_tensor_slices(["a", "bc", "a", "", ""])
    assert values(words.apply(unique())) == [b"a", b"bc", b""]
    rows = Dataset.from_tensor_slices(Pair(np.array([[1, 2], [1, 2], [2, 1]]), np.array(["a", "a", "a"])))
    found = list(rows.apply(unique()))
    assert [type(pair) for pair in found] == [Pair, Pair]
    joined = Dataset.from_tensors(["ab", "c"]).concatenate(Dataset.from_tensors(["a", "bc"]))
    assert len(values(joined.apply(unique()))) == 2


def test_errors_of_take_while() -> None:
    assert text_of(TypeError, lambda: Dataset.range(3).apply(take_while(1))) == (  # type: ignore[arg-type]
        "take_while: a function is expected; got 1 of type int."
    )
    assert text_of(ValueError, lambda: values(Dataset.range(3).apply(take_while(lambda x: x)))) == (
        "take_while: the predicate must return a bool or a scalar boolean tensor; it returned dtype int64 and shape ()."
    )


# ignore_errors


def test_errors_are_skipped_and_counted() -> None:
    errors = ignore_errors()
    dataset = Dataset.range(6).map(fails_for(0, 3, 5)).apply(errors)
    assert (errors.skipped, errors.last_error) == (0, None)
    assert values(dataset) == [1, 2, 4]
    assert (errors.skipped, errors.last_error) == (3, "ValueError: 5 is wrong")
    assert values(dataset.repeat(2)) == [1, 2, 4] * 2
    assert errors.skipped == 9


@pytest.mark.parametrize("threads", [1, 4])
def test_errors_on_threads_are_skipped(threads: int) -> None:
    errors = ignore_errors()
    dataset = Dataset.range(50).map(fails_for(*range(0, 50, 3)), threads).prefetch(2).apply(errors)
    assert values(dataset) == [x for x in range(50) if x % 3]
    assert errors.skipped == 17


class Stuck(Stage):
    """A stage that fails without that it moves on."""

    def spec(self) -> Any:
        return ComponentSpec(ag.int64, ag.TensorShape([]))

    def sample(self, scope: Scope) -> Any:
        return ag.constant(0, ag.int64)

    def iterate(self, scope: Scope) -> ElementIterator:
        return StuckIterator()


class StuckIterator(ElementIterator):
    def start(self, epoch: int) -> None:
        pass

    def __next__(self) -> Any:
        raise OSError("the disk is gone")

    def state_dict(self) -> dict[str, Any]:
        return {"stage": "stuck", "position": 3}

    def load_state_dict(self, state: Any) -> None:
        pass


def test_an_error_that_stays_is_raised() -> None:
    errors = ignore_errors()
    with pytest.raises(OSError, match="the disk is gone") as info:
        values(Dataset(Stuck()).apply(errors))
    assert info.value.__notes__ == ["ignore_errors: it stayed after 100 more attempts."]
    assert values(Dataset.range(600).map(fails_for(*range(600))).apply(errors)) == []  # for this one goes on


def test_keyboard_interrupts_are_not_skipped() -> None:
    def interrupts(x: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        values(Dataset.range(3).map(interrupts).apply(ignore_errors()))


# assert_element_shape, get_single_element


def test_asserted_shapes_are_known() -> None:
    dataset = Dataset.range(4).batch(2).map(lambda x: {"a": x, "b": (x, x[0])})
    checked = dataset.apply(assert_element_shape({"a": [2], "b": (None, [])}))
    assert checked.output_shapes["a"].as_list() == [2]
    assert checked.output_shapes["b"][0].as_list() == [None]
    assert values(checked) == values(dataset)


def test_errors_of_asserted_shapes() -> None:
    batches = Dataset.range(5).batch(2)
    assert text_of(InvalidArgumentError, lambda: values(batches.apply(assert_element_shape([2])))) == (
        "assert_element_shape: component 0 of element 2 has shape (1,); (2,) is expected."
    )
    assert text_of(ValueError, lambda: batches.apply(assert_element_shape([2, 3])).output_shapes) == (
        "assert_element_shape: component 0 has shape (?,); (2, 3) is expected."
    )
    pair = Dataset.zip((batches, batches))
    assert text_of(TypeError, lambda: values(pair.apply(assert_element_shape([2])))) == (
        "assert_element_shape: expected_shapes must have the structure of the elements, which have a tuple of 2; "
        "got [2] there."
    )


def test_a_single_element() -> None:
    assert int(get_single_element(Dataset.from_tensors(7))) == 7
    start = "get_single_element: the dataset must have one element; it has "
    assert text_of(InvalidArgumentError, lambda: get_single_element(Dataset.range(0))) == start + "no elements."
    assert text_of(InvalidArgumentError, lambda: get_single_element(Dataset.range(2))) == start + "several."
    assert text_of(TypeError, lambda: get_single_element([1])) == (  # type: ignore[arg-type]
        "get_single_element: a Dataset is expected; got [1] of type list."
    )


# reduce


def test_reduce_goes_from_first_to_last() -> None:
    pairs = Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"]))
    total, words = pairs.reduce(
        (0, ""), lambda state, element: (state[0] * 2 + element[0], ag.string_join([state[1], element[1]]))
    )
    assert (int(total), words.numpy()) == (11, b"abc")
    assert int(Dataset.range(0).reduce(np.int64(5), lambda x, y: x + y)) == 5
    assert values([Dataset.range(3).reduce({"n": np.int64(0)}, lambda s, x: {"n": s["n"] + x})]) == [{"n": 3}]


def test_reduce_is_not_recorded_and_its_random_numbers_depend_on_the_seed() -> None:
    x = ag.constant(1.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        total = Dataset.range(2).reduce(x, lambda s, n: s * 2)
    assert tape.gradient(total, x) is None
    ag.set_random_seed(4)
    first = float(Dataset.range(3).reduce(0.0, lambda s, n: s + ag.random_uniform([])))
    ag.set_random_seed(4)
    assert float(Dataset.range(3).reduce(0.0, lambda s, n: s + ag.random_uniform([]))) == first


def test_errors_of_reduce() -> None:
    def wrong(state: Any, x: Any) -> Any:
        return ag.cast(state, ag.float32) if int(x) == 2 else state

    assert text_of(TypeError, lambda: Dataset.range(4).reduce(0, wrong)) == (
        "reduce: the value must keep its structure and dtypes, int32; the function returned float32 for element 2."
    )
    assert text_of(TypeError, lambda: Dataset.range(4).reduce(0, 3)) == (  # type: ignore[arg-type]
        "reduce: a function is expected; got 3 of type int."
    )

    def fails(state: Any, x: Any) -> Any:
        raise KeyError(int(x))

    with pytest.raises(KeyError) as info:
        Dataset.range(4).reduce(0, fails)
    assert info.value.__notes__ == [
        "This happened in reduce, in the function test_errors_of_reduce.<locals>.fails, at element 0 (the first is 0)."
    ]


def test_reduce_dataset() -> None:
    longest = Reducer(lambda key: (key, ""), lambda s, x: (s[0] + 1, x), lambda count, last: {"n": count, "last": last})
    words = Dataset.from_tensor_slices(["a", "b"])
    assert values([reduce_dataset(words, longest)]) == [{"n": 2, "last": b"b"}]
    plain = Reducer(lambda key: key, lambda s, x: s + x, lambda s: s * 2)
    assert int(reduce_dataset(Dataset.range(4), plain)) == 12
    assert text_of(TypeError, lambda: reduce_dataset([1], plain)) == (  # type: ignore[arg-type]
        "reduce_dataset: a Dataset is expected; got [1] of type list."
    )
    assert text_of(TypeError, lambda: reduce_dataset(words, 3)) == (  # type: ignore[arg-type]
        "reduce_dataset: a Reducer is expected; got 3 of type int."
    )


# Names of TensorFlow for what methods do


def test_map_and_batch() -> None:
    for keywords in ({}, {"num_parallel_batches": 3}, {"num_parallel_calls": 2}):
        transformation = map_and_batch(lambda x: x * 2, 3, drop_remainder=True, **keywords)  # type: ignore[arg-type]
        assert values(Dataset.range(8).apply(transformation)) == [[0, 2, 4], [6, 8, 10]]
    assert text_of(ValueError, lambda: map_and_batch(abs, 2, 1, False, 1)) == (
        "map_and_batch: give num_parallel_batches or num_parallel_calls, not both."
    )
    assert text_of(InvalidArgumentError, lambda: map_and_batch(abs, 0)) == (
        "map_and_batch: batch_size must be greater than zero; got 0."
    )
    assert text_of(InvalidArgumentError, lambda: map_and_batch(abs, 1, 0)) == (
        "map_and_batch: num_parallel_batches must be greater than zero; got 0."
    )


def test_remainders_are_dropped() -> None:
    assert values(Dataset.range(5).apply(batch_and_drop_remainder(2))) == [[0, 1], [2, 3]]
    rows = Dataset.range(1, 4).map(lambda n: ag.fill([int(n)], n))
    assert values(rows.apply(padded_batch_and_drop_remainder(2, [None], -1))) == [[[1, -1], [2, 2]]]


# Counter, RandomDataset


def test_counters() -> None:
    assert values(Counter().take(3)) == [0, 1, 2]
    assert values(Counter(5, -2).skip(1).batch(2).take(2)) == [[3, 1], [-1, -3]]
    floats = Counter(1.0, 0.5, ag.float32).take(3)
    assert floats.output_types == ag.float32
    assert values(floats) == [1.0, 1.5, 2.0]
    assert values(Counter().shuffle(10, seed=1).take(100).map(lambda x: x < 110)) == [True] * 100
    assert values(Counter(2**63, dtype="uint64").batch(2).take(1)) == [[2**63, 2**63 + 1]]
    small = Counter(254, dtype="uint8")
    assert values(small.take(2)) == [254, 255]
    text = "Counter: 256, at element 2, does not fit uint8."
    assert text_of(ag.errors.OutOfRangeError, lambda: values(small)) == text
    assert text_of(ag.errors.OutOfRangeError, lambda: values(small.batch(3))) == text
    assert text_of(TypeError, lambda: Counter(0.5)) == "Counter: start must be an integer; got 0.5 of type float."


def test_random_datasets() -> None:
    ag.set_random_seed(1)
    numbers = values(RandomDataset(seed=2).take(4000))
    assert RandomDataset().output_types == ag.int64
    assert all(0 <= x < 2**32 for x in numbers)
    counts = np.bincount(np.array(numbers) >> 29, minlength=8)
    assert ((counts - 500) ** 2 / 500).sum() < 24.3  # p = 0.001 for 7 degrees of freedom
    ag.set_random_seed(1)
    again = RandomDataset(seed=2).take(4000)
    assert values(again) == numbers
    assert values(again) != numbers
    twice = values(RandomDataset(seed=2).take(5).repeat(2))
    assert twice[:5] == numbers[:5]
    assert twice[5:] != numbers[:5]
