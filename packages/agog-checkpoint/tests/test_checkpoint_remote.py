"""Checkpoints at URLs: whole after a fault at every request, of one process and of several."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import (
    Checkpoint,
    CheckpointManager,
    CheckpointWarning,
    Saver,
    checkpoint_exists,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_tensors,
    remove_checkpoint,
)
from agog_checkpoint.folders import checkpoints_in, files_of
from agog_checkpoint.recovery import remove_stale, stale_files
from agog_core.errors import (
    DataLossError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
)
from agog_core.files import retries
from agog_testing import says

pytest.importorskip("fsspec", reason="fsspec, which opens URLs, is not installed")

from program_of_several import Program as ProgramOfRank
from program_of_several import together

from agog_testing.stores import Crash, FailingStore, Faults, failing_store

FOLDER = "failing://bucket/run"
SIZES = (1, 3000, 3000)
SHARD = 12_000  # bytes; one of the large variables


class Scenario(NamedTuple):
    """How the checkpoint before and the one that is disturbed are saved."""

    first: Mapping[str, Any] = MappingProxyType({})
    second: Mapping[str, Any] = MappingProxyType({})
    manager: bool = False
    one_path: bool = False


SHARDED = {"max_shard_bytes": SHARD}
BEHIND = {"asynchronous": True}
SCENARIOS = {
    "plain": Scenario(),
    "sharded": Scenario(SHARDED, SHARDED),
    "sharded and asynchronous": Scenario(SHARDED, SHARDED | BEHIND),
    "manager": Scenario(manager=True),
    "manager of shards": Scenario(SHARDED, SHARDED, manager=True),
    "over a file": Scenario(one_path=True),
    "over shards": Scenario(SHARDED, SHARDED, one_path=True),
    "shards over a file": Scenario({}, SHARDED, one_path=True),
    "a file over shards": Scenario(SHARDED, {}, one_path=True),
}
FAULTS = {
    "refused": PermissionError(),
    "lost": ConnectionResetError(),
    "before": "before",
    "after": "after",
}


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FailingStore]]:
    monkeypatch.setattr(retries.time, "sleep", lambda seconds: None)
    with failing_store() as store:
        yield store


def names(folder: str = FOLDER) -> list[str]:
    root = folder.replace("failing:/", "")
    return sorted(name.removeprefix(f"{root}/") for name in FailingStore.store)


class Program:
    """What a process does: it goes on from the newest checkpoint, if there is one, and saves."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.checkpoint = Checkpoint(v=[ag.Variable(np.zeros(size, np.float32)) for size in SIZES])
        self.manager = CheckpointManager(self.checkpoint, FOLDER, 1) if scenario.manager else None
        path = f"{FOLDER}/a" if scenario.one_path else latest_checkpoint(FOLDER)
        if path is not None and FailingStore.store:
            self.checkpoint.restore(path).assert_consumed()

    def value(self) -> float:
        """The one value that all variables have."""
        (value,) = {float(x) for variable in self.checkpoint.v for x in variable.numpy()}
        return value

    def save(self, value: float, options: Mapping[str, Any]) -> None:
        for variable in self.checkpoint.v:
            variable.assign(np.full(variable.shape, value, np.float32))
        if self.manager is not None:
            self.manager._max_shard_bytes = options.get("max_shard_bytes")
            self.manager.save()
        elif self.scenario.one_path:
            self.checkpoint.write(f"{FOLDER}/a", **options)
        else:
            self.checkpoint.save(f"{FOLDER}/ckpt", **options)
        self.checkpoint.wait()


def shards() -> set[str]:
    return {name for name in names() if re.search(r"-\d{5}-of-\d{5}\.safetensors", name)}


def named_shards() -> set[str]:
    contents = [FailingStore.store[f"/bucket/run/{name}"].getvalue() for name in names() if name.endswith("index.json")]
    return {shard for content in contents for shard in json.loads(content)["weight_map"].values()}


