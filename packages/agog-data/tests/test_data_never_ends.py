"""What is known of datasets that go on forever: nothing is read but the element that a function is tried on."""

from __future__ import annotations

from functools import partial
from itertools import count, cycle
from typing import Any

import pytest

from agog_data import Dataset
from agog_data.transformations.counting import Counter, RandomDataset
from agog_data.transformations.filtering import take_while

FINITE = Dataset.range(3)
ENDLESS = FINITE.repeat()


def unread(_: Any) -> Any:
    raise AssertionError("an element was read")


@pytest.mark.parametrize(
    "dataset",
    [
        ENDLESS,
        FINITE.repeat(-1),
        ENDLESS.repeat(2),
        ENDLESS.map(unread).filter(unread),
        ENDLESS.map(unread, num_parallel_calls=2),
        ENDLESS.batch(2).shuffle(5).prefetch(1),
        ENDLESS.skip(2).cache(),
        ENDLESS.shard(2, 0),
        ENDLESS.padded_batch(2, []),
        ENDLESS.window(2),
        ENDLESS.flat_map(unread),
        ENDLESS.take(-1),
        Dataset.zip((ENDLESS, ENDLESS)),
        FINITE.concatenate(ENDLESS),
        ENDLESS.concatenate(FINITE),
        Counter(),
        RandomDataset(1),
        FINITE.flat_map(lambda x: ENDLESS),
        FINITE.interleave(lambda x: ENDLESS.prefetch(2), 2),
        FINITE.interleave(lambda x: ENDLESS, 2, num_parallel_calls=2).batch(2),
        FINITE.flat_map(lambda x: FINITE.flat_map(lambda x: ENDLESS)),
        Dataset.from_generator(count, "int64"),
        Dataset.from_generator(partial(count, 3), "int64"),
        Dataset.from_generator(cycle, "int64", args=([1, 2],)),
        FINITE.flat_map(lambda x: Dataset.from_generator(count, "int64")),
    ],
)
def test_endless(dataset: Any) -> None:
    assert dataset._never_ends()


@pytest.mark.parametrize(
    "dataset",
    [
        FINITE,
        FINITE.repeat(2),
        ENDLESS.take(5),
        ENDLESS.apply(take_while(unread)),
        Dataset.zip((ENDLESS, FINITE)),
        FINITE.concatenate(FINITE),
        Dataset.from_tensors(1).batch(2),
        Counter().take(4),
        Dataset.from_generator(lambda: iter([1]), "int64"),
        Dataset.from_generator(lambda: unread(0), "int64"),
        FINITE.flat_map(lambda x: FINITE),
        FINITE.flat_map(lambda x: ENDLESS).take(7),
        FINITE.flat_map(lambda x: ENDLESS.take(2)),
        Dataset.from_generator(count, "int64").take(3),
    ],
)
def test_ending_or_unknown(dataset: Any) -> None:
    assert not dataset._never_ends()
