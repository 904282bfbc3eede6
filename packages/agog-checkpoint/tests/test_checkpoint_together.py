"""Checkpoints of several processes, for which threads stand: one of all, that any number of them restores."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program_of_several import WHOLE, Program, together

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, CheckpointWarning, Saver, latest_checkpoint, load_variable
from agog_checkpoint.file import read_file
from agog_checkpoint.objects import snapshot
from agog_checkpoint.together import all_processes, save_file
from agog_core.errors import FailedPreconditionError, OpError
from agog_core.processes import Share, acting_as, keep_share


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("max_shard_bytes", [None, 30, 10_000])
@pytest.mark.parametrize("size", [2, 3, 16])
def test_a_checkpoint_of_all_is_restored_by_any_number(
    tmp_path: Path, size: int, max_shard_bytes: int | None, asynchronous: bool
) -> None:
    def save(rank: int) -> str:
        program = Program(rank, size, 2.0)
        options: Any = {"max_shard_bytes": max_shard_bytes, "asynchronous": asynchronous}
        path = program.checkpoint.save(tmp_path / "ckpt", **options)
        program.moment.assign(0.0 * program.moment)  # what is being saved does not change
        program.checkpoint.wait()
        return path

    assert together(size, save) == [str(tmp_path / "ckpt-1")] * size
    assert latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-1")
    np.testing.assert_array_equal(load_variable(tmp_path, "moment"), 2.0 * WHOLE)  # as one process would have saved it
    assert [name for name in os.listdir(tmp_path) if name.endswith(".agog-tmp")] == []
    for other in (1, 2, 5):

        def restore(rank: int, other: int = other) -> None:
            program = Program(rank, other)
            program.checkpoint.restore(latest_checkpoint(tmp_path)).assert_consumed()
            program.expect(rank, other, 2.0)

        assert together(other, restore) == [None] * other


def test_replicas_alone_are_one_file_of_rank_0(tmp_path: Path) -> None:
    def save(rank: int) -> None:
        Checkpoint(v=ag.Variable([1.0, 2.0])).save(tmp_path / "ckpt")

    assert together(3, save) == [None] * 3
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-1.safetensors"]


def test_a_manager_keeps_the_newest_for_all(tmp_path: Path) -> None:
    def save(rank: int) -> list[str]:
        program = Program(rank, 2, 1.0)
        manager = CheckpointManager(program.checkpoint, tmp_path, 2, best=("loss", "min"))
        for loss in (1.0, 3.0, 2.0, 4.0):
            manager.save(metrics={"loss": loss})
        assert manager.latest_checkpoint == str(tmp_path / "ckpt-4")
        assert manager.best_checkpoint == str(tmp_path / "ckpt-1")
        assert manager.metrics("ckpt-4") == {"loss": 4.0}
        return [os.path.basename(path) for path in manager.checkpoints]

    assert together(2, save) == [["ckpt-1", "ckpt-3", "ckpt-4"]] * 2


def test_a_saver_keeps_the_newest_for_all(tmp_path: Path) -> None:
    def save(rank: int) -> str:
        saver = Saver([ag.Variable(1.0, name="v")], max_to_keep=1)
        return [saver.save(tmp_path / "ckpt", step) for step in range(3)][-1]

    assert together(2, save) == [str(tmp_path / "ckpt-2")] * 2
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-2.safetensors"]


def test_replicas_that_have_drifted_apart_are_named(tmp_path: Path) -> None:
    def save(rank: int) -> None:
        kernel, bias = ag.Variable([1.0, 1.0 + (rank == 2)]), ag.Variable(0.0)
        Checkpoint(layer=[kernel, bias]).save(tmp_path / "ckpt")

    for error in together(3, save):
        assert isinstance(error, FailedPreconditionError)
        assert str(error) == (
            "Checkpoint: the processes do not hold the same, so there is no one state to save to "
            f"'{tmp_path}/ckpt-1'; nothing was saved. What differs from rank 0:\n  layer/0: rank 2"
        )
    assert os.listdir(tmp_path) == []


def test_other_objects_on_a_rank_are_named(tmp_path: Path) -> None:
    def save(rank: int) -> None:
        Checkpoint(**{"v" if rank == 0 else "w": ag.Variable(1.0)}).write(tmp_path / "ckpt")

    for error in together(2, save):
        assert str(error).endswith("differs from rank 0:\n  the objects: rank 1\n  v: rank 1\n  w: rank 1")


class Position(ag.Checkpointable):
    def __init__(self, row: int) -> None:
        self.row = row

    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": self.row}


def test_what_is_not_trained_may_differ_with_a_warning_of_rank_0(tmp_path: Path) -> None:
    def save(rank: int) -> list[str]:
        mean = ag.Variable(float(rank), trainable=False)
        Checkpoint(mean=mean, position=Position(rank)).write(tmp_path / "ckpt")
        return []

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert together(2, save) == [[], []]
    assert [(each.category, str(each.message)) for each in caught] == [
        (
            CheckpointWarning,
            "Checkpoint: of 'mean', 'position/.state' the processes hold other values than rank 0, whose are saved.",
        )
    ]
    assert load_variable(tmp_path / "ckpt", "mean") == 0.0


def test_all_save_to_one_path(tmp_path: Path) -> None:
    for error in together(2, lambda rank: Checkpoint(v=ag.Variable(1.0)).write(tmp_path / f"of-{rank}")):
        assert isinstance(error, FailedPreconditionError)
        assert str(error) == (
            "Checkpoint: all processes write one checkpoint together, so they have to save to one path; nothing was "
            f"saved.\n  rank 0: '{tmp_path}/of-0'\n  rank 1: '{tmp_path}/of-1'"
        )


def test_shares_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    def save(rank: int) -> None:
        variable = ag.Variable([1.0, 2.0])
        keep_share(variable, Share(rank, rank + 2, (4,)))
        Checkpoint(v=variable).write(tmp_path / "ckpt")

    failures = together(2, save)
    assert all(isinstance(error, FailedPreconditionError) for error in failures)
    assert "Checkpoint: the processes' shares of variable 'v' are not those of one array of shape (4,); nothing" in str(
        failures[0]
    )
    assert os.listdir(tmp_path) == []


def test_a_process_by_itself_refuses_shares_and_saves_the_rest(tmp_path: Path) -> None:
    def save(rank: int) -> None:
        with acting_as(None):
            Checkpoint(v=ag.Variable(float(rank))).write(tmp_path / f"of-{rank}")
            with pytest.raises(ValueError, match="let all of them save together") as failure:
                Program(rank, 2).checkpoint.write(tmp_path / "ckpt")
            assert str(failure.value) == (
                "Checkpoint: variable 'moment' is a share of an array of shape (11, 2), whose other shares are in "
                "other processes; let all of them save together."
            )

    assert together(2, save) == [None, None]
    assert [float(load_variable(tmp_path / f"of-{rank}", "v")) for rank in range(2)] == [0.0, 1.0]


def test_a_file_of_any_name_is_written_by_rank_0_with_whole_arrays(tmp_path: Path) -> None:
    def save(rank: int) -> None:
        saved = snapshot(Program(rank, 3, 2.0).checkpoint)
        save_file(all_processes("Model.save"), str(tmp_path / "model.agog"), saved)

    assert together(3, save) == [None] * 3
    assert os.listdir(tmp_path) == ["model.agog"]
    _, arrays = read_file(str(tmp_path / "model.agog"))
    np.testing.assert_array_equal(arrays["moment"], 2.0 * WHOLE)


def test_a_file_that_cannot_be_written_is_an_error_of_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    def save(rank: int) -> None:
        save_file(all_processes("Model.save"), str(tmp_path / "file" / "model"), snapshot(Program(rank, 2).checkpoint))

    failures = together(2, save)
    assert all(isinstance(error, OpError) for error in failures)
    assert str(failures[1]) == f"On rank 0: {failures[0]}"