def expect_whole(scenario: Scenario, where: str, is_clean: bool) -> float:
    """The newest checkpoint is the previous or the new one, saving goes on, and what a fault left is no more after a
    day. Where the program has gone on after the fault, nothing is left."""
    found = Program(scenario).value()
    assert found in (1.0, 2.0), where
    assert named_shards() <= shards(), where
    if is_clean:
        assert named_shards() == shards(), where
    Program(scenario).save(3.0, scenario.second)
    assert Program(scenario).value() == 3.0, where
    for file in FailingStore.store.values():
        file.modified = file.modified.replace(year=2020)
    remove_stale(FOLDER)
    assert named_shards() == shards(), where
    return found


@pytest.mark.filterwarnings("ignore::agog_checkpoint.CheckpointWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_fault_at_every_request(store: type[FailingStore], name: str, fault: str) -> None:
    scenario = SCENARIOS[name]
    found: Counter[float] = Counter()
    Program(scenario).save(1.0, scenario.first)
    template = dict(store.store)
    for step in range(1000):
        store.store.clear()
        store.store.update(template)
        program = Program(scenario)
        faults = store.faults = Faults(step, FAULTS[fault], times=99 if fault == "lost" else 1)
        failed = False
        try:
            program.save(2.0, scenario.second)
        except (OpError, Crash):
            failed = True
        store.faults = Faults()
        del program
        where = f"{name}: {fault} at step {step} of {faults.steps}"
        done = expect_whole(scenario, where, is_clean=fault == "refused" and failed)
        assert failed or done == 2.0, where
        found[done] += 1
        if len(faults.steps) <= step:
            break
    assert step > 1
    assert found[1.0] > 0 or fault == "after"  # what is one request is done then
    assert found[2.0] > 0


@pytest.mark.parametrize("name", SCENARIOS)
def test_requests_whose_answers_are_lost(store: type[FailingStore], name: str) -> None:
    """Each request is made again: the second one finds its work done."""
    scenario = SCENARIOS[name]
    Program(scenario).save(1.0, scenario.first)
    template = dict(store.store)
    for step in range(1000):
        store.store.clear()
        store.store.update(template)
        program = Program(scenario)
        faults = store.faults = Faults(step, ConnectionResetError(), is_done=True)
        program.save(2.0, scenario.second)
        store.faults = Faults()
        where = f"{name}: step {step} of {faults.steps}"
        assert Program(scenario).value() == 2.0, where
        assert named_shards() == shards(), where
        if len(faults.steps) <= step:
            break


def test_the_last_request_is_that_of_the_index(store: type[FailingStore]) -> None:
    order: list[str] = []
    put = FailingStore.pipe_file

    def noting(self: FailingStore, path: str, value: bytes, **options: Any) -> None:
        order.append(os.path.basename(path))
        put(self, path, value, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FailingStore, "pipe_file", noting)
        Checkpoint(v=[ag.Variable(np.ones(3000, np.float32))] * 2, w=ag.Variable(np.ones(3000, np.float32))).save(
            f"{FOLDER}/ckpt", max_shard_bytes=SHARD
        )
    assert [re.sub("[0-9a-f]{16}", "ID", name) for name in order] == [
        "ckpt-1.ID-00001-of-00003.safetensors",
        "ckpt-1.ID-00002-of-00003.safetensors",
        "ckpt-1.ID-00003-of-00003.safetensors",
        "ckpt-1.safetensors.index.json",
        "checkpoint",
    ]


def test_several_programs_that_save_to_one_path(store: type[FailingStore]) -> None:
    """One of the checkpoints remains, whole, and no shard of another."""

    def save(value: float) -> None:
        for _ in range(5):
            Checkpoint(v=ag.Variable(np.full(3000, value, np.float32)), w=ag.Variable(value)).write(
                f"{FOLDER}/a", max_shard_bytes=SHARD
            )

    threads = [threading.Thread(target=save, args=(float(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = Checkpoint(v=ag.Variable(np.zeros(3000, np.float32)), w=ag.Variable(-1.0))
    last.restore(f"{FOLDER}/a")
    np.testing.assert_array_equal(last.v.numpy(), np.full(3000, last.w.numpy()))
    assert shards() == named_shards()


def test_several_managers_of_one_folder(store: type[FailingStore]) -> None:
    """Each lists what the others have saved; the newest of all are kept, and nothing else."""

    def save(rank: int) -> None:
        manager = CheckpointManager(Checkpoint(v=ag.Variable(float(rank))), FOLDER, 3)
        for number in range(5):
            manager.save(10 * number + rank)

    threads = [threading.Thread(target=save, args=(rank,)) for rank in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    CheckpointManager(Checkpoint(v=ag.Variable(9.0)), FOLDER, 3).save(99)
    state = get_checkpoint_state(FOLDER)
    assert state is not None
    assert state.model_checkpoint_path == f"{FOLDER}/ckpt-99"
    listed = {os.path.basename(path) for path in state.all_model_checkpoint_paths}
    assert len(listed) == 3
    assert names() == sorted(["checkpoint", *(f"{name}.safetensors" for name in listed)])


SIZE = 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("fault", ["refused", "before"])
@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("options", [{}, {"max_shard_bytes": 30}], ids=["shares", "small shards"])
def test_a_fault_at_every_request_of_a_rank(
    store: type[FailingStore], options: dict[str, int], victim: int, fault: str
) -> None:
    def save(factor: float, own: set[int]) -> list[Any]:
        def one(rank: int) -> None:
            program = ProgramOfRank(rank, SIZE, factor)
            if rank == victim:
                own.add(threading.get_ident())
            program.checkpoint.write(f"{FOLDER}/a", **options)

        return together(SIZE, one)

    def value() -> float:
        found = []
        for factor in (1.0, 2.0, 3.0):
            program = ProgramOfRank(0, 1)
            program.checkpoint.restore(f"{FOLDER}/a").assert_consumed()
            try:
                program.expect(0, 1, factor)
                found.append(factor)
            except AssertionError:
                pass
        (one,) = found
        return one

    assert save(1.0, set()) == [None] * SIZE
    template = dict(store.store)
    seen: Counter[float] = Counter()
    for step in range(0, 100, 2):
        store.store.clear()
        store.store.update(template)
        own: set[int] = set()
        faults = store.faults = Faults(step, FAULTS[fault], applies=lambda own=own: threading.get_ident() in own)
        results = save(2.0, own)
        store.faults = Faults()
        where = f"{fault} at step {step} of {faults.steps}: {results}"
        done = value()
        assert done in (1.0, 2.0), where
        assert done == 2.0 or any(results), where
        assert named_shards() <= shards(), where
        seen[done] += 1
        assert save(3.0, set()) == [None] * SIZE, where
        assert value() == 3.0, where
        if len(faults.steps) <= step:
            break
    assert set(seen) == ({1.0, 2.0} if victim == 0 or fault == "refused" else set(seen))


def test_all_that_folders_have(store: type[FailingStore]) -> None:
    v, w = ag.Variable(np.arange(6.0, dtype=np.float32)), ag.Variable(np.ones(3000, np.float32))
    checkpoint = Checkpoint(v=v, w=w)
    paths = [checkpoint.save(f"{FOLDER}/ckpt"), checkpoint.save(f"{FOLDER}/ckpt", max_shard_bytes=SHARD)]
    assert paths == checkpoints_in(FOLDER) == [f"{FOLDER}/ckpt-1", f"{FOLDER}/ckpt-2"]
    assert (latest_checkpoint(FOLDER), checkpoint_exists(paths[1])) == (paths[1], True)
    assert files_of(paths[0]) == [f"{paths[0]}.safetensors"]
    assert sorted(map(os.path.basename, files_of(paths[1]))) == [name for name in names() if "ckpt-2" in name]
    assert list_variables(paths[1]) == [("save_counter", []), ("v", [6]), ("w", [3000])]
    np.testing.assert_array_equal(load_tensors(f"{paths[0]}.safetensors")["v"], np.arange(6))
    np.testing.assert_array_equal(load_tensors(f"{paths[1]}.safetensors.index.json")["v"], np.arange(6))
    path = Saver([v]).save(f"{FOLDER}/s/model", global_step=7)
    v.assign(np.zeros(6, np.float32))
    Saver([v]).restore(path)
    np.testing.assert_array_equal(v.numpy(), np.arange(6))
    remove_checkpoint(paths[1])
    remove_checkpoint(path)
    assert names() == ["checkpoint", "ckpt-1.safetensors", "s/checkpoint"]


def test_what_crashes_leave_goes_after_a_day(store: type[FailingStore]) -> None:
    checkpoint = Checkpoint(v=ag.Variable(np.ones(3000, np.float32)), w=ag.Variable(1.0))
    store.faults = Faults(3, "before")
    with pytest.raises(Crash):
        checkpoint.save(f"{FOLDER}/ckpt", max_shard_bytes=SHARD)
    store.faults = Faults()
    left = names()
    assert left
    assert stale_files(FOLDER) == []
    for file in store.store.values():
        file.modified = file.modified.fromtimestamp(time.time() - 90_000, file.modified.tzinfo)
    checkpoint.write(f"{FOLDER}/other", max_shard_bytes=SHARD)
    assert stale_files(FOLDER) == left
    remove_stale(FOLDER)
    assert not set(names()) & set(left)
    checkpoint.restore(f"{FOLDER}/other")


def test_errors_say_what_happened(store: type[FailingStore]) -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    with says(
        NotFoundError,
        "Checkpoint: there is no checkpoint 'failing://bucket/run/a': neither "
        "'failing://bucket/run/a.safetensors' nor TensorFlow's 'failing://bucket/run/a.index' exists.",
    ):
        checkpoint.restore(f"{FOLDER}/a")
    store.faults = Faults(0, ConnectionResetError(104, "Connection reset by peer"), times=99)
    with says(
        UnavailableError,
        "Checkpoint: cannot write the file 'failing://bucket/run/a.safetensors': Connection reset by peer (after 6 "
        "tries). What was saved before is as it was.",
    ):
        checkpoint.write(f"{FOLDER}/a")
    store.faults = Faults(0, PermissionError("no key"), times=99)
    with says(
        PermissionDeniedError,
        "Checkpoint: cannot write the file 'failing://bucket/run/a.safetensors': no key. What was saved before is as "
        "it was. Change its permissions, or use another folder.",
    ):
        checkpoint.write(f"{FOLDER}/a")
    store.faults = Faults()
    checkpoint.write(f"{FOLDER}/a")
    content = store.store["/bucket/run/a.safetensors"].getvalue()
    store().pipe_file("/bucket/run/a.safetensors", content[:-1])
    with pytest.raises(
        DataLossError, match=r"the file 'failing://bucket/run/a\.safetensors' is not a whole checkpoint"
    ):
        checkpoint.restore(f"{FOLDER}/a")


def test_a_store_of_which_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FailingStore, "protocol", ("failing",))
    with pytest.warns(CheckpointWarning) as told:
        path = Checkpoint(v=ag.Variable(1.0)).write(f"{FOLDER}/a")
    assert [str(each.message) for each in told] == [
        "Checkpoint: nothing is known of how the store of 'failing://bucket/run/a.safetensors' replaces a file: if the "
        "program ends during a save, the file that it was writing may be cut off. Checkpoints of other names stay "
        "whole."
    ]
    assert checkpoint_exists(path)
