"""Datasets of Python generators and of files' names."""

from __future__ import annotations

import gc
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError
Pair = namedtuple("Pair", ["x", "name"])


def count_up() -> Iterator[int]:
    yield from range(5)


def test_scalars() -> None:
    dataset = Dataset.from_generator(count_up, ag.int64)
    assert values(dataset) == [0, 1, 2, 3, 4]
    assert values(dataset) == [0, 1, 2, 3, 4], "each iterator has a generator of its own"
    assert dataset.output_types == ag.int64
    assert dataset.output_shapes.ndims is None
    assert values(dataset.repeat(2).batch(4)) == [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4]]


def test_any_function_that_returns_an_iterable() -> None:
    assert values(Dataset.from_generator(lambda: [1, 2], "int32")) == [1, 2]
    assert values(Dataset.from_generator(lambda: np.ones((2, 1)), "float32", [1])) == [[1.0], [1.0]]
    assert values(Dataset.from_generator(lambda: Dataset.range(2), "float64")) == [0.0, 1.0]


def test_structures_dtypes_and_shapes() -> None:
    def generator() -> Iterator[Any]:
        yield {"pair": Pair(np.float64(0.5), "a"), "rows": [[1, 2]]}
        yield {"rows": np.zeros((3, 2), np.int8), "pair": Pair(ag.constant(2), b"b")}

    types = {"pair": Pair(ag.float32, ag.string), "rows": ag.uint8}
    dataset = Dataset.from_generator(generator, types, {"pair": Pair([], []), "rows": (None, 2)})
    assert dataset.output_types == types
    assert dataset.output_shapes["rows"].as_list() == [None, 2]
    first, second = dataset
    assert isinstance(first["pair"], Pair)
    assert first["pair"].x.dtype == ag.float32
    assert values([first, second]) == [
        {"pair": (0.5, b"a"), "rows": [[1, 2]]},
        {"pair": (2.0, b"b"), "rows": [[0, 0]] * 3},
    ]


def test_arguments_are_arrays() -> None:
    seen: list[Any] = []

    def generator(*args: Any) -> Iterator[int]:
        seen.extend(args)
        yield from range(int(args[0]))

    assert values(Dataset.from_generator(generator, "int64", args=(2, [1.0, 2.0], "text"))) == [0, 1]
    assert (seen[0], seen[1].tolist(), seen[2]) == (2, [1.0, 2.0], b"text")


def test_what_was_yielded_may_be_changed_afterwards() -> None:
    def generator() -> Iterator[Any]:
        row = np.zeros(2)
        for number in range(3):
            row[:] = number
            yield row

    assert values(Dataset.from_generator(generator, "float64").batch(3)) == [[[0, 0], [1, 1], [2, 2]]]


def error(generator: Callable[..., Any], types: Any, shapes: Any = None) -> str:
    iterator = iter(Dataset.from_generator(generator, types, shapes))
    next(iterator)
    with pytest.raises(InvalidArgumentError) as info:
        next(iterator)
    assert int(next(iterator)) == 2, "the iterator goes on"
    return str(info.value)


def test_elements_that_do_not_fit() -> None:
    def words() -> Iterator[Any]:
        yield from (0, "word", 2)

    def rows() -> Iterator[Any]:
        yield from (0, [1, 2, 3], 2)

    def pairs() -> Iterator[Any]:
        yield from ((0, 1), [1, 2])

    text = "from_generator: element 1: `generator` test_elements_that_do_not_fit.<locals>."
    assert error(words, "int64") == (
        f"{text}words yielded an element that could not be converted to the expected type. "
        "The expected type was int64, but the yielded element was 'word'."
    )
    assert error(rows, "int64", []) == (
        f"{text}rows yielded an element of shape (3,) where an element of shape () was expected."
    )
    iterator = iter(Dataset.from_generator(pairs, ("int64", "int64")))
    next(iterator)
    with says(
        InvalidArgumentError,
        f"{text}pairs yielded an element that did not match the expected structure. "
        "The expected structure was (tf.int64, tf.int64), but the yielded element was [1, 2].",
    ):
        next(iterator)


def test_errors_of_the_generator_carry_the_element() -> None:
    def generator() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    iterator = iter(Dataset.from_generator(generator, "int64"))
    next(iterator)
    with pytest.raises(OSError, match="gone") as info:
        next(iterator)
    assert info.value.__notes__ == [
        "This happened in from_generator, in the generator "
        "test_errors_of_the_generator_carry_the_element.<locals>.generator, at element 1 (the first is 0)."
    ]
    assert values(iterator) == []


