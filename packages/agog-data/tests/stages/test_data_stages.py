"""Stages against plain Python lists."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def computed(dataset: Dataset) -> Dataset:
    """The same elements from a stage that is no choice of rows, so that the stages behind it see elements."""
    return dataset.map(lambda *parts: parts if len(parts) > 1 else parts[0])


def batches(items: list[Any], size: int, drop_remainder: bool) -> list[list[Any]]:
    found = [items[begin : begin + size] for begin in range(0, len(items), size)]
    return [batch for batch in found if len(batch) == size or not drop_remainder]


# A stage, and what it does to a list. Batches make lists of lists, on which all others work as on numbers.
STAGES = st.one_of(
    st.tuples(st.just("take"), st.integers(-1, 9)),
    st.tuples(st.just("skip"), st.integers(-1, 9)),
    st.tuples(st.just("repeat"), st.integers(0, 3)),
    st.tuples(st.just("batch"), st.integers(1, 4)),
    st.tuples(st.just("map"), st.integers(1, 3)),
    st.tuples(st.just("computed"), st.just(0)),
    st.tuples(st.just("prefetch"), st.integers(0, 3)),
    st.tuples(st.just("filter"), st.just(0)),
    st.tuples(st.just("concatenate"), st.just(0)),
)


def apply(dataset: Dataset, items: list[Any], stage: str, number: int) -> tuple[Dataset, list[Any]]:
    match stage:
        case "take":
            return dataset.take(number), items[:number] if number >= 0 else items
        case "skip":
            return dataset.skip(number), items[number:] if number >= 0 else []
        case "repeat":
            return dataset.repeat(number), items * number
        case "batch":
            return dataset.batch(number, drop_remainder=True), batches(items, number, True)
        case "map":
            return dataset.map(lambda x: x * 2 + 1, number), [(np.array(item) * 2 + 1).tolist() for item in items]
        case "computed":
            return computed(dataset), items
        case "prefetch":
            return dataset.prefetch(number), items
        case "filter":
            return dataset.filter(lambda x: x.numpy().sum() % 3 > 0), [x for x in items if np.sum(x) % 3 > 0]
        case _:
            return dataset.concatenate(dataset), items + items


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 12), st.lists(STAGES, max_size=5))
def test_pipelines_do_what_lists_do(count: int, stages: list[tuple[str, int]]) -> None:
    dataset, items = Dataset.range(count), list(range(count))
    for stage, number in stages:
        dataset, items = apply(dataset, items, stage, number)
    assert values(dataset) == items
    assert values(dataset) == items  # a dataset can be iterated again


@pytest.mark.parametrize("source", [Dataset.range(7), computed(Dataset.range(7))], ids=["rows", "elements"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("drop_remainder", [False, True])
def test_batch(source: Dataset, size: int, drop_remainder: bool) -> None:
    assert values(source.batch(size, drop_remainder)) == batches(list(range(7)), size, drop_remainder)


@pytest.mark.parametrize("through", [lambda d: d, computed], ids=["rows", "elements"])
def test_batch_joins_each_component(through: Any) -> None:
    arrays = {"image": np.arange(24, dtype=np.float32).reshape(4, 3, 2), "name": np.array(["a", "bc", "", "d"])}
    first, second = through(Dataset.from_tensor_slices(arrays)).batch(3)
    assert np.array_equal(first["image"].numpy(), arrays["image"][:3])
    assert first["name"].numpy().tolist() == [b"a", b"bc", b""]
    assert np.array_equal(second["image"].numpy(), arrays["image"][3:])
    assert first["image"].dtype is ag.float32
    assert second["name"].shape == (1,)


def test_batch_of_bfloat16() -> None:
    dataset = Dataset.from_tensor_slices([1.5, 2.5, 3.5]).map(lambda x: ag.cast(x, ag.bfloat16)).batch(3)
    (batch,) = dataset
    assert batch.dtype is ag.bfloat16
    assert batch.numpy().astype(np.float32).tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize("through", [lambda d: d, computed], ids=["rows", "elements"])
def test_empty(through: Any) -> None:
    for empty in (
        through(Dataset.range(0)),
        through(Dataset.from_tensor_slices(np.zeros((0, 3)))),
        through(Dataset.range(3)).take(0),
        through(Dataset.range(3)).skip(3),
        through(Dataset.range(3)).repeat(0),
    ):
        for dataset in (empty, empty.batch(2), empty.shuffle(3), empty.repeat(3), empty.repeat(), empty.prefetch(2)):
            assert values(dataset) == []


@pytest.mark.parametrize("through", [lambda d: d, computed], ids=["rows", "elements"])
def test_endless_repeat(through: Any) -> None:
    dataset = through(Dataset.range(3)).repeat()
    assert [int(x) for x in itertools.islice(dataset, 8)] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert values(dataset.batch(4).take(2)) == [[0, 1, 2, 0], [1, 2, 0, 1]]
    assert values(dataset.repeat(-1).skip(4).take(2)) == [1, 2]


def test_repeat_of_a_repeat() -> None:
    for source in (Dataset.range(2), computed(Dataset.range(2))):
        assert values(source.repeat(2).take(3).repeat(2)) == [0, 1, 0, 0, 1, 0]


def test_counts_may_be_tensors() -> None:
    assert values(Dataset.range(10).skip(ag.constant(2)).take(np.int64(4)).batch(ag.constant(3))) == [[2, 3, 4], [5]]


def test_zip() -> None:
    numbers = Dataset.range(3)
    dataset = Dataset.zip((numbers, {"a": numbers.map(lambda x: -x), "b": Dataset.range(10, 20)}))
    assert values(dataset) == [(i, {"a": -i, "b": 10 + i}) for i in range(3)]
    assert values(dataset.map(lambda x, y: x + y["b"]).batch(2)) == [[10, 12], [14]]


def test_concatenate() -> None:
    dataset = Dataset.range(2).concatenate(Dataset.range(5, 7)).repeat(2)
    assert values(dataset) == [0, 1, 5, 6] * 2
    assert dataset.output_shapes == ()
    ragged = Dataset.from_tensors([1, 2]).concatenate(Dataset.from_tensors([1]))
    assert ragged.output_shapes.as_list() == [None]


def test_a_deep_pipeline() -> None:
    dataset = Dataset.range(5)
    for depth in range(60):
        dataset = dataset.map(lambda x: x + 1) if depth % 3 else dataset.skip(0).prefetch(1)
    assert values(dataset) == [40, 41, 42, 43, 44]


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        (
            [ag.constant([1, 2]), ag.constant([1, 2, 3])],
            "batch: component 0 of element 1 of batch 0 has dtype int32 and shape (3,); that of element 0 has dtype "
            "int32 and shape (2,). A batch needs equal dtypes and shapes; make them equal with map() first.",
        ),
        (
            [ag.constant(1), ag.constant(1), ag.constant(1.0)],
            "batch: component 0 of element 2 of batch 0 has dtype float32 and shape (); that of element 0 has dtype "
            "int32 and shape (). A batch needs equal dtypes and shapes; make them equal with map() first.",
        ),
        (
            [(ag.constant(1), ag.constant([1])), (ag.constant(1), ag.constant([]))],
            "batch: component 1 of element 1 of batch 0 has dtype float32 and shape (0,); that of element 0 has dtype "
            "int32 and shape (1,). A batch needs equal dtypes and shapes; make them equal with map() first.",
        ),
        (
            [{"a": ag.constant(1)}, {"b": ag.constant(1)}],
            "batch: element 1 of batch 0 has the structure {'b': tensor}; element 0 has {'a': tensor}. All elements "
            "must have one structure; make them equal with map() first.",
        ),
        (
            [(ag.constant(1), ag.constant(1)), (ag.constant(1), (ag.constant(1), ag.constant(2)))],
            "batch: component 1 of element 1 of batch 0 has the structure (tensor, tensor); that of element 0 has "
            "dtype int32 and shape (). A batch needs equal dtypes and shapes; make them equal with map() first.",
        ),
        (
            [ag.constant(1), (ag.constant(1),)],
            "batch: component 0 of element 1 of batch 0 has the structure (tensor,); that of element 0 has dtype "
            "int32 and shape (). A batch needs equal dtypes and shapes; make them equal with map() first.",
        ),
    ],
)
def test_ragged_batches(elements: list[Any], text: str) -> None:
    dataset = Dataset.range(len(elements)).map(lambda i: elements[int(i)]).batch(len(elements))
    with says(InvalidArgumentError, text):
        next(iter(dataset))


def test_a_ragged_batch_names_its_number_and_the_loop_may_go_on() -> None:
    iterator = iter(Dataset.range(6).map(lambda i: ag.zeros([1 + int(i.numpy() == 3)])).batch(2))
    assert next(iterator).shape == (2, 1)
    with pytest.raises(InvalidArgumentError, match="of element 1 of batch 1 has"):
        next(iterator)
    assert next(iterator).shape == (2, 1)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda d: d.batch(0), InvalidArgumentError, "batch: batch_size must be greater than zero; got 0."),
        (lambda d: d.batch(2.0), TypeError, "batch: batch_size must be an integer; got 2.0 of type float."),
        (lambda d: d.shuffle(0), InvalidArgumentError, "shuffle: buffer_size must be greater than zero; got 0."),
        (lambda d: d.shuffle(2, "a"), TypeError, "shuffle: seed must be an integer; got 'a' of type str."),
        (lambda d: d.repeat(-2), InvalidArgumentError, "repeat: count must be -1 or greater; got -2."),
        (lambda d: d.take(-2), InvalidArgumentError, "take: count must be -1 or greater; got -2."),
        (lambda d: d.skip(None), TypeError, "skip: count must be an integer; got None of type NoneType."),
        (lambda d: d.prefetch(-2), InvalidArgumentError, "prefetch: buffer_size must be -1 or greater; got -2."),
        (
            lambda d: d.map(len, 0),
            InvalidArgumentError,
            "map: num_parallel_calls must be greater than zero; got 0.",
        ),
        (lambda d: d.map(3), TypeError, "map: a function is expected; got 3 of type int."),
        (lambda d: d.filter(None), TypeError, "filter: a function is expected; got None of type NoneType."),
        (lambda d: Dataset.zip((1, d)), TypeError, "zip: a structure of datasets is expected; it holds 1 of type int."),
        (
            lambda d: Dataset.zip([]),
            TypeError,
            "zip: a structure of datasets is expected; it holds [] of type list; use a tuple, not a list.",
        ),
        (lambda d: Dataset.zip(()), ValueError, "zip: the structure holds no dataset."),
        (lambda d: d.concatenate(7), TypeError, "concatenate: a Dataset is expected; got 7 of type int."),
        (
            lambda d: d.concatenate(Dataset.from_tensors((1.0, 2))).output_types,
            TypeError,
            "concatenate: the elements of the first dataset are int64; those of the second are ('float32', 'int32'). "
            "They must have one structure and the same dtypes.",
        ),
        (
            lambda d: d.make_initializable_iterator(),
            RuntimeError,
            "dataset.make_initializable_iterator is not supported when eager execution is enabled. Use `for element in "
            "dataset`, or dataset.make_one_shot_iterator().",
        ),
    ],
)
def test_errors(make: Any, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        make(Dataset.range(3))


def test_apply_takes_what_the_transformation_returns() -> None:
    assert values(Dataset.range(4).apply(lambda dataset: dataset.skip(1).take(2))) == [1, 2]


def test_apply_refuses_what_is_no_dataset() -> None:
    with says(TypeError, "apply: the transformation must return a Dataset; it returned 3 of type int."):
        Dataset.range(4).apply(lambda dataset: 3)  # type: ignore[arg-type,return-value]
