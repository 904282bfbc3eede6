"""A fault at every step of each process on the disk: the newest checkpoint of all is the previous or the new one."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from failing_disk import Crash, Disk
from program_of_several import Program, together

from agog_checkpoint import Checkpoint, CheckpointManager, latest_checkpoint
from agog_core.errors import OpError

ENDURANCE = bool(os.environ.get("AGOG_ENDURANCE"))
STRIDE = 1 if ENDURANCE else 2
SIZE = 3


class Scenario(NamedTuple):
    """How the checkpoint before and the one that is disturbed are saved."""

    options: Mapping[str, Any] = MappingProxyType({})
    manager: bool = False
    one_path: bool = False


SCENARIOS = {
    "shares": Scenario(),
    "shares behind": Scenario({"asynchronous": True}),
    "small shards": Scenario({"max_shard_bytes": 30}),
    "manager": Scenario(manager=True),
    "over shards": Scenario(one_path=True),
}


class DiskOfRank(Disk):
    """A disk that fails for one of the threads. After a crash of that one, the others crash too, or go on alone."""

    def __init__(self, step: int, fault: int | str, all_crash: bool) -> None:
        super().__init__(step, fault)
        self.all_crash = all_crash
        self.own: set[int] = set()

    def fail_in(self, checkpoint: Checkpoint) -> None:
        """Fail in what this thread saves, here or behind."""
        self.own.add(threading.get_ident())
        start = checkpoint._behind.start

        def start_with(save: Callable[[], object]) -> None:
            start(lambda: (self.own.add(threading.get_ident()), save()))

        checkpoint._behind.start = start_with  # type: ignore[method-assign]

    def act(self, name: str, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if threading.get_ident() in self.own:
            return super().act(name, action, *arguments, **options)
        if self.all_crash and self.fault == "before" and len(self.steps) > self.step:
            raise Crash
        return action(*arguments, **options)


def save(
    folder: Path, scenario: Scenario, factor: float, size: int, disk: DiskOfRank | None = None, victim: int = -1
) -> list[Any]:
    """Let all go on from the newest checkpoint and save; what each of them raises."""

    path = str(folder / "a") if scenario.one_path else latest_checkpoint(folder)
    is_first = not os.listdir(folder)

    def one(rank: int) -> None:
        program = Program(rank, size, factor)
        checkpoint = program.checkpoint
        if not is_first:
            Program(rank, size).checkpoint.restore(path).assert_consumed()
            checkpoint.save_counter.assign(0 if scenario.one_path else int(str(path).rpartition("-")[2]))
        if rank == victim and disk is not None:
            disk.fail_in(checkpoint)
        if scenario.manager:
            CheckpointManager(checkpoint, folder, 1).save()
        elif scenario.one_path:
            checkpoint.write(folder / "a", **scenario.options)
        else:
            checkpoint.save(folder / "ckpt", **scenario.options)
        checkpoint.wait()

    return together(size, one)


def expect_whole(folder: Path, scenario: Scenario, where: str) -> float:
    """The newest checkpoint is the previous or the new one; saving goes on, and leaves nothing behind."""
    one = Program(0, 1)
    one.checkpoint.restore(folder / "a" if scenario.one_path else latest_checkpoint(folder)).assert_consumed()
    found = float(one.kernel.numpy()[0])
    assert found in (1.0, 2.0), where
    one.expect(0, 1, found)
    assert save(folder, scenario, 3.0, 2) == [None, None], where
    names = os.listdir(folder)
    assert [name for name in names if name.endswith(".agog-tmp")] == [], where
    shards = {name for name in names if re.search(r"-\d{5}-of-\d{5}\.safetensors", name)}
    named = [json.loads((folder / name).read_text()) for name in names if name.endswith(".index.json")]
    assert shards == {shard for index in named for shard in index["weight_map"].values()}, where
    return found


@pytest.mark.filterwarnings("ignore::agog_checkpoint.CheckpointWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "fault", [errno.EIO, errno.ENOSPC, "short", "before", "alone"] if ENDURANCE else [errno.EIO, "before"]
)
@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_fault_at_every_step_of_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, victim: int, fault: int | str
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    scenario, found = SCENARIOS[name], Counter[float]()
    template = tmp_path / "template"
    template.mkdir()
    assert save(template, scenario, 1.0, SIZE) == [None] * SIZE
    for step in range(0, 1000, STRIDE):
        folder = tmp_path / str(step)
        shutil.copytree(template, folder)
        disk = DiskOfRank(step, "before" if fault == "alone" else fault, all_crash=fault == "before")
        with monkeypatch.context() as patch:
            disk.install(patch)
            errors = save(folder, scenario, 2.0, SIZE, disk, victim)
        where = f"{name}: {fault} at step {step} of {disk.steps} on rank {victim}: {errors}"
        done = expect_whole(folder, scenario, where)
        assert any(errors) or done == 2.0, where
        if isinstance(fault, int) and errors[victim] is not None:
            assert all(isinstance(error, OpError) for error in errors), where  # all have heard of it
        found[done] += 1
        shutil.rmtree(folder)
        if len(disk.steps) <= step:
            break
    assert step > 2
    assert found[2.0] > 0
    assert fault == "short" or found[1.0] > 0