def test_arguments_are_checked() -> None:
    with says(
        TypeError,
        "from_generator: `generator` must be callable; got [1, 2] of type list. "
        "Give the function that makes the generator, so that each epoch can have its own.",
    ):
        Dataset.from_generator([1, 2], "int64")  # type: ignore[arg-type]
    with says(
        TypeError, "from_generator: output_shapes must have the structure of output_types, ('int64', 'int32'); got []."
    ):
        Dataset.from_generator(count_up, ("int64", "int32"), [])


def test_a_generator_that_yields_less_cannot_be_resumed() -> None:
    limit = 3
    iterator = iter(Dataset.from_generator(lambda: range(limit), "int64"))
    for _ in range(3):
        next(iterator)
    state = iterator.state_dict()
    limit = 1
    iterator.load_state_dict(state)
    with says(
        InvalidArgumentError,
        "from_generator: test_a_generator_that_yields_less_cannot_be_resumed.<locals>.<lambda> was started again to "
        "skip 3 elements, but it yielded only 1. It must yield the same each time for an iterator to be resumed.",
    ):
        next(iterator)


def test_the_generator_is_closed_with_its_iterator() -> None:
    closed: list[str] = []

    def generator() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(threading.current_thread().name)

    gc.collect()
    gc.disable()  # nothing may wait for the collector
    try:
        for count, dataset in enumerate((Dataset.from_generator(generator, "int64"),) * 2, 1):
            iterator = iter(dataset if count == 1 else dataset.prefetch(2))
            next(iterator)
            del iterator
            assert len(closed) == count
    finally:
        gc.enable()
    dataset.map(lambda x: x).output_types  # noqa: B018  # to know the types, one element is generated
    assert len(closed) == 3
    taken = iter(dataset.take(1).repeat(2))
    assert values(taken) == [0, 0]
    del taken
    assert len(closed) == 5


def test_an_empty_generator_has_no_sample() -> None:
    with pytest.raises(
        ValueError, match="The dataset has no elements, so there is none to learn the results of a function from"
    ):
        Dataset.from_generator(list, "int64").map(lambda x: x).output_types  # noqa: B018  # the access is tested


def test_generated_elements_cannot_be_split() -> None:
    with says(
        InvalidArgumentError,
        "split: the elements must have the same numbers each time, or one could be in two parts, but from_generator "
        "cannot know that count_up yields them in one order. Split first, then shuffle and repeat the parts.",
    ):
        Dataset.from_generator(count_up, "int64").split(train=0.5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "c.txt", "d.png"):
        (tmp_path / name).write_text(name)
    return tmp_path


def names(dataset: Dataset) -> list[str]:
    return [Path(path.numpy().decode()).name for path in dataset]


def test_list_files_sorts_or_shuffles(folder: Path) -> None:
    assert names(Dataset.list_files(f"{folder}/*.txt", shuffle=False)) == ["a.txt", "b.txt", "c.txt"]
    assert names(Dataset.list_files([f"{folder}/*.png", f"{folder}/[ab].*"], shuffle=False)) == [
        "a.txt",
        "b.txt",
        "d.png",
    ]
    dataset = Dataset.list_files(f"{folder}/*", seed=3)
    assert sorted(names(dataset)) == ["a.txt", "b.txt", "c.txt", "d.png"]
    assert dataset.output_types == ag.string
    assert dataset.output_shapes.as_list() == []
    again = Dataset.list_files(f"{folder}/*", shuffle=True, seed=3)
    assert names(again.repeat(2)) == names(Dataset.list_files(f"{folder}/*", seed=3).repeat(2))
    assert len({tuple(names(dataset)) for _ in range(20)}) > 1, "each iteration has another order (seed 3)"


def test_list_files_needs_a_file(folder: Path) -> None:
    with says(InvalidArgumentError, f"list_files: no files matched pattern: {folder}/*.csv."):
        Dataset.list_files(f"{folder}/*.csv")
    with says(InvalidArgumentError, "list_files: no files matched pattern: none, nothing."):
        Dataset.list_files(["none", "nothing"])


def test_what_is_no_generator_function_is_named() -> None:
    with says(TypeError, "'int' object is not iterable") as caught:
        list(Dataset.from_generator(number, "int32"))
    assert caught.value.__notes__ == ["This happened in from_generator, when number was called."]
    with says(RuntimeError, "from_generator: stop raised StopIteration when it was called."):
        list(Dataset.from_generator(stop, "int32"))


def number() -> int:
    return 3


def stop() -> Any:
    raise StopIteration
