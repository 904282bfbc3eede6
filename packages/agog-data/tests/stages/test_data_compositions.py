"""Pipelines of stages drawn at random: each is resumed after every element, on any number of threads."""

from __future__ import annotations

import itertools
import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pipelines import values

import agog_core as ag
from agog_data import Dataset
from agog_data.transformations.filtering import assert_element_shape, ignore_errors, take_while, unique
from agog_data.transformations.flattening import parallel_interleave, unbatch
from agog_data.transformations.placement import copy_to_device
from agog_data.transformations.sampling import choose_from_datasets, rejection_resample, sample_from_datasets

TRIALS = 500 if os.environ.get("AGOG_ENDURANCE") else 20
Part = Callable[[Dataset], Dataset]


def noise(x: Any) -> Any:
    return x * 2 + ag.random_uniform([], 0, 2, ag.int64)


def double(x: Any) -> Any:
    return x * 2


def fails_for_some(x: Any) -> Any:
    if int(x) % 5 == 3:
        raise ValueError(f"{int(x)} is wrong")
    return x


def stages(workers: int | None, folder: Path) -> dict[str, Part]:
    """All kinds of stages that take int64 scalars and give such; caches are files of their own."""

    numbers = itertools.count()

    def cache_in_file(dataset: Dataset) -> Dataset:
        return dataset.cache(folder / str(next(numbers)))

    return {
        "map": lambda d: d.map(noise, workers),
        "processes": lambda d: d.map(double, 2, processes=True) if workers == 4 else d.map(double),
        "filter": lambda d: d.filter(lambda x: x % 3 > 0),
        "shuffle": lambda d: d.shuffle(4),
        "repeat": lambda d: d.repeat(2),
        "take": lambda d: d.take(9),
        "skip": lambda d: d.skip(2),
        "prefetch": lambda d: d.prefetch(workers or 1),
        "shard": lambda d: d.shard(2, 1),
        "cache": lambda d: d.cache(),
        "cache in a file": cache_in_file,
        "ignore_errors": lambda d: d.map(fails_for_some, workers).apply(ignore_errors()),
        "unique": lambda d: d.apply(unique()),
        "take_while": lambda d: d.apply(take_while(lambda x: x < 40)),
        "sample": lambda d: sample_from_datasets([d, Dataset.range(50, 55)], [0.7, 0.3]),
        "choose": lambda d: choose_from_datasets([d, Dataset.range(9)], Dataset.range(2).repeat(8).shuffle(3)),
        "resample": lambda d: d.apply(rejection_resample(lambda x: x % 2, [0.3, 0.7])).map(lambda c, x: x),
        "place": lambda d: d.apply(copy_to_device("/cpu:0")),
        "padded_batch": lambda d: d.padded_batch(3, [], -1).flat_map(Dataset.from_tensor_slices),
        "unbatch": lambda d: d.batch(3).apply(unbatch()),
        "assert": lambda d: d.apply(assert_element_shape([])),
        "enumerate": lambda d: d.enumerate().map(lambda number, x: number + x),
        "interleave": lambda d: d.apply(parallel_interleave(lambda x: Dataset.range(x, x + 2), 3)),
        "concatenate": lambda d: d.concatenate(Dataset.range(3)),
    }


@pytest.mark.parametrize("trial", range(TRIALS))
def test_any_pipeline_resumes_after_every_element(trial: int, tmp_path: Path) -> None:
    chance = random.Random(trial)
    workers = chance.choice([None, 1, 4])
    parts = stages(workers, tmp_path)
    names = [chance.choice(list(parts)) for _ in range(chance.randint(1, 5))]
    told = f"trial {trial}, {workers} workers: {names}"
    others = set(threading.enumerate())
    of_stages = ("agog-interleave", "agog-map", "agog-prefetch", "agog-sloppy")

    def build() -> Dataset:
        dataset = Dataset.range(14)
        for name in names:
            dataset = parts[name](dataset)
        return dataset.take(40)

    ag.set_random_seed(trial)
    expected = values(build())
    ag.set_random_seed(trial)
    iterator = iter(build())
    for position in range(len(expected) + 1):
        state = json.dumps(iterator.state_dict())
        ag.set_random_seed(None)  # as in another program: nothing but the state tells the seeds
        resumed = iter(build())
        for _ in range(chance.choice([0, 0, 3])):
            next(resumed, None)
        resumed.load_state_dict(json.loads(state))
        assert values(resumed) == expected[position:], f"{told}, after {position} elements"
        del resumed
        next(iterator, None)
    del iterator
    assert not [t.name for t in threading.enumerate() if t.name.startswith(of_stages) and t not in others], told
