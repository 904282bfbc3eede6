"""Shards and splits: each element in exactly one part, whatever follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agog_core as ag
from agog_data import Dataset
from agog_data.stage import Stage, UnaryStage
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def numbers(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


def elements(count: int) -> Dataset:
    """The same numbers as a range, but not as rows of a source."""
    return Dataset.range(count).map(lambda x: x)


each_source = pytest.mark.parametrize("source", [Dataset.range, elements], ids=["rows", "elements"])


@each_source
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 50), st.integers(1, 60), st.data())
def test_a_shard_is_a_slice(source: Callable[[int], Dataset], count: int, shards: int, data: Any) -> None:
    index = data.draw(st.integers(0, shards - 1))
    assert numbers(source(count).shard(shards, index)) == list(range(count))[index::shards]


def test_long_shards() -> None:
    for shards, index in [(2, 1), (4097, 4096), (10_000, 3), (3, 0)]:
        dataset = Dataset.range(50_000).shard(shards, index)
        assert [int(x) for batch in dataset.batch(777) for x in batch.numpy()] == list(range(50_000))[index::shards]
    assert numbers(elements(9000).shard(4097, 4096)) == [4096, 8193]


def test_shards_of_repeated_and_shuffled_rows() -> None:
    ag.set_random_seed(3)
    whole = numbers(Dataset.range(100).shuffle(10, seed=1, reshuffle_each_iteration=False).repeat(2))
    parted = Dataset.range(100).shuffle(10, seed=1, reshuffle_each_iteration=False).repeat(2).shard(7, 2)
    assert numbers(parted) == whole[2::7]
    assert numbers(parted.repeat(2).take(40)) == (whole[2::7] * 2)[:40]


def test_errors_of_shard() -> None:
    for arguments, text in [
        ((0, 0), "shard: num_shards must be at least 1; got 0."),
        ((3, 3), "shard: index must be at least 0 and less than num_shards = 3; got 3."),
        ((3, -1), "shard: index must be at least 0 and less than num_shards = 3; got -1."),
    ]:
        with says(ValueError, text):
            Dataset.range(3).shard(*arguments)
    with says(TypeError, "shard: num_shards must be an integer; got 1.5 of type float."):
        Dataset.range(3).shard(1.5, 0)


@each_source
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 300), st.integers(0, 2**70), st.sampled_from([(8, 2), (1, 1), (333, 667), (7, 2, 1), (5, 2)]))
def test_parts_are_disjoint_and_complete(
    source: Callable[[int], Dataset], count: int, seed: int, shares: tuple[int, ...]
) -> None:
    total = {10: 10, 2: 2, 1000: 1000, 7: 10}[sum(shares)]  # 5 + 2 of 10: three tenths are in no part
    parts = source(count).split(seed=seed, **{f"part{i}": share / total for i, share in enumerate(shares)})
    found = [numbers(part) for part in parts]
    together = sorted(x for part in found for x in part)
    assert len(set(together)) == len(together)
    assert all(part == sorted(part) for part in found)
    if sum(shares) == total:
        assert together == list(range(count))
    if count % total == 0:
        assert [len(part) for part in found] == [share * count // total for share in shares]
    # What is appended later moves nothing.
    longer = source(count + 7).split(seed=seed, **{f"part{i}": share / total for i, share in enumerate(shares)})
    assert [[x for x in numbers(part) if x < count] for part in longer] == found


def test_each_block_has_its_shares() -> None:
    parts = Dataset.range(10_000).split(train=0.7, validation=0.2, test=0.1)
    assert type(parts).__name__ == "Split"
    assert parts._fields == ("train", "validation", "test")
    for part, share in zip(parts, (7, 2, 1), strict=True):
        blocks = [x // 10 for x in numbers(part)]
        assert all(blocks.count(block) == share for block in range(0, 1000, 50))
        # All places in a block are equally likely: 1000 draws, 9 degrees of freedom, p = 0.001.
        places = [x % 10 for x in numbers(part)]
        expected = 100 * share
        assert sum((places.count(k) - expected) ** 2 / expected for k in range(10)) < 27.88


def test_fractions_that_are_no_decimals() -> None:
    parts = Dataset.range(300).split(a=1 / 3, b=2 / 3)
    assert [len(numbers(part)) for part in parts] == [100, 200]


def test_counts() -> None:
    for source in (Dataset.range, elements):
        parts = source(30).split(train=18, test=6)
        train, test = map(numbers, parts)
        assert sorted(train + test) == list(range(24))
        assert (len(train), len(test)) == (18, 6)
        assert test != list(range(18, 24))
    assert numbers(Dataset.range(5).split(a=3)[0]) == [0, 1, 2]
    large = Dataset.range(30_000).split(train=20_000, test=10_000)
    assert len(numbers(large.test)) == 10_000
    assert set(numbers(large.test)).isdisjoint(numbers(large.train))


def test_a_split_is_fixed() -> None:
    """Written down, so that no release moves elements from one part to another."""
    assert numbers(Dataset.range(23).split(train=0.8, test=0.2).test) == [4, 6, 14, 15, 20]
    assert numbers(Dataset.range(23).split(train=15, test=5, seed=3).test) == [0, 2, 11, 18, 19]
    ag.set_random_seed(8)  # has no part in it
    assert numbers(Dataset.range(23).split(train=0.8, test=0.2).test) == [4, 6, 14, 15, 20]
    assert numbers(Dataset.range(23).split(seed=1, train=0.8, test=0.2).test) != [4, 6, 14, 15, 20]


@each_source
def test_nothing_leaks_whatever_follows(source: Callable[[int], Dataset]) -> None:
    train, test = source(50).split(train=0.6, test=0.4)
    kept = set(numbers(test))
    iterator, other = iter(train.shuffle(20).repeat(4).batch(3)), iter(test.repeat(2).shuffle(7))
    seen: set[int] = set()
    for batch in iterator:
        seen.update(batch.numpy().tolist())
    assert seen == set(range(50)) - kept
    assert {int(x) for x in other} == kept


def test_splits_of_splits_and_of_what_has_a_fixed_order() -> None:
    rest, test = Dataset.range(100).split(rest=0.8, test=0.2)
    train, validation = rest.split(train=0.75, validation=0.25)
    parts = [numbers(part) for part in (train, validation, test)]
    assert [len(part) for part in parts] == [60, 20, 20]
    assert sorted(x for part in parts for x in part) == list(range(100))
    shuffled = Dataset.range(20).shuffle(20, seed=4, reshuffle_each_iteration=False)
    parts = [numbers(part) for part in shuffled.split(a=0.5, b=0.5)]
    assert sorted(x for part in parts for x in part) == list(range(20))
    batches = Dataset.range(20).batch(2).split(a=0.5, b=0.5)
    assert sorted(x for part in batches for batch in part for x in batch.numpy().tolist()) == list(range(20))


SHUFFLE = "shuffle without a seed and reshuffle_each_iteration=False gives them another order each time"
UNSETTLED: dict[str, tuple[Callable[[Dataset], Dataset], str]] = {
    "shuffle": (lambda d: d.shuffle(5, seed=1).map(lambda x: x).batch(2), SHUFFLE),
    "shuffle without a seed": (lambda d: d.shuffle(5, reshuffle_each_iteration=False).prefetch(1), SHUFFLE),
    "repeat": (lambda d: d.repeat(2).skip(1), "repeat gives each element several numbers"),
    "zip": (lambda d: Dataset.zip((d, {"a": d.shuffle(3)})), SHUFFLE),
    "concatenate": (lambda d: d.concatenate(d.repeat()), "repeat gives each element several numbers"),
}


@pytest.mark.parametrize(("build", "reason"), UNSETTLED.values(), ids=UNSETTLED)
def test_what_could_leak_is_refused(build: Callable[[Dataset], Dataset], reason: str) -> None:
    with says(
        InvalidArgumentError,
        "split: the elements must have the same numbers each time, or one could be in two parts, "
        f"but {reason}. Split first, then shuffle and repeat the parts.",
    ):
        build(Dataset.range(10)).split(train=0.5, test=0.5)


def test_every_stage_says_whether_its_numbers_are_fixed() -> None:
    """The default is right for stages without input only; stages with several inputs must ask each."""

    def stages(kind: type) -> set[type]:
        return {kind, *[each for part in kind.__subclasses__() for each in stages(part)]}

    silent = {kind.__name__ for kind in stages(Stage) if kind.unsettled is Stage.unsettled and kind is not Stage}
    assert {"Zip", "Concatenate"}.isdisjoint(silent)
    assert not any(issubclass(kind, UnaryStage) and kind.__name__ in silent for kind in stages(Stage))


def test_errors_of_split() -> None:
    dataset = Dataset.range(10)
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({}, TypeError, "split: at least one part is expected, such as train=0.8 or train=50000."),
        (
            {"train": 0.8, "test": 2},
            TypeError,
            "split: parts must be all fractions (floats) or all counts (ints); got {'train': 0.8, 'test': 2}.",
        ),
        ({"_a": 0.5}, ValueError, "split: names of parts cannot begin with an underscore; got ['_a']."),
        (
            {"train": 3, "test": 0},
            InvalidArgumentError,
            "split: each part needs at least one element; got {'train': 3, 'test': 0}.",
        ),
        ({"train": 0.8, "seed": 1.5}, TypeError, "split: seed must be an integer; got 1.5 of type float."),
    ]
    wrong += [
        (
            parts,
            InvalidArgumentError,
            f"split: fractions must be positive, at least 1/126000, and add up to at most 1; got {parts}.",
        )
        for parts in ({"a": 0.8, "b": 0.3}, {"a": -0.1}, {"a": 0.5, "b": 0.0}, {"a": 0.0000001})
    ]
    for parts, kind, text in wrong:
        with says(kind, text):
            dataset.split(**parts)
