"""Shards of batches: each row in exactly one, equal numbers of batches, and states that fit other numbers of shards."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agog_core as ag
from agog_data import Dataset
from agog_testing import says

Make = Callable[[int, int], Dataset]
# Of so many elements in batches of so many.
MAKE: dict[str, Make] = {
    "rows": lambda count, size: Dataset.range(count).batch(size),
    "shuffled rows": lambda count, size: Dataset.range(count).shuffle(20, seed=4).repeat(2).batch(size),
    "map": lambda count, size: Dataset.range(count).map(lambda x: 3 * x).batch(size),
    "random map": lambda count, size: (
        Dataset.range(count).map(lambda x: ag.random_uniform([], seed=5) + float(x)).batch(size).prefetch(2)
    ),
    "threads": lambda count, size: Dataset.range(count).map(lambda x: x + 1, 2).batch(size).repeat(2),
    "batches": lambda count, size: Dataset.range(count).batch(size).map(lambda x: x + 1),
    "remainder": lambda count, size: Dataset.range(count).batch(size, drop_remainder=True).shuffle(3, seed=1),
    "filter": lambda count, size: Dataset.range(count).filter(lambda x: x % 3 > 0).batch(size),
    "vectorized": lambda count, size: Dataset.range(count).map(lambda x: x * 2, vectorize=True).batch(size),
}


def make(name: str, count: int, size: int) -> Dataset:
    """The dataset, as each of several processes with one seed makes it."""
    ag.set_random_seed(7)
    return MAKE[name](count, size)


def arrays(dataset: Dataset) -> list[np.ndarray]:
    return [batch.numpy() for batch in dataset]


@pytest.mark.parametrize("name", MAKE)
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 40), st.integers(1, 12), st.integers(1, 6))
def test_shares_joined_are_the_batches(name: str, count: int, size: int, shards: int) -> None:
    whole = arrays(make(name, count, size))
    parts = [arrays(make(name, count, size).shard_batches(shards, index)) for index in range(shards)]
    assert [len(part) for part in parts] == [len(whole)] * shards
    for shares, batch in zip(zip(*parts, strict=True), whole, strict=True):
        np.testing.assert_array_equal(np.concatenate(shares), batch)
        assert all(share.dtype == batch.dtype for share in shares)


@pytest.mark.parametrize("name", MAKE)
def test_a_state_of_one_shard_fits_any_other(name: str) -> None:
    whole = arrays(make(name, 61, 8))
    iterators = [iter(make(name, 61, 8).shard_batches(4, index)) for index in range(4)]
    for iterator in iterators:
        for _ in range(3):
            next(iterator)
    states = [json.dumps(iterator.state_dict()) for iterator in iterators]
    # A thread that works ahead may be anywhere, and its state tells the place of the consumer.
    assert len(set(states)) == 1
    for shards in (1, 2, 3, 8):
        others = [iter(make(name, 61, 8).shard_batches(shards, index)) for index in range(shards)]
        for other in others:
            other.load_state_dict(json.loads(states[0]))
        for batch, *shares in zip(whole[3:], *others, strict=True):
            np.testing.assert_array_equal(np.concatenate([share.numpy() for share in shares]), batch)
    # And the pipeline of one process.
    alone = iter(make(name, 61, 8))
    alone.load_state_dict(json.loads(states[0]))
    for batch, rest in zip(alone, whole[3:], strict=True):
        np.testing.assert_array_equal(batch.numpy(), rest)


def test_functions_are_called_for_the_own_rows_alone() -> None:
    seen: list[int] = []

    def note(x: ag.Tensor) -> ag.Tensor:
        seen.append(int(x))
        return x

    dataset = Dataset.range(17).map(note).batch(8).prefetch(1).repeat(2)
    shard = dataset.shard_batches(4, 1)
    seen.clear()
    assert [batch.tolist() for batch in arrays(shard)] == [[2, 3], [10, 11], []] * 2
    # Those of other processes are not made; 0 is looked at once, for the shape of a batch without rows.
    assert sorted({*seen} - {0}) == [2, 3, 10, 11]


def test_structures_and_empty_shares_keep_their_shapes() -> None:
    images = Dataset.from_tensor_slices({"x": np.zeros((5, 2, 3), np.float32), "y": np.arange(5)})
    for dataset in (images.batch(4), images.map(lambda row: row).batch(4), images.batch(4).map(lambda row: row)):
        last = list(dataset.shard_batches(2, 1))[-1]
        assert {name: (part.shape, part.dtype.name) for name, part in last.items()} == {
            "x": ((0, 2, 3), "float32"),
            "y": ((0,), "int64"),
        }
        shapes = dataset.shard_batches(2, 1).output_shapes
        assert (shapes["x"].as_list(), shapes["y"].as_list()) == ([None, 2, 3], [None])


def test_errors() -> None:
    with says(ValueError, "shard_batches: index must be at least 0 and less than num_shards = 3; got 3."):
        Dataset.range(4).batch(2).shard_batches(3, 3)
    text = (
        "shard_batches: the components of an element must have a first axis of one size, the rows that are shared; got "
        "shapes (). Did you forget .batch(), as in dataset.batch(32)?"
    )
    with says(ag.errors.InvalidArgumentError, text):
        next(iter(Dataset.range(4).shard_batches(2, 0)))
