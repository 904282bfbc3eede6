"""What datasets tell of themselves before they are read: how many elements there are, and what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import TensorSpec
from agog_core.errors import InvalidArgumentError
from agog_data import Dataset
from agog_data.transformations.filtering import assert_element_shape
from agog_testing import says

N = 11
NUMBERS = Dataset.range(N)
KNOWN: dict[str, Callable[[Dataset], Dataset]] = {
    "batch": lambda d: d.batch(4),
    "batch, full": lambda d: d.batch(4, drop_remainder=True),
    "padded": lambda d: d.padded_batch(4, []),
    "map": lambda d: d.map(lambda x: x + 1),
    "map, threads": lambda d: d.map(lambda x: x + 1, num_parallel_calls=-1, deterministic=True),
    "map, batches": lambda d: d.map(lambda x: x + 1, vectorize=True).batch(3),
    "map, rows": lambda d: d.map(lambda x: x + 1, vectorize=True),
    "shuffle": lambda d: d.shuffle(4),
    "cache, prefetch": lambda d: d.cache().prefetch(-1),
    "take": lambda d: d.take(5),
    "take more": lambda d: d.take(50),
    "take all": lambda d: d.take(-1),
    "take of no end": lambda d: d.repeat().take(7),
    "skip": lambda d: d.skip(4),
    "skip more": lambda d: d.skip(50),
    "repeat": lambda d: d.repeat(3),
    "repeat nothing": lambda d: d.take(0).repeat(),
    "concatenate": lambda d: d.concatenate(Dataset.range(3)),
    "zip": lambda d: Dataset.zip(d, d.repeat()),
    "enumerate": lambda d: d.enumerate(),
    "window": lambda d: d.window(3, shift=2),
    "window, full": lambda d: d.window(3, shift=2, stride=2, drop_remainder=True),
    "checked": lambda d: d.apply(assert_element_shape(())),
    "scan": lambda d: d.scan(np.int64(0), lambda s, x: (s + x, s)),
    "tensors": lambda d: Dataset.from_tensors([1, 2]),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_known_lengths(kind: str) -> None:
    dataset = KNOWN[kind](NUMBERS)
    count = sum(1 for _ in dataset)
    assert len(dataset) == int(dataset.cardinality()) == count
    assert dataset.cardinality().dtype is ag.int64


@pytest.mark.parametrize(
    ("dataset", "count"),
    [
        (NUMBERS.repeat(), -1),
        (NUMBERS.repeat().batch(2).map(lambda x: x), -1),
        (Dataset.counter(), -1),
        (Dataset.zip(NUMBERS.repeat(), Dataset.counter()), -1),
        (NUMBERS.concatenate(Dataset.counter()), -1),
        (NUMBERS.filter(lambda x: x > 3), -2),
        (NUMBERS.filter(lambda x: x > 3).batch(2), -2),
        (NUMBERS.flat_map(lambda x: Dataset.range(x)), -2),
        (NUMBERS.batch(2).unbatch(), -2),
        (NUMBERS.take_while(lambda x: x < 3), -2),
        (Dataset.zip(NUMBERS, NUMBERS.unique()), -2),
        (NUMBERS.unique().skip(1), -2),
    ],
)
def test_lengths_that_are_not_known(dataset: Dataset, count: int) -> None:
    assert int(dataset.cardinality()) == count
    why = "never ends" if count == -1 else "has a length that only iterating tells"
    with says(
        TypeError,
        f"len(dataset): the dataset {why}. Count with sum(1 for _ in dataset), or end it with dataset.take(n).",
    ):
        len(dataset)
    assert dataset
    assert bool(Dataset.range(0))


def test_element_specs() -> None:
    dataset = Dataset.from_tensor_slices({"x": np.zeros((4, 2), "f4"), "y": ["a"] * 4}).batch(3)
    assert dataset.element_spec == {"x": TensorSpec([None, 2], "float32"), "y": TensorSpec([None], "string")}
    assert str(NUMBERS.window(2).element_spec) == "<dataset of types <dtype: 'int64'> and shapes ()>"


def test_numpy_iterators() -> None:
    elements = list(Dataset.from_tensor_slices(([1.0, 2.0], [[1], [2]])).as_numpy_iterator())
    assert [(type(x), type(y)) for x, y in elements] == [(np.float32, np.ndarray)] * 2
    assert [(float(x), y.tolist()) for x, y in elements] == [(1.0, [1]), (2.0, [2])]
    assert [list(each) for each in NUMBERS.take(3).window(2).as_numpy_iterator()] == [[0, 1], [2]]
    sparse = ag.SparseTensor([[0, 1]], [5.0], [1, 3])
    (value,) = Dataset.from_tensors(sparse).as_numpy_iterator()
    assert [part.tolist() for part in value] == [[[0, 1]], [5.0], [1, 3]]


def test_generators_with_a_signature() -> None:
    signature = (TensorSpec([], "int64"), {"a": TensorSpec([None], "float32")})
    dataset = Dataset.from_generator(lambda: ((n, {"a": [n] * n}) for n in range(3)), output_signature=signature)
    assert dataset.element_spec == signature
    assert [(int(n), rest["a"].numpy().tolist()) for n, rest in dataset] == [(0, []), (1, [1.0]), (2, [2.0, 2.0])]
    with says(
        TypeError,
        "from_generator: output_signature must hold TensorSpecs; it holds [TensorSpec(shape=(), dtype=tf.int64, "
        "name=None)] of type list. A list is one component: use a tuple.",
    ):
        Dataset.from_generator(lambda: [1], output_signature=[TensorSpec([], "int64")])
    for given in ({}, {"output_types": "int64", "output_signature": TensorSpec([], "int64")}):
        with says(
            TypeError, "from_generator: give either output_types, or output_signature, a structure of TensorSpecs."
        ):
            Dataset.from_generator(lambda: [1], **given)


def test_zip_takes_datasets_or_a_structure() -> None:
    a, b = Dataset.range(2), Dataset.range(5, 9)
    for dataset in (Dataset.zip(a, b), Dataset.zip((a, b)), Dataset.zip(datasets=(a, b))):
        assert [(int(x), int(y)) for x, y in dataset] == [(0, 5), (1, 6)]
    assert [int(x) for x in Dataset.zip(a)] == [0, 1]
    for arguments, named in (((), {}), ((a,), {"datasets": b})):
        with says(TypeError, "zip: give the datasets, or one structure of them: zip(a, b), or zip(datasets=(a, b))."):
            Dataset.zip(*arguments, **named)


def test_threads_are_chosen_here() -> None:
    squares = NUMBERS.map(lambda x: x * x, num_parallel_calls=-1)
    assert [int(x) for x in squares] == [n * n for n in range(N)]
    pairs = NUMBERS.take(3).interleave(lambda n: Dataset.from_tensors(n).repeat(2), num_parallel_calls=-1)
    assert sorted(int(x) for x in pairs) == [0, 0, 1, 1, 2, 2]
    in_turn = NUMBERS.take(3).interleave(lambda n: Dataset.from_tensors(n).repeat(2))
    assert [int(x) for x in in_turn] == [0, 0, 1, 1, 2, 2]
    with says(InvalidArgumentError, "map: num_parallel_calls must be greater than zero; got 0."):
        NUMBERS.map(lambda x: x, num_parallel_calls=0)


def test_batches_are_padded_to_their_longest() -> None:
    rows = Dataset.range(1, 4).map(lambda n: (ag.fill([int(n)], n), n))
    ((padded, sizes),) = rows.padded_batch(3)
    assert padded.numpy().tolist() == [[1, 0, 0], [2, 2, 0], [3, 3, 3]]
    assert sizes.numpy().tolist() == [1, 2, 3]
    unknown = Dataset.from_generator(lambda: [[1], [2, 3]], "int32").padded_batch(2)
    assert [each.numpy().tolist() for each in unknown] == [[[1, 0], [2, 3]]]
    with says(
        ValueError, "padded_batch: nobody knows how many axes component 0 of the elements has; give padded_shapes."
    ):
        unknown.element_spec  # noqa: B018  # the access is what is tested


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: NUMBERS.take_while(lambda x: x < 3), [0, 1, 2]),
        (lambda: Dataset.from_tensor_slices([3, 1, 3]).unique(), [3, 1]),
        (lambda: NUMBERS.take(4).scan(np.int64(0), lambda s, x: (s + x, s + x)), [0, 1, 3, 6]),
        (lambda: Dataset.choose_from_datasets([NUMBERS, NUMBERS.skip(5)], Dataset.range(2)), [0, 5]),
        (lambda: Dataset.sample_from_datasets([NUMBERS, NUMBERS], [1.0, 0.0]).take(3), [0, 1, 2]),
        (lambda: Dataset.counter(2, 3).take(3), [2, 5, 8]),
        (
            lambda: NUMBERS.group_by_window(lambda x: x % 2, lambda k, w: w.batch(9), 9).unbatch(),
            [*range(0, 11, 2), *range(1, 11, 2)],
        ),
        (lambda: NUMBERS.rejection_resample(lambda x: np.int32(0), [1.0]).map(lambda c, x: x), list(range(N))),
        (
            lambda: (
                Dataset.from_tensor_slices([2.0, 0.0, 4.0]).map(lambda x: ag.check_numerics(1 / x, "")).ignore_errors()
            ),
            [0.5, 0.25],
        ),
    ],
)
def test_what_was_applied_is_a_method_too(made: Any, expected: list[Any]) -> None:
    assert [x.numpy().item() for x in made()] == expected


def test_buckets_and_single_elements() -> None:
    lengths = Dataset.from_tensor_slices([1, 5, 2, 6]).map(lambda n: ag.fill([int(n)], n))
    batches = lengths.bucket_by_sequence_length(len, [4], [2, 2], padded_shapes=[None])
    assert sorted(batch.shape.as_list() for batch in batches) == [[2, 2], [2, 6]]
    assert int(NUMBERS.skip(10).get_single_element()) == 10
