"""Saves that are written behind the program's back."""

from __future__ import annotations

import copy
import errno
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, CheckpointWarning, latest_checkpoint
from agog_core.errors import ResourceExhaustedError, UnknownError
from agog_testing import says

SIZE = 20_000


def objects(value: float = 0.0) -> Checkpoint:
    return Checkpoint(v=[ag.Variable(np.full(SIZE, value, np.float32)) for _ in range(3)])


def values(checkpoint: Checkpoint) -> set[float]:
    return {float(value) for variable in checkpoint.v for value in variable.numpy()}


class Gate:
    """Lets the disk wait, at the first fsync of each save, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.reached = threading.Event()
        self.threads: set[str] = set()
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, handle: int) -> None:
        self.threads.add(threading.current_thread().name)
        self.reached.set()
        assert self.open.wait(30)
        self._fsync(handle)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate(monkeypatch)
    yield gate
    gate.open.set()


@pytest.fixture
def writers() -> Callable[[], list[threading.Thread]]:
    """The threads that write since the test has begun."""
    others = set(threading.enumerate())
    return lambda: [t for t in threading.enumerate() if t.name == "agog-checkpoint" and t not in others]


@pytest.fixture(autouse=True)
def _no_threads_are_left(writers: Callable[[], list[threading.Thread]]) -> Iterator[None]:
    yield
    for thread in writers():
        thread.join(30)
    assert writers() == []


@pytest.mark.parametrize("max_shard_bytes", [None, SIZE * 4])
def test_training_goes_on_during_a_save(tmp_path: Path, gate: Gate, max_shard_bytes: int | None) -> None:
    checkpoint = objects(1.0)
    path = checkpoint.save(tmp_path / "ckpt", asynchronous=True, max_shard_bytes=max_shard_bytes)
    assert path == f"{tmp_path}/ckpt-1"
    assert gate.reached.wait(30)
    for _ in range(5):  # in place, while the values are being written
        for variable in checkpoint.v:
            variable.assign_add(np.ones(SIZE, np.float32))
    assert latest_checkpoint(tmp_path) is None
    gate.open.set()
    checkpoint.wait()
    assert latest_checkpoint(tmp_path) == path
    assert gate.threads == {"agog-checkpoint"}
    assert values(checkpoint) == {6.0}
    other = objects()
    other.restore(path).assert_consumed()
    assert (values(other), int(other.save_counter)) == ({1.0}, 1)


def test_saves_keep_their_order(tmp_path: Path) -> None:
    checkpoint = objects()
    paths = []
    for number in range(1, 11):
        for variable in checkpoint.v:
            variable.assign_add(np.ones(SIZE, np.float32))
        paths.append(checkpoint.save(tmp_path / "ckpt", asynchronous=number % 3 != 0))
    checkpoint.wait()
    assert latest_checkpoint(tmp_path) == paths[-1] == f"{tmp_path}/ckpt-10"
    for number, path in enumerate(paths, start=1):
        other = objects()
        other.restore(path).assert_consumed()
        assert (values(other), int(other.save_counter)) == ({float(number)}, number)


def test_a_restore_waits(tmp_path: Path) -> None:
    checkpoint = objects(3.0)
    path = checkpoint.write(tmp_path / "a", asynchronous=True)
    checkpoint.restore(path).assert_consumed()


def full(handle: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "following",
    [
        lambda checkpoint, folder: checkpoint.wait(),
        lambda checkpoint, folder: checkpoint.save(folder / "ckpt"),
        lambda checkpoint, folder: checkpoint.save(folder / "ckpt", asynchronous=True),
        lambda checkpoint, folder: checkpoint.write(folder / "a"),
        lambda checkpoint, folder: checkpoint.restore(folder / "ckpt-1"),
    ],
)
def test_a_failure_is_raised_by_the_next_call(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    writers: Callable[[], list[threading.Thread]],
    following: Callable[[Checkpoint, Path], Any],
) -> None:
    checkpoint = objects(1.0)
    checkpoint.save(tmp_path / "ckpt")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        checkpoint.save(tmp_path / "ckpt", asynchronous=True)
        for thread in writers():
            thread.join()
    with says(
        ResourceExhaustedError,
        f"Checkpoint: cannot write the file '{tmp_path}/ckpt-2.safetensors': No space left on device. What was saved "
        "before is as it was. Free space there, or save elsewhere.",
    ):
        following(checkpoint, tmp_path)
    assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-1"
    checkpoint.wait()  # it is raised once
    assert checkpoint.save(tmp_path / "ckpt", asynchronous=True) == f"{tmp_path}/ckpt-3"
    checkpoint.wait()
    assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-3"


def test_a_failure_that_nobody_asks_for_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writers: Callable[[], list[threading.Thread]]
) -> None:
    checkpoint = objects(1.0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        checkpoint.save(tmp_path / "ckpt", asynchronous=True)
        for thread in writers():
            thread.join()
    with pytest.warns(CheckpointWarning) as caught:
        del checkpoint
    assert [str(warning.message) for warning in caught] == [
        "An asynchronous save has failed, and neither a later save nor wait() has said so: Checkpoint: cannot write "
        f"the file '{tmp_path}/ckpt-1.safetensors': No space left on device. What was saved before is as it was. Free "
        "space there, or save elsewhere."
    ]


def test_a_failure_after_the_checkpoint_is_gone_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writers: Callable[[], list[threading.Thread]]
) -> None:
    reached = threading.Event()

    def full_later(handle: int) -> None:
        assert reached.wait(30)
        full(handle)

    monkeypatch.setattr(os, "fsync", full_later)
    objects(1.0).save(tmp_path / "ckpt", asynchronous=True)
    (thread,) = writers()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reached.set()
        thread.join()
    assert [warning.category for warning in caught] == [CheckpointWarning]


@pytest.mark.parametrize("managed", [False, True])
def test_the_program_may_change_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: Gate, managed: bool
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "a")
    checkpoint = objects(1.0)
    manager = CheckpointManager(checkpoint, "run", 1, asynchronous=True)
    gate.open.set()
    manager.save()
    manager.wait()
    gate.open.clear()
    gate.reached.clear()
    path = manager.save() if managed else checkpoint.save("run/ckpt", asynchronous=True)
    assert path == "run/ckpt-2"
    assert gate.reached.wait(30)
    monkeypatch.chdir(tmp_path / "b")
    gate.open.set()
    checkpoint.wait()
    assert os.listdir(tmp_path / "b") == []
    assert latest_checkpoint(tmp_path / "a" / "run") == f"{tmp_path}/a/run/ckpt-2"
    assert os.path.exists(tmp_path / "a" / "run" / "ckpt-1.safetensors") == (not managed)


def test_what_cannot_be_saved_is_said_at_once(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=[{1: ag.Variable(1.0)}])
    with pytest.raises(ValueError, match="strings"):
        checkpoint.save(tmp_path / "ckpt", asynchronous=True)
    assert int(checkpoint.save_counter) == 0
    checkpoint.wait()


def test_a_rename_that_is_refused_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = objects(1.0)
    checkpoint.save(tmp_path / "ckpt")

    def busy(source: str, target: str) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", busy)
        checkpoint.save(tmp_path / "ckpt", asynchronous=True)
        with pytest.raises(UnknownError, match="busy"):
            checkpoint.wait()
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-1.safetensors"]


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "raise KeyboardInterrupt"])
def test_the_end_of_the_program_waits(tmp_path: Path, ending: str) -> None:
    code = f"""
        import os, sys, time
        import agog_core as ag
        from agog_checkpoint import Checkpoint

        fsync = os.fsync
        os.fsync = lambda handle: (time.sleep(0.1), fsync(handle))
        Checkpoint(v=ag.Variable(5.0)).save({str(tmp_path)!r} + "/ckpt", asynchronous=True)
        {ending}
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=False, timeout=60)
    checkpoint = Checkpoint(v=ag.Variable(0.0))
    checkpoint.restore(latest_checkpoint(tmp_path)).assert_consumed()
    assert float(checkpoint.v) == 5.0


