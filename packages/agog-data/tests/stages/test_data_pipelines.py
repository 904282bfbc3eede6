"""Every kind of stage: it resumes, goes back, begins anew, and tells the length and the dtypes of its elements."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pipelines import NAMES, Make, noisy, noisy_rows, pipelines, values, write_files, written

import agog_core as ag
import agog_data
from agog_data import Dataset
from agog_data.stage import Stage
from agog_data.stages.batching import Batch

SEED = 11
# Stages that a pipeline cannot hold.
ELSEWHERE = {
    "InMemory": "Window makes it for its elements; the pipeline 'window' reads them",
}
each_pipeline = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Make]:
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return pipelines(folder)


@each_pipeline
def test_a_new_iterator_resumes_after_every_element(name: str, made: dict[str, Make]) -> None:
    ag.set_random_seed(SEED)
    expected = values(made[name]())
    assert len(expected) > 1
    ag.set_random_seed(SEED)
    iterator = iter(made[name]())
    states = []
    for _ in range(len(expected) + 2):  # the last two after the end
        states.append(json.dumps(iterator.state_dict()))
        next(iterator, None)
    for position, state in enumerate(states):
        ag.set_random_seed(None)  # as in another program: nothing but the state tells the seeds
        resumed = iter(made[name]())
        resumed.load_state_dict(json.loads(state))
        assert values(resumed) == expected[position:], f"resumed after {position} elements"


@each_pipeline
def test_an_iterator_goes_back(name: str, made: dict[str, Make]) -> None:
    ag.set_random_seed(SEED)
    iterator = iter(made[name]())
    next(iterator)
    state = iterator.state_dict()
    rest = values(iterator)
    iterator.load_state_dict(state)
    assert values(iterator) == rest


@each_pipeline
def test_loops_after_a_resumed_one_are_the_same(name: str, made: dict[str, Make]) -> None:
    ag.set_random_seed(SEED)
    dataset = made[name]()
    epochs = [values(dataset) for _ in range(3)]
    ag.set_random_seed(SEED)
    dataset = made[name]()
    values(dataset)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.state_dict()
    ag.set_random_seed(None)
    dataset = made[name]()
    iterator = iter(dataset)
    iterator.load_state_dict(state)
    assert values(iterator) == epochs[1][1:]
    assert values(dataset) == epochs[2]


def dtypes(types: Any) -> list[Any]:
    """The dtypes in ``output_types``, in lists for components that are datasets."""
    return [dtypes(each.output_types) if hasattr(each, "output_types") else each for each in ag.nest.flatten(types)]


def dtypes_of(element: Any) -> list[Any]:
    parts = ag.nest.flatten(element)
    return [dtypes(part.output_types) if isinstance(part, Dataset) else part.dtype for part in parts]


@each_pipeline
def test_lengths_and_dtypes_are_those_of_the_elements(name: str, made: dict[str, Make]) -> None:
    dataset = made[name]()
    types = dtypes(dataset.output_types)
    elements = list(dataset)
    assert int(dataset.cardinality()) in (len(elements), -2)
    assert [dtypes_of(element) for element in elements] == [types] * len(elements)


def test_another_process_continues_at_each_element(tmp_path: Path) -> None:
    write_files(tmp_path)
    ag.set_random_seed(SEED)
    states: dict[str, list[Any]] = {}
    elements: dict[str, list[Any]] = {}
    for name, make in pipelines(tmp_path).items():
        iterator = iter(make())
        states[name], elements[name] = [iterator.state_dict()], []
        for element in iterator:
            elements[name].append(written(element))
            states[name].append(iterator.state_dict())
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).parents[1] / "pipelines.py"), str(tmp_path)],
        input=json.dumps(states),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == NAMES
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
    assert len({str(x) for element in expected for x in element}) > len(expected)
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
    covered = {type(stage).__name__ for make in pipelines(tmp_path).values() for stage in stages(make()._stage)}
    known = {kind.__name__ for kind in kinds(Stage)}
    assert known - covered - ELSEWHERE.keys() == set(), "add a pipeline with this stage to the table above"
    assert not ELSEWHERE.keys() & covered
    assert ELSEWHERE.keys() <= known
