"""Every kind of stage, continued at each of its elements in another process.

This file is also the program that runs in the other process.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import sqlite3
import subprocess
import sys
import tarfile
import warnings
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import agog_core as ag
import agog_data
from agog_data import Dataset, readers
from agog_data.stage import Stage
from agog_data.stages.batching import Batch
from agog_data.transformations import (
    batching,
    counting,
    filtering,
    flattening,
    grouping,
    placement,
    sampling,
    scanning,
)

SEED = 11
WORKERS = [None, 1, 4]


def noisy(*element: Any) -> Any:
    return element, ag.random_uniform([])


def noisy_rows(x: Any) -> Any:
    return x, ag.random_uniform(x.shape)


def noisy_dataset(x: Any) -> Dataset:
    return Dataset.range(3).shuffle(3).map(lambda k: (x, k, ag.random_uniform([])))


def yield_rows() -> Iterator[Any]:
    for number in range(4):
        yield ag.random_uniform([number])


class Points:
    """In place of one of Hugging Face's iterable datasets."""

    class Value:
        dtype = "int64"

    def __init__(self) -> None:
        self.features = {"x": self.Value()}

    def __iter__(self) -> Iterator[Any]:
        return iter([{"x": number} for number in range(5)])


def write_files(folder: Path) -> None:
    rng = np.random.default_rng(SEED)
    np.save(folder / "rows.npy", rng.normal(size=(6, 2)))
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


def sources(folder: Path) -> dict[str, Dataset]:
    """Where elements come from."""
    a, b = (str(folder / f"{part}.csv") for part in "ab")
    records = [str(folder / f"{part}.tfrecord") for part in "ab"]
    return {
        "slices": Dataset.from_tensor_slices((np.arange(5), ["a", "b", "c", "d", "e"])),
        "generator": Dataset.from_generator(yield_rows, "float32"),
        "list_files": Dataset.list_files(f"{folder}/*.csv", seed=3).repeat(2),
        "random": counting.RandomDataset().take(5),
        "npy": readers.NumpyDataset(str(folder / "rows.npy")).shuffle(4),
        "arrow batches": readers.ArrowDataset(str(folder / "rows.parquet"), batch_size=4),
        "arrow": readers.ArrowDataset(str(folder / "rows.parquet")),
        "sql": readers.SqlDataset("sqlite", folder / "rows.db", "SELECT x FROM rows ORDER BY x", (ag.int32,)),
        "text": readers.TextLineDataset([a, b]),
        "csv": readers.CsvDataset([a, b], ["string", [0]]),
        "fixed": readers.FixedLengthRecordDataset([a, b], 5),
        "tfrecord": readers.TFRecordDataset(records),
        "webdataset": readers.WebDataset(str(folder / "samples.tar")),
        **{f"tfrecord {n}": readers.TFRecordDataset(records, num_parallel_reads=n) for n in (1, 2)},
    }