def test_a_failure_at_the_end_of_the_program_is_told(tmp_path: Path) -> None:
    code = f"""
        import agog_core as ag
        from agog_checkpoint import Checkpoint

        checkpoint = Checkpoint(v=ag.Variable(5.0))
        checkpoint.save({str(tmp_path / "file" / "ckpt")!r}, asynchronous=True)
        """
    (tmp_path / "file").write_text("")
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=False, text=True, timeout=60
    )
    assert "An asynchronous save has failed, and neither a later save nor wait() has said so" in result.stderr


def test_a_manager_deletes_behind(tmp_path: Path, gate: Gate) -> None:
    checkpoint = objects(1.0)
    manager = CheckpointManager(checkpoint, tmp_path, 2, max_shard_bytes=SIZE * 4, asynchronous=True)
    assert manager.save() == f"{tmp_path}/ckpt-1"
    assert gate.reached.wait(30)
    assert (manager.checkpoints, manager.latest_checkpoint) == ([], None)
    gate.open.set()
    paths = [manager.save() for _ in range(3)]
    manager.wait()
    assert manager.checkpoints == paths[1:] == [f"{tmp_path}/ckpt-3", f"{tmp_path}/ckpt-4"]
    assert manager.latest_checkpoint == latest_checkpoint(tmp_path) == paths[-1]
    assert gate.threads == {"agog-checkpoint"}
    shards = [f"ckpt-{n}-0000{part}-of-00004.safetensors" for n in (3, 4) for part in (1, 2, 3, 4)]
    indexes = [f"ckpt-{n}.safetensors.index.json" for n in (3, 4)]
    assert sorted(os.listdir(tmp_path)) == sorted(["checkpoint", *shards, *indexes])


def test_a_manager_tells_of_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = CheckpointManager(objects(1.0), tmp_path, 1, asynchronous=True)
    manager.save()
    manager.wait()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        manager.save()
        with pytest.raises(ResourceExhaustedError):
            manager.wait()
    assert manager.checkpoints == [f"{tmp_path}/ckpt-1"]
    manager.save()
    manager.wait()
    assert manager.checkpoints == [f"{tmp_path}/ckpt-3"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_threads_save_one_checkpoint_one_after_another(tmp_path: Path, asynchronous: bool) -> None:
    checkpoint = objects(1.0)
    errors: list[BaseException] = []

    def save() -> None:
        try:
            for _ in range(20):
                checkpoint.save(tmp_path / "ckpt", asynchronous=asynchronous)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checkpoint.wait()
    assert errors == []
    names = {"checkpoint", *(f"ckpt-{number}.safetensors" for number in range(1, 81))}
    assert set(os.listdir(tmp_path)) == names


def test_a_copy_of_a_checkpoint_saves_on_its_own(tmp_path: Path) -> None:
    checkpoint = objects(1.0)
    checkpoint.save(tmp_path / "one")
    other = copy.deepcopy(checkpoint)
    other.save(tmp_path / "other", asynchronous=True)
    other.wait()
    assert int(checkpoint.save_counter) == 1
    assert int(other.save_counter) == 2
