"""The manager keeps the best checkpoint beside the newest."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, latest_checkpoint
from agog_testing import says


def manager_of(folder: Path, best: Any = ("accuracy", "max"), max_to_keep: int | None = 2) -> CheckpointManager:
    """A manager as a new process has it: it goes on from what is in the folder."""
    checkpoint = Checkpoint(v=ag.Variable(0.0))
    manager = CheckpointManager(checkpoint, folder, max_to_keep, best=best)
    checkpoint.restore(manager.latest_checkpoint)
    return manager


def names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".safetensors") for path in folder.glob("*.safetensors"))


def base(path: str | None) -> str | None:
    return None if path is None else os.path.basename(path)


def test_the_best_is_kept(tmp_path: Path) -> None:
    manager = manager_of(tmp_path)
    assert manager.best_checkpoint is None
    best = []
    for accuracy in (0.7, 0.9, 0.8, 0.9, 0.5, 0.6):
        manager.save(metrics={"accuracy": accuracy, "loss": 1 - accuracy})
        best.append(base(manager.best_checkpoint))
    assert best == ["ckpt-1", *["ckpt-2"] * 5]  # the first of several that are equally good
    assert names(tmp_path) == ["ckpt-2", "ckpt-5", "ckpt-6"]
    assert [base(path) for path in manager.checkpoints] == names(tmp_path)
    assert manager.metrics(manager.checkpoints[0]) == {"accuracy": 0.9, "loss": 1 - 0.9}
    assert manager.metrics(f"{tmp_path}/ckpt-1") == {}
    manager.save(metrics={"accuracy": 0.95})
    assert names(tmp_path) == ["ckpt-6", "ckpt-7"]  # the former best is an old one now
    assert base(manager.best_checkpoint) == "ckpt-7"
    assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-7"


def test_the_least_may_be_the_best(tmp_path: Path) -> None:
    manager = manager_of(tmp_path, ("loss", "min"), 1)
    for loss in (3.0, ag.constant(1.0), 2.0, float("nan"), float("inf")):
        manager.save(metrics={"loss": loss})
    assert names(tmp_path) == ["ckpt-2", "ckpt-5"]


def test_a_new_manager_knows_the_best(tmp_path: Path) -> None:
    manager = manager_of(tmp_path)
    for accuracy in (0.7, 0.9, float("nan"), 0.6):
        manager.save(metrics={"accuracy": accuracy})
    again = manager_of(tmp_path)
    assert base(again.best_checkpoint) == "ckpt-2"
    again.save(metrics={"accuracy": 0.8})
    again.save()  # without metrics, it cannot be the best
    assert names(tmp_path) == ["ckpt-2", "ckpt-5", "ckpt-6"]
    assert manager_of(tmp_path, ("accuracy", "min")).best_checkpoint == f"{tmp_path}/ckpt-5"
    assert manager_of(tmp_path, None).best_checkpoint is None
    assert (tmp_path / "checkpoint").read_text().splitlines()[-2:] == [
        '# metrics: {"ckpt-2":{"accuracy":0.9},"ckpt-5":{"accuracy":0.8}}',
        '# best: "ckpt-2"',
    ]


def test_a_folder_of_an_older_release(tmp_path: Path) -> None:
    manager = manager_of(tmp_path, None)
    for _ in range(2):
        manager.save()
    assert "metrics" not in (tmp_path / "checkpoint").read_text()
    again = manager_of(tmp_path)
    assert again.best_checkpoint is None
    again.save(metrics={"accuracy": 0.1})
    assert base(again.best_checkpoint) == "ckpt-3"


def test_a_best_checkpoint_that_is_gone(tmp_path: Path) -> None:
    manager = manager_of(tmp_path)
    for accuracy in (0.9, 0.7, 0.8):
        manager.save(metrics={"accuracy": accuracy})
    os.unlink(f"{manager.best_checkpoint}.safetensors")
    assert base(manager_of(tmp_path).best_checkpoint) == "ckpt-3"


def test_a_save_that_fails_does_not_change_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = manager_of(tmp_path)
    manager.save(metrics={"accuracy": 0.5})

    def fail(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ag.errors.ResourceExhaustedError):
        manager.save(metrics={"accuracy": 0.9})
    assert base(manager.best_checkpoint) == base(manager_of(tmp_path).best_checkpoint) == "ckpt-1"


@pytest.mark.parametrize("best", ["accuracy", ("accuracy",), ("accuracy", "most"), (3, "max"), ["accuracy", "max"]])
def test_what_is_no_metric(tmp_path: Path, best: Any) -> None:
    with says(
        ValueError,
        "CheckpointManager: best must be the name of a metric with 'max' or 'min', such as ('accuracy', 'max'), or "
        f"None; got {best!r}.",
    ):
        manager_of(tmp_path, best)


def test_metrics_that_lack_the_one_that_counts(tmp_path: Path) -> None:
    with says(
        ValueError,
        "CheckpointManager.save: the best checkpoint is chosen by 'accuracy', but metrics have 'loss'; add it, or pass "
        "no metrics.",
    ):
        manager_of(tmp_path).save(metrics={"loss": 1.0})
    assert names(tmp_path) == []


def test_saves_behind_the_program(tmp_path: Path) -> None:
    v = ag.Variable([0.0] * 10)
    checkpoint = Checkpoint(v=v)
    manager = CheckpointManager(checkpoint, tmp_path, 2, best=("accuracy", "max"), max_shard_bytes=8, asynchronous=True)
    for number, accuracy in enumerate((0.9, 0.5, 0.6, 0.7), start=1):
        v.assign([float(number)] * 10)
        path = manager.save(metrics={"accuracy": accuracy})
        v.assign([-1.0] * 10)
    manager.wait()
    assert manager.latest_checkpoint == latest_checkpoint(tmp_path) == path
    assert [base(kept) for kept in manager.checkpoints] == ["ckpt-1", "ckpt-3", "ckpt-4"]
    assert sorted(name.name for name in tmp_path.glob("*.index.json")) == [
        f"ckpt-{number}.safetensors.index.json" for number in (1, 3, 4)
    ]
    assert len(list(tmp_path.iterdir())) == 3 * 3 + 1  # an index, two shards; and the list
    checkpoint.restore(manager.best_checkpoint).assert_consumed()
    assert v.numpy().tolist() == [1.0] * 10
    again = CheckpointManager(checkpoint, tmp_path, 1)
    again.save()
    assert [base(kept) for kept in again.checkpoints] == names(tmp_path) == ["ckpt-2"]


def test_a_save_behind_the_program_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = CheckpointManager(
        Checkpoint(v=ag.Variable(0.0)), tmp_path, 2, best=("accuracy", "max"), asynchronous=True
    )
    manager.save(metrics={"accuracy": 0.5})
    manager.wait()

    def fail(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        manager.save(metrics={"accuracy": 0.9})
        with pytest.raises(ag.errors.ResourceExhaustedError):
            manager.save()
    assert base(manager.best_checkpoint) == base(manager.latest_checkpoint) == "ckpt-1"
    assert base(manager.save(metrics={"accuracy": 0.7})) == "ckpt-3"
    manager.wait()
    assert base(manager.best_checkpoint) == "ckpt-3"


class Crash(BaseException):
    """The end of the process."""


def test_a_crash_at_any_step_leaves_the_best_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for instant in range(100):
        folder, steps = tmp_path / str(instant), 0
        manager = manager_of(folder, max_to_keep=1)
        for accuracy in (0.9, 0.5):
            manager.save(metrics={"accuracy": accuracy})

        def act(really: Any, *arguments: Any, instant: int = instant) -> None:
            nonlocal steps
            if steps >= instant:
                raise Crash
            steps += 1
            really(*arguments)

        with monkeypatch.context() as patch:
            for name in ("replace", "unlink", "fsync"):
                patch.setattr(os, name, partial(act, getattr(os, name)))
            try:
                manager.save(metrics={"accuracy": 0.95})  # a new best, after which two files are old
                crashed = False
            except Crash:
                crashed = True
        again = manager_of(folder, max_to_keep=1)
        assert base(again.best_checkpoint) in ("ckpt-1", "ckpt-3"), f"crash at instant {instant}"
        Checkpoint(v=ag.Variable(0.0)).restore(again.best_checkpoint).assert_consumed()
        assert base(again.latest_checkpoint) in ("ckpt-2", "ckpt-3"), f"crash at instant {instant}"
        again.save(metrics={"accuracy": 0.1})
        assert len(names(folder)) == 2, f"crash at instant {instant}"  # the best and the newest
        if not crashed:
            return
    pytest.fail("the save never went through")
