"""Pipelines: a table of datasets, at least one for each kind of stage, which every test of all stages goes through.

Run as a program, it continues each of them from the states that it is given.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

import agog_core as ag
from agog_data import Dataset, readers
from agog_data.transformations.batching import dense_to_sparse_batch, map_and_batch
from agog_data.transformations.counting import Counter, RandomDataset
from agog_data.transformations.filtering import assert_element_shape, ignore_errors, take_while, unique
from agog_data.transformations.flattening import parallel_interleave, sloppy_interleave
from agog_data.transformations.grouping import Reducer, bucket_by_sequence_length, group_by_reducer, group_by_window
from agog_data.transformations.placement import copy_to_device, prefetch_to_device
from agog_data.transformations.sampling import (
    choose_from_datasets,
    rejection_resample,
    sample_from_datasets,
    shuffle_and_repeat,
)
from agog_data.transformations.scanning import scan, sliding_window_batch

Make = Callable[[], Dataset]
WORKERS = (None, 1, 4)
FORKS = hasattr(os, "fork")


def values(dataset: Any) -> list[Any]:
    """The elements as lists; a component that is a dataset as the list of its elements."""
    return [ag.nest.map_structure(value_of, element) for element in dataset]


def value_of(component: Any) -> Any:
    """A component as a list, and of a sparse tensor its three parts."""
    if isinstance(component, Dataset):
        return values(component)
    if isinstance(component, ag.SparseTensor):
        return [part.numpy().tolist() for part in (component.indices, component.values, component.dense_shape)]
    return np.asarray(component.numpy()).tolist()


def written(element: Any) -> str:
    """An element as text, which another process can send."""
    return repr(ag.nest.map_structure(value_of, element))


def noise(x: Any) -> Any:
    return ag.cast(x, ag.float32) + ag.random_uniform([])


def noisy(*element: Any) -> Any:
    return element, ag.random_uniform([])


def noisy_rows(x: Any) -> Any:
    return x, ag.random_uniform(x.shape)


def noisy_dataset(x: Any) -> Dataset:
    return Dataset.range(3).shuffle(3).map(lambda k: (x, k, ag.random_uniform([])))


def noisy_group(key: Any, group: Dataset) -> Dataset:
    offset = ag.random_uniform([])
    return group.map(lambda x: (x, offset, ag.random_uniform([]))).shuffle(3)


def noisy_total() -> Reducer:
    return Reducer(
        lambda key: ag.random_uniform([]), lambda s, x: s + ag.random_uniform([]), lambda s: s + ag.random_uniform([])
    )


def rows_of_shared(calls: int | None) -> Dataset:
    shared = Dataset.range(4).map(lambda k: k * 10).shuffle(4)  # one dataset, read again for each element

    def row(n: Any) -> Dataset:
        offset = ag.random_uniform([])
        return shared.map(lambda k: (n, k, offset, ag.random_uniform([])))

    return Dataset.range(5).interleave(row, 3, 1, calls).repeat(2)


def yield_rows() -> Iterator[Any]:
    for number in range(4):
        yield ag.random_uniform([number])


def yield_pairs() -> Iterator[Any]:
    for number in range(3):
        yield number, ag.random_uniform([]).numpy()


def source() -> Dataset:
    return Dataset.range(7).shuffle(5)


def elements() -> Dataset:
    """Elements that are computed, and not rows of an array."""
    return source().map(noisy)


def rows() -> Dataset:
    """Rows of different lengths."""
    return Dataset.from_tensor_slices(np.array([1, 3, 0, 2, 4])).map(lambda n: ag.fill([int(n)], n))


def counts() -> Dataset:
    """Pairs of a number and how many elements `row` makes of it."""
    return Dataset.from_tensor_slices(np.array([2, 0, 3, 1, 4])).enumerate()


def row(number: Any, length: Any) -> Dataset:
    return Dataset.range(length).map(lambda k: number * 100 + k)


def pairs() -> Dataset:
    return Dataset.from_tensor_slices((np.arange(7.0), [f"name {i}" for i in range(7)])).map(lambda x, y: (x * 2, y))


def two() -> list[Dataset]:
    return [Dataset.range(6).map(noise), Dataset.range(10, 17).shuffle(4).map(noise, 2)]


def fails_for_some(x: Any) -> Any:
    if int(x) in (0, 4, 5, 11):
        raise ValueError(f"{int(x)} is wrong")
    return x


CHOSEN: dict[str, Make] = {
    "rows": lambda: Dataset.range(30).skip(3).shuffle(8).repeat(2).take(45).shuffle(5, seed=2),
    "elements": lambda: elements().skip(1).take(5).repeat(2).skip(1),
    "filter": lambda: source().filter(lambda x: ag.random_uniform([]) < 0.7).repeat(3),
    "shuffle": lambda: elements().shuffle(3).repeat(2),
    "large shuffle": lambda: elements().shuffle(100).repeat(2),
    "same order": lambda: elements().shuffle(3, reshuffle_each_iteration=False).repeat(2),
    "shuffle of pairs": lambda: pairs().shuffle(4),
    "shuffle and repeat": lambda: Dataset.range(9).map(noise).apply(shuffle_and_repeat(4, 2)),
    "shard": lambda: elements().shard(2, 1).repeat(2),
    "shard of rows": lambda: Dataset.range(30).shuffle(9).shard(3, 1).repeat(2),
    "shard of batches": lambda: elements().batch(3).map(lambda *row: row).shard_batches(2, 1).repeat(2),
    "shard of batches of rows": lambda: Dataset.range(30).shuffle(9).batch(8).shard_batches(3, 1).repeat(2),
    "split": lambda: Dataset.range(30).map(lambda x: x).split(a=0.6, b=0.4).b.repeat(2),
    "split of rows": lambda: Dataset.range(30).split(a=0.6, b=0.4).a.shuffle(5).repeat(2).batch(4).map(lambda x: x[0]),
    "split by counts": lambda: Dataset.range(30).split(a=7, b=8).b.repeat(3),
    "take_while": lambda: Dataset.range(9).map(noise).apply(take_while(lambda x: x + ag.random_uniform([]) < 7)),
    "unique": lambda: Dataset.range(20).map(lambda x: (x * x % 7, ag.as_string(x % 2))).apply(unique()).repeat(2),
    "unique before a thread": lambda: Dataset.range(20).map(lambda x: x % 7).apply(unique()).prefetch(2),
    "ignore_errors": lambda: Dataset.range(12).map(noise).map(fails_for_some).apply(ignore_errors()).repeat(2),
    "assert_element_shape": lambda: source().batch(7).apply(assert_element_shape([7])).repeat(2),
}
JOINED: dict[str, Make] = {
    "zip": lambda: Dataset.zip((Dataset.range(9).shuffle(9), {"a": Dataset.range(20).map(noise)})).repeat(2),
    "concatenate": lambda: two()[0].concatenate(Dataset.range(2).map(noise).prefetch(1)).repeat(2),
    "sample": lambda: sample_from_datasets(two(), [0.3, 0.7]).repeat(2),
    "sample by a dataset": lambda: sample_from_datasets(
        two(), Dataset.range(1, 6).map(lambda x: [0.5, 1 / float(x)]).repeat(3), seed=1
    ).repeat(2),
    "choose": lambda: choose_from_datasets(two(), Dataset.range(9).shuffle(9).map(lambda x: x % 2)).repeat(2),
    "resample": lambda: (
        Dataset.range(40)
        .apply(rejection_resample(lambda x: ag.random_uniform([], 0, 2, ag.int32), [0.2, 0.8], [0.5, 0.5]))
        .repeat(2)
    ),
    "resample by an estimate": lambda: (
        Dataset.range(40)
        .map(noise)
        .apply(rejection_resample(lambda x: ag.cast(x, ag.int32) % 2, [0.2, 0.8], seed=3))
        .repeat(2)
    ),
}
BATCHED: dict[str, Make] = {
    "batch of rows": lambda: Dataset.range(20).shuffle(6).repeat(2).batch(3),
    "batch": lambda: elements().batch(2, drop_remainder=True).repeat(2),
    "shuffle of batches": lambda: pairs().batch(2).shuffle(3),
    "padded_batch": lambda: rows().shuffle(4, seed=3).padded_batch(2, [None], -1).repeat(2),
    "dense_to_sparse_batch": lambda: rows().apply(dense_to_sparse_batch(2, [4])),
    "unbatch of sparse": lambda: rows().apply(dense_to_sparse_batch(2, [4])).unbatch(),
    "window of sparse": lambda: (
        rows().apply(dense_to_sparse_batch(1, [4])).window(2, 1).flat_map(lambda window: window.batch(2))
    ),
    "unbatch": lambda: source().batch(3).map(noisy_rows).unbatch().repeat(2),
    "unbatch of names": lambda: Dataset.from_tensor_slices([["a", "b"], ["c", "d"]]).unbatch(),
    "map_and_batch": lambda: source().apply(map_and_batch(noisy, 3)).repeat(2),
    "sliding_window_batch": lambda: elements().apply(sliding_window_batch(3, window_stride=2)).repeat(2),
    "buckets": lambda: (
        rows().map(lambda x: (x, ag.size(x))).apply(bucket_by_sequence_length(lambda x, n: n, [3], [2, 2])).repeat(2)
    ),
    "group_by_window": lambda: Dataset.range(11).apply(group_by_window(lambda x: x % 3 - 1, noisy_group, 2)).repeat(2),
    "group_by_window of sizes": lambda: (
        Dataset.range(11).apply(group_by_window(lambda x: x % 3, noisy_group, None, lambda key: key + 1)).repeat(2)
    ),
    "group_by_reducer": lambda: Dataset.range(9).apply(group_by_reducer(lambda x: x % 4 - 2, noisy_total())).repeat(2),
    "reducer with a structure": lambda: Dataset.range(9).apply(
        group_by_reducer(lambda x: x % 4, Reducer(lambda key: (key, [0]), lambda s, x: (s[0] + x, s[1]), lambda *s: s))
    ),
}
NESTED: dict[str, Make] = {
    "flat_map": lambda: source().take(3).flat_map(noisy_dataset).repeat(2),
    "flat_map of empty datasets": lambda: counts().flat_map(row),
    "flat_map of batches": lambda: Dataset.range(7).batch(3).flat_map(Dataset.from_tensor_slices),
    "flat_map of flat_map": lambda: Dataset.range(3).flat_map(
        lambda n: Dataset.range(n + 1).flat_map(lambda k: Dataset.range(k + 1))
    ),
    "interleave": lambda: counts().interleave(row, 3, 2),
    "parallel_interleave": lambda: counts().apply(parallel_interleave(row, 2, 1, prefetch_input_elements=1)),
    "parallel_interleave of noise": lambda: source().take(3).apply(parallel_interleave(noisy_dataset, 2)).prefetch(2),
    "sloppy_interleave": lambda: source().take(3).apply(sloppy_interleave(noisy_dataset, 1)),
    "interleave, shuffled": lambda: counts().interleave(row, 2, 1, 2).shuffle(3).repeat(2).prefetch(2),
    **{f"interleave {n}": lambda n=n: source().take(3).interleave(noisy_dataset, 2, 1, n) for n in WORKERS},
    **{f"interleave of a shared dataset {n}": lambda n=n: rows_of_shared(n) for n in (None, 2)},
    "window": lambda: Dataset.range(7).window(3, 2),
    "window with gaps": lambda: Dataset.range(20).window(2, 5, 2),
    "window of pairs": lambda: pairs().window(3, 1, drop_remainder=True),
    "window of windows": lambda: Dataset.range(9).window(2).window(2),
    "flat_map of windows": lambda: pairs().window(3, 2).flat_map(lambda x, y: Dataset.zip((x, y))),
    "interleave of windows": lambda: pairs().window(3).interleave(lambda x, y: y.batch(2), 2, 1, 2),
    "shuffle of windows": lambda: pairs().window(2).shuffle(3, seed=4),
    "shuffle of windows of windows": lambda: Dataset.range(9).window(2).window(2).shuffle(2),
    "prefetch of windows": lambda: Dataset.range(5).window(2, 1).repeat(2).prefetch(2),
}
MAPPED: dict[str, Make] = {
    **{f"map {n}": lambda n=n: source().map(noisy, n).repeat(2).prefetch(2) for n in (*WORKERS, -1)},
    **{f"vectorized {n}": lambda n=n: source().map(noisy_rows, n, vectorize=True).repeat(2) for n in WORKERS},
    **{
        f"vectorized batch {n}": lambda n=n: source().map(noisy_rows, n, vectorize=True).batch(2).repeat(2)
        for n in WORKERS
    },
    **{f"prefetch {n}": lambda n=n: elements().prefetch(n).repeat(2) for n in (1, 4)},
    "prefetch twice": lambda: Dataset.range(12).shuffle(5).map(noise, 2).prefetch(2).batch(2).prefetch(1),
    "enumerate": lambda: elements().enumerate(3),
    "scan": lambda: source().apply(scan(0.0, lambda s, x: (s + ag.random_uniform([]), (s, x)))).repeat(2),
    "scan of a structure": lambda: Dataset.range(5).apply(scan({"a": [0], "b": ""}, lambda s, x: (s, s))),
    "cache": lambda: elements().cache().repeat(2),
    "copy_to_device": lambda: elements().apply(copy_to_device("/cpu:0")),
    **{
        f"prefetch_to_device {name}": lambda name=name: (
            elements().shuffle(3).repeat(2).apply(copy_to_device(name)).apply(prefetch_to_device(name))
        )
        for name in ("cpu:0", "fake:1")
        if name == "cpu:0" or ag.count_devices("fake") > 1
    },
}
for count in WORKERS[1:] if FORKS else ():
    MAPPED |= {
        f"processes {count}": lambda n=count: source().map(noisy, n, processes=True).repeat(2),
        f"processes of elements {count}": lambda n=count: elements().map(noisy, n, processes=True).prefetch(2),
        f"batches of processes {count}": lambda n=count: source().map(noisy, n, processes=True).batch(3).repeat(2),
    }
STAGES = CHOSEN | JOINED | BATCHED | NESTED | MAPPED


class Points:
    """In place of one of Hugging Face's iterable datasets."""

    class Value:
        dtype = "int64"

    def __init__(self) -> None:
        self.features = {"x": self.Value()}

    def __iter__(self) -> Iterator[Any]:
        return iter([{"x": number} for number in range(5)])


