"""Which checkpoints a manager keeps, and what a crash during its work leaves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, CheckpointWarning, Saver, latest_checkpoint
from agog_core.errors import DataLossError, OpError, ResourceExhaustedError
from agog_testing import says

HOUR = 3600.0


def manager_of(
    folder: Path, max_to_keep: int | None = 2, hours: float | None = None, v: ag.Variable | None = None
) -> CheckpointManager:
    """A manager as a new process has it: it goes on from what is in the folder."""
    checkpoint = Checkpoint(v=ag.Variable(0.0) if v is None else v)
    manager = CheckpointManager(checkpoint, folder, max_to_keep, keep_checkpoint_every_n_hours=hours)
    checkpoint.restore(manager.latest_checkpoint)
    return manager


def names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".safetensors") for path in folder.glob("*.safetensors"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [10_000.0]
    monkeypatch.setattr("agog_checkpoint.manager.time.time", lambda: now[0])
    return now


def test_the_newest_are_kept(tmp_path: Path) -> None:
    manager = manager_of(tmp_path)
    assert manager.latest_checkpoint is None
    assert manager.checkpoints == []
    paths = [manager.save() for _ in range(4)]
    assert paths == [f"{tmp_path}/ckpt-{number}" for number in (1, 2, 3, 4)]
    assert manager.checkpoints == paths[2:]
    assert manager.latest_checkpoint == latest_checkpoint(tmp_path) == paths[3]
    assert names(tmp_path) == ["ckpt-3", "ckpt-4"]


def test_none_keeps_all(tmp_path: Path) -> None:
    manager = manager_of(tmp_path, None)
    paths = [manager.save() for _ in range(7)]
    assert manager.checkpoints == manager_of(tmp_path, None).checkpoints == paths
    assert len(names(tmp_path)) == 7


def test_a_new_manager_goes_on(tmp_path: Path) -> None:
    first = manager_of(tmp_path, 3)
    for _ in range(4):
        first.save()
    second = manager_of(tmp_path, 2)
    assert second.checkpoints == first.checkpoints
    assert second.latest_checkpoint == first.latest_checkpoint
    assert second.save() == f"{tmp_path}/ckpt-5"
    assert names(tmp_path) == ["ckpt-4", "ckpt-5"]


def test_the_list_is_a_text_that_moves_with_its_folder(tmp_path: Path, clock: list[float]) -> None:
    manager = manager_of(tmp_path / "a")
    clock[0] = 10_001.5
    manager.save()
    clock[0] = 10_002.0
    manager.save()
    shutil.move(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b" / "checkpoint").read_text() == (
        'model_checkpoint_path: "ckpt-2"\n'
        'all_model_checkpoint_paths: "ckpt-1"\n'
        'all_model_checkpoint_paths: "ckpt-2"\n'
        "all_model_checkpoint_timestamps: 10001.5\n"
        "all_model_checkpoint_timestamps: 10002.0\n"
        "last_preserved_timestamp: 10000.0\n"
    )
    moved = manager_of(tmp_path / "b")
    assert moved.checkpoints == [f"{tmp_path}/b/ckpt-1", f"{tmp_path}/b/ckpt-2"]
    moved.save()
    assert names(tmp_path / "b") == ["ckpt-2", "ckpt-3"]


def test_some_are_kept_for_good(tmp_path: Path, clock: list[float]) -> None:
    manager = manager_of(tmp_path, 1, hours=2.0)
    for hour in (0.5, 1.5, 2.5, 3.5):
        clock[0] = 10_000.0 + hour * HOUR
        manager.save()
    manager = manager_of(tmp_path, 1, hours=2.0)  # it knows when the last one was kept
    for hour in (4.0, 4.5, 5.5):
        clock[0] = 10_000.0 + hour * HOUR
        manager.save()
    # Made at 2.5 hours, 2 after the first manager; and at 4.5, 2 after that one.
    assert names(tmp_path) == ["ckpt-3", "ckpt-6", "ckpt-7"]
    assert manager.checkpoints == [f"{tmp_path}/ckpt-7"]


def test_a_clock_that_goes_back_deletes_nothing(tmp_path: Path, clock: list[float]) -> None:
    manager_of(tmp_path, 2).save()
    clock[0] = 5_000.0
    with pytest.warns(CheckpointWarning) as caught:
        manager = CheckpointManager(Checkpoint(v=ag.Variable(1.0)), tmp_path, 2)
    assert [str(warning.message) for warning in caught] == [
        f"CheckpointManager: the clock went back, to before checkpoints of '{tmp_path}' were made; those that are "
        "there are kept for good."
    ]
    assert manager.latest_checkpoint == f"{tmp_path}/ckpt-1"
    for number in (11, 12, 13):
        manager.save(checkpoint_number=number)
    assert names(tmp_path) == ["ckpt-1", "ckpt-12", "ckpt-13"]


def test_numbers_of_ones_own(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=ag.Variable(0.0))
    manager = CheckpointManager(checkpoint, tmp_path, 2)
    assert manager.save(checkpoint_number=100) == f"{tmp_path}/ckpt-100"
    assert manager.save(checkpoint_number=ag.Variable(200)) == f"{tmp_path}/ckpt-200"
    assert int(checkpoint.save_counter) == 2
    assert manager.save(checkpoint_number=100) == f"{tmp_path}/ckpt-100"
    assert manager.checkpoints == [f"{tmp_path}/ckpt-200", f"{tmp_path}/ckpt-100"]
    assert names(tmp_path) == ["ckpt-100", "ckpt-200"]


def test_what_others_saved_stays(tmp_path: Path) -> None:
    manager_of(tmp_path, 1).save()
    other = Checkpoint(v=ag.Variable(3.0))
    other.write(tmp_path / "ckpt-77")
    other.save(tmp_path / "run")
    (tmp_path / "notes.txt").write_text("mine")
    manager = manager_of(tmp_path, 1)
    assert manager.latest_checkpoint == f"{tmp_path}/run-1"
    assert manager.checkpoints == []
    for number in (10, 11, 12):
        manager.save(checkpoint_number=number)
    assert names(tmp_path) == ["ckpt-1", "ckpt-12", "ckpt-77", "run-1"]
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("max_to_keep", [0, -1, 1.5, "3"])
def test_none_to_keep(tmp_path: Path, max_to_keep: Any) -> None:
    with says(
        ValueError,
        "CheckpointManager: max_to_keep must be a positive number of checkpoints, or None to keep all; got "
        f"{max_to_keep}.",
    ):
        manager_of(tmp_path, max_to_keep)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('paths: "ckpt-1"', "paths: ckpt-1"),
        lambda text: text.replace('paths: "ckpt-1"', 'paths: "../ckpt-1"'),
        lambda text: text.replace('paths: "ckpt-1"', "paths: 7"),
        lambda text: text.replace('all_model_checkpoint_paths: "ckpt-1"\n', ""),
        lambda text: text.replace("last_preserved_timestamp: ", "last_preserved_timestamp: soon"),
        lambda text: text[: text.index("last_preserved_timestamp")],
        lambda text: text + '# metrics: {"ckpt-1":{"accuracy":"0.5"}}\n',
        lambda text: text + "# metrics: {\n",
    ],
)
def test_a_damaged_list(tmp_path: Path, damage: Callable[[str], str]) -> None:
    manager_of(tmp_path).save()
    pointer = tmp_path / "checkpoint"
    text = pointer.read_text()
    pointer.write_text(damage(text))
    assert pointer.read_text() != text
    with says(
        DataLossError,
        f"CheckpointManager: the file '{pointer}' is damaged: its list of checkpoints should have a name without "
        "folders and a time for each, 'last_preserved_timestamp' a time, and 'metrics' numbers. Remove the file to "
        "begin a new list; no checkpoint is deleted by that.",
    ):
        manager_of(tmp_path)
    assert names(tmp_path) == ["ckpt-1"]


def test_what_cannot_be_deleted_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = manager_of(tmp_path, 1)
    manager.save()
    saver = Saver([ag.Variable(0.0, name="v")], max_to_keep=1)
    saver.save(tmp_path / "s", global_step=1)
    unlink = os.unlink

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    saves: list[tuple[Callable[[], str], str]] = [
        (manager.save, "ckpt-1"),
        (lambda: saver.save(tmp_path / "s", global_step=2), "s-1"),
    ]
    for save, old in saves:
        monkeypatch.setattr(os, "unlink", refuse)
        with pytest.warns(CheckpointWarning) as caught:
            save()
        assert [str(warning.message) for warning in caught] == [
            f"Checkpoint: cannot delete the old checkpoint '{tmp_path}/{old}.safetensors': Permission denied. The new "
            "one is saved; the next save tries again."
        ]
        monkeypatch.setattr(os, "unlink", unlink)
    assert manager.checkpoints == [f"{tmp_path}/ckpt-1", f"{tmp_path}/ckpt-2"]
    manager.save()
    saver.save(tmp_path / "s", global_step=3)
    assert names(tmp_path) == ["ckpt-3", "s-3"]


@pytest.mark.parametrize("failing", ["agog_checkpoint.file.write", "agog_checkpoint.manager.list_kept"])
def test_a_save_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    manager = manager_of(tmp_path, 2)
    paths = [manager.save(), manager.save()]
    pointer = (tmp_path / "checkpoint").read_text()

    def fail(*arguments: Any, **more: Any) -> None:
        raise ResourceExhaustedError("full")

    with monkeypatch.context() as patch:
        patch.setattr(failing, fail)
        with pytest.raises(OpError, match="full"):
            manager.save()
    assert (manager.checkpoints, manager.latest_checkpoint) == (paths, paths[1])
    assert (tmp_path / "checkpoint").read_text() == pointer
    assert set(names(tmp_path)) >= {"ckpt-1", "ckpt-2"}
    assert manager.save() == f"{tmp_path}/ckpt-3"
    assert names(tmp_path) == ["ckpt-2", "ckpt-3"]


class Crash(BaseException):
    """The end of the process: nothing that it does afterwards reaches the disk."""


STEPS = ("fsync", "replace", "unlink")


def crash_at(monkeypatch: pytest.MonkeyPatch, instant: int) -> list[str]:
    """Let the process end before (even instants) or after (odd ones) a step on the disk; the list gets the steps."""
    done: list[str] = []

    def act(step: str, really: Callable[..., Any], *arguments: Any) -> None:
        if 2 * len(done) >= instant:
            raise Crash
        done.append(step)
        really(*arguments)
        if 2 * len(done) - 1 >= instant:
            raise Crash

    for step in STEPS:
        monkeypatch.setattr(os, step, partial(act, step, getattr(os, step)))
    return done


def test_a_crash_at_any_step_leaves_the_newest_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    for instant in range(100):
        folder = tmp_path / str(instant)
        value, restored = ag.Variable(0.0), ag.Variable(0.0)
        manager = manager_of(folder, 2, v=value)
        for number in (1.0, 2.0):
            value.assign(number)
            manager.save()
        (folder / "ckpt-77.safetensors").write_text("of somebody else")
        value.assign(3.0)
        with monkeypatch.context() as patch:
            steps = crash_at(patch, instant)
            try:
                manager.save()
                crashed = False
            except Crash:
                crashed = True
        again = manager_of(folder, 2, v=restored)
        newest = str(again.latest_checkpoint)
        where = f"crash at instant {instant}, after {steps}"
        assert newest in {f"{folder}/ckpt-2", f"{folder}/ckpt-3"}, where
        assert float(restored) == float(newest[-1]), where
        assert all(os.path.isfile(path + ".safetensors") for path in again.checkpoints), where
        if "unlink" in steps:  # nothing is deleted before the new one is the newest
            assert newest == f"{folder}/ckpt-3", where
        for _ in range(2):
            again.save()
        # Nothing is forgotten on the disk, and nothing deleted that was not the manager's.
        last = int(newest[-1]) + 2
        assert names(folder) == [f"ckpt-{last - 1}", f"ckpt-{last}", "ckpt-77"], where
        assert sorted(path.name for path in folder.iterdir() if path.suffix == ".agog-tmp") == [], where
        if not crashed:
            break
    else:
        pytest.fail("the save never went through")
    # Three files are committed (checkpoint, list, list without the old one), and one is deleted in between, as would be
    # its index.
    assert [step for step in steps if step != "fsync"] == ["replace", "replace", "unlink", "unlink", "replace"]