def pipelines(folder: Path) -> dict[str, Dataset]:
    """At least one pipeline for each kind of stage."""
    source = Dataset.range(7).shuffle(5)
    elements = source.map(noisy)
    table = {
        "rows": source.skip(1).repeat(2).take(9),
        "elements": elements.skip(1).repeat(2).take(9),
        "shuffle": elements.shuffle(3).repeat(2),
        "same order": elements.shuffle(3, reshuffle_each_iteration=False).repeat(2),
        "batch of rows": source.batch(2).repeat(2),
        "batch": elements.batch(2, drop_remainder=True).repeat(2),
        "padded_batch": source.map(lambda x: ag.random_uniform([int(x)])).padded_batch(2, [None]),
        "sparse": source.map(lambda x: ag.random_uniform([int(x)])).apply(batching.dense_to_sparse_batch(2, [7])),
        "filter": source.filter(lambda x: ag.random_uniform([]) < 0.7).repeat(3),
        "zip": Dataset.zip((elements, source.repeat(2))),
        "concatenate": source.concatenate(Dataset.range(3).shuffle(3)),
        "shard": elements.shard(2, 1).repeat(2),
        "shard of rows": source.shard(2, 1).repeat(2),
        "cache": elements.cache().repeat(2),
        "flat_map": source.take(3).flat_map(noisy_dataset),
        "interleave": source.take(3).interleave(noisy_dataset, 2, 2),
        "sloppy": source.take(3).apply(flattening.sloppy_interleave(noisy_dataset, 1)),
        "window": source.window(3, 1).flat_map(lambda window: window.batch(2)),
        "sliding": elements.apply(scanning.sliding_window_batch(3)),
        "unbatch": source.batch(3).map(noisy_rows).unbatch(),
        "enumerate": elements.enumerate(),
        "take_while": source.repeat(2).apply(filtering.take_while(lambda x: ag.random_uniform([]) < 0.9)),
        "unique": source.repeat(2).apply(filtering.unique()),
        "ignore_errors": source.map(lambda x: 12 // int(x)).apply(filtering.ignore_errors()),
        "assert_shape": source.batch(7).apply(filtering.assert_element_shape([7])).repeat(2),
        "scan": source.apply(scanning.scan(0.0, lambda s, x: (s + ag.random_uniform([]), (s, x)))),
        "place": elements.apply(placement.copy_to_device("/cpu:0")),
        "groups": source.repeat(2).apply(
            grouping.group_by_window(lambda x: x % 2, lambda key, group: group.flat_map(noisy_dataset), 3)
        ),
        "reduced groups": source.apply(
            grouping.group_by_reducer(
                lambda x: x % 2, grouping.Reducer(lambda key: 0, lambda s, x: s + int(x), lambda s: s)
            )
        ),
        "sample": sampling.sample_from_datasets([elements, elements], [0.3, 0.7]),
        "choose": sampling.choose_from_datasets([elements, elements], Dataset.range(2).repeat(4)),
        "resample": source.repeat(3).apply(sampling.rejection_resample(lambda x: x % 2, [0.2, 0.8], [0.5, 0.5])),
        "huggingface": readers.from_huggingface(Points()),
        "map_and_batch": source.apply(batching.map_and_batch(noisy, 3)).repeat(2),
        **{f"prefetch {n}": elements.prefetch(n).repeat(2) for n in (1, 4)},
        **{f"map {n}": source.map(noisy, n).repeat(2).prefetch(2) for n in WORKERS},
        **{f"vectorized {n}": source.map(noisy_rows, n, vectorize=True).repeat(2) for n in WORKERS},
        **{f"vectorized batch {n}": source.map(noisy_rows, n, vectorize=True).batch(2).repeat(2) for n in WORKERS},
        **{f"interleave {n}": source.take(3).interleave(noisy_dataset, 2, 1, n) for n in (1, 4)},
        "parallel_interleave": source.take(3).apply(flattening.parallel_interleave(noisy_dataset, 2)),
        **sources(folder),
    }
    for n in WORKERS[1:] if hasattr(os, "fork") else []:
        table |= {
            f"processes {n}": source.map(noisy, n, processes=True).repeat(2),
            f"processes of elements {n}": elements.map(noisy, n, processes=True).prefetch(2),
            f"batches of processes {n}": source.map(noisy, n, processes=True).batch(3).repeat(2),
        }
    return table


# Stages that a pipeline cannot hold.
ELSEWHERE = {
    "InMemory": "Window makes it for its elements; the pipeline 'window' reads them",
}


def values(iterator: Any) -> list[Any]:
    return [shown(element) for element in iterator]


def shown(element: Any) -> Any:
    if isinstance(element, ag.SparseTensor):
        element = element.indices, element.values
    return [str(np.asarray(part.numpy()).tolist()) for part in ag.nest.flatten(element)]


def continue_all(folder: Path) -> None:
    """What the other process does: continue each pipeline from each of the states that it gets."""
    found = {}
    given = json.load(sys.stdin)
    datasets = pipelines(folder)
    for name, states in given.items():
        found[name] = []
        for state in states:
            iterator = iter(datasets[name])
            iterator.load_state_dict(state)
            found[name].append(values(iterator))
            del iterator
    print(json.dumps(found))


def test_another_process_continues_at_each_element(tmp_path: Path) -> None:
    write_files(tmp_path)
    ag.set_random_seed(SEED)
    states: dict[str, list[Any]] = {}
    elements: dict[str, list[Any]] = {}
    for name, dataset in pipelines(tmp_path).items():
        iterator = iter(dataset)
        states[name], elements[name] = [iterator.state_dict()], []
        for element in iterator:
            elements[name].append(shown(element))
            states[name].append(iterator.state_dict())
        assert len(elements[name]) > 1, name
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, str(tmp_path)],
        input=json.dumps(states),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name, rests in found.items():
        for position, rest in enumerate(rests):
            assert rest == elements[name][position:], f"{name}, continued after {position} elements; seed {SEED}"


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("vectorize", [False, True])
def test_any_number_of_workers_gives_the_same(vectorize: bool, batched: bool) -> None:
    def run(workers: int | None, processes: bool = False) -> list[Any]:
        ag.set_random_seed(SEED)
        function = noisy_rows if vectorize else noisy
        dataset = Dataset.range(30).shuffle(20).map(function, workers, vectorize=vectorize, processes=processes)
        return values((dataset.batch(4) if batched else dataset).repeat(2))

    expected = run(None)
    assert len({x for element in expected for x in element}) > len(expected)
    for workers in (1, 4):
        assert run(workers) == expected, f"{workers} threads; seed {SEED}"
    if hasattr(os, "fork"):
        for workers in (1, 2):
            assert run(workers, processes=True) == expected, f"{workers} processes; seed {SEED}"


def stages(stage: Any) -> Iterator[Stage]:
    """A stage and all that it leads to."""
    if isinstance(stage, Stage):
        yield stage
        if type(stage) is Batch:
            yield from stages(stage.input.batched(2, False))
        for part in vars(stage).values():
            yield from stages(part)
    elif isinstance(stage, (list, tuple)):
        for part in stage:
            yield from stages(part)
    elif isinstance(stage, dict):
        yield from stages(list(stage.values()))


def kinds(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("agog_data.") and not inspect.isabstract(kind):
            yield kind
        yield from kinds(kind)


def test_each_kind_of_stage_is_in_the_table(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.walk_packages(agog_data.__path__, "agog_data."):
            importlib.import_module(module.name)
    write_files(tmp_path)
    covered = {type(stage).__name__ for dataset in pipelines(tmp_path).values() for stage in stages(dataset._stage)}
    known = {kind.__name__ for kind in kinds(Stage)}
    assert known - covered - ELSEWHERE.keys() == set(), "add a pipeline with this stage to the table above"
    assert not ELSEWHERE.keys() & covered
    assert ELSEWHERE.keys() <= known


if __name__ == "__main__":
    continue_all(Path(sys.argv[1]))