def write_files(folder: Path) -> None:
    """Write what the datasets of `sources` read."""
    np.save(folder / "rows.npy", np.random.default_rng(11).normal(size=(6, 2)))
    for part in "ab":
        lines = [f"{part}{number},{number}" for number in range(4)]
        (folder / f"{part}.csv").write_text("\n".join(lines) + "\n")
        with readers.TFRecordWriter(str(folder / f"{part}.tfrecord")) as writer:
            for line in lines:
                writer.write(line.encode())
    with closing(sqlite3.connect(folder / "rows.db")) as database, database:
        database.execute("CREATE TABLE rows AS SELECT 1 AS x UNION SELECT 3 UNION SELECT 2")
    pyarrow.parquet.write_table(pyarrow.table({"x": list(range(6))}), folder / "rows.parquet", row_group_size=2)
    with tarfile.open(folder / "samples.tar", "w") as archive:
        for number in range(4):
            member = tarfile.TarInfo(f"{number}.txt")
            member.size = 1
            archive.addfile(member, BytesIO(b"x"))


def sources(folder: Path) -> dict[str, Make]:
    """Where elements come from."""
    a, b = (str(folder / f"{part}.csv") for part in "ab")
    records = [str(folder / f"{part}.tfrecord") for part in "ab"]
    parquet, statement = str(folder / "rows.parquet"), "SELECT x FROM rows ORDER BY x"
    return {
        "range": lambda: Dataset.range(7),
        "tensors": lambda: Dataset.from_tensors(3).repeat(2),
        "slices": lambda: Dataset.from_tensor_slices((np.arange(5), ["a", "b", "c", "d", "e"])),
        "generator": lambda: Dataset.from_generator(yield_rows, "float32").repeat(2),
        "generator of pairs": lambda: Dataset.from_generator(yield_pairs, ("int64", "float32")).map(noisy, 2),
        "counter": lambda: Counter(3, 2).shuffle(5).take(9).repeat(2),
        "random": lambda: RandomDataset().take(9).repeat(2),
        "list_files": lambda: Dataset.list_files(f"{folder}/*.csv").repeat(2),
        "npy": lambda: readers.NumpyDataset(str(folder / "rows.npy")).shuffle(4),
        "arrow batches": lambda: readers.ArrowDataset(parquet, batch_size=4),
        "arrow": lambda: readers.ArrowDataset(parquet),
        "sql": lambda: readers.SqlDataset("sqlite", folder / "rows.db", statement, (ag.int32,)),
        "text": lambda: readers.TextLineDataset([a, b]),
        "csv": lambda: readers.CsvDataset([a, b], ["string", [0]]),
        "fixed": lambda: readers.FixedLengthRecordDataset([a, b], 5),
        "tfrecord": lambda: readers.TFRecordDataset(records),
        "webdataset": lambda: readers.WebDataset(str(folder / "samples.tar")),
        "huggingface": lambda: readers.from_huggingface(Points()),
        **{f"tfrecord {n}": lambda n=n: readers.TFRecordDataset(records, num_parallel_reads=n) for n in (1, 2)},
    }


NAMES = [*sources(Path()), *STAGES]


def pipelines(folder: Path) -> dict[str, Make]:
    """All of them."""
    return sources(folder) | STAGES


def continue_all(folder: Path) -> None:
    """Continue each pipeline from each of the states that come in, and print the elements."""
    found: dict[str, list[Any]] = {}
    made = pipelines(folder)
    for name, states in json.load(sys.stdin).items():
        dataset = made[name]()
        found[name] = []
        for state in states:
            iterator = iter(dataset)
            iterator.load_state_dict(state)
            found[name].append([written(element) for element in iterator])
            del iterator
    print(json.dumps(found))


if __name__ == "__main__":
    continue_all(Path(sys.argv[1]))
