"""Lists of checkpoints in folders, their times, removal, and waiting for the next one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import agog_core as ag
from agog_checkpoint import (
    Checkpoint,
    CheckpointManager,
    checkpoint_exists,
    checkpoints_iterator,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from agog_core.errors import DataLossError
from agog_testing import says


def saved(folder: Path, count: int) -> list[str]:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    return [checkpoint.save(folder / "ckpt") for _ in range(count)]


def test_what_a_folder_lists(tmp_path: Path) -> None:
    assert get_checkpoint_state(tmp_path) is None
    paths = saved(tmp_path, 2)
    assert get_checkpoint_state(tmp_path) == (paths[1], [paths[1]], [], 0.0)
    manager = CheckpointManager(Checkpoint(v=ag.Variable(1.0)), tmp_path / "managed", 2)
    for _ in range(3):
        manager.save()
    state = get_checkpoint_state(tmp_path / "managed")
    assert state is not None
    assert state.model_checkpoint_path == manager.latest_checkpoint
    assert state.all_model_checkpoint_paths == manager.checkpoints
    assert len(state.all_model_checkpoint_timestamps) == 2
    (tmp_path / "checkpoint").write_text("?")
    with pytest.raises(DataLossError, match="is damaged"):
        get_checkpoint_state(tmp_path)


def test_a_list_is_written(tmp_path: Path) -> None:
    paths = saved(tmp_path, 3)
    update_checkpoint_state(tmp_path, paths[0])
    assert latest_checkpoint(tmp_path) == paths[0]
    update_checkpoint_state(tmp_path, paths[2], paths[:2], None, [5.0, 6.0], 4.0)
    state = get_checkpoint_state(tmp_path)
    assert state is not None
    assert state.all_model_checkpoint_paths == paths  # the newest is one of all
    assert (state.all_model_checkpoint_timestamps[:2], state.last_preserved_timestamp) == ([5.0, 6.0], 4.0)
    update_checkpoint_state(tmp_path, "ckpt-2", ["ckpt-1", "ckpt-2"], "other")
    assert latest_checkpoint(tmp_path) == paths[2]
    assert latest_checkpoint(tmp_path, "other") == paths[1]
    other = get_checkpoint_state(tmp_path, "other")
    assert other is not None
    assert other.all_model_checkpoint_timestamps == get_checkpoint_mtimes(paths[:2])


def test_lists_that_are_not_written(tmp_path: Path) -> None:
    with says(
        ValueError, "update_checkpoint_state: there must be a time for each checkpoint; got 1 times for 2 checkpoints."
    ):
        update_checkpoint_state(tmp_path, "a", ["a", "b"], None, [1.0])
    assert list(tmp_path.iterdir()) == []


def test_a_list_that_somebody_has_written(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text(
        """
        model_checkpoint_path: "./model.ckpt-687529"
        all_model_checkpoint_paths: "./model.ckpt-687500"
        all_model_checkpoint_paths: "./model.ckpt-687529"
        """
    )
    state = get_checkpoint_state(tmp_path)
    paths = [f"{tmp_path}/./model.ckpt-687500", f"{tmp_path}/./model.ckpt-687529"]
    assert state == (paths[1], paths, [], 0.0)
    newest = Checkpoint(v=ag.Variable(1.0)).write(tmp_path / "model.ckpt-687529")
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert Path(found) == Path(newest)


def test_a_list_of_several_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train").mkdir()
    outside = str(tmp_path / "model-0")
    listed = [outside, "train/model-2"]
    update_checkpoint_state("train", "train/model-2", listed)
    state = get_checkpoint_state("train")
    assert state is not None
    assert (state.model_checkpoint_path, state.all_model_checkpoint_paths) == ("train/model-2", listed)
    update_checkpoint_state("train", outside)
    assert Path("train/checkpoint").read_text().splitlines()[0] == f'model_checkpoint_path: "{outside}"'
    state = get_checkpoint_state("train")
    assert state is not None
    assert (state.model_checkpoint_path, state.all_model_checkpoint_paths) == (outside, [outside])


def test_a_manager_leaves_checkpoints_of_other_folders(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    outside, own = checkpoint.write(tmp_path / "other" / "model-0"), checkpoint.write(tmp_path / "train" / "ckpt-1")
    update_checkpoint_state(tmp_path / "train", own, [outside, own])
    manager = CheckpointManager(checkpoint, tmp_path / "train", max_to_keep=1)
    assert manager.checkpoints == [own]
    manager.save(7)
    assert get_checkpoint_mtimes([outside, own]) == get_checkpoint_mtimes([outside])
    assert len(get_checkpoint_mtimes([outside])) == 1


def test_the_callers_list_stays_as_it_is(tmp_path: Path) -> None:
    listed = ["model-2"]
    state = generate_checkpoint_state_proto(tmp_path, str(tmp_path / "model-0"), listed)
    assert state.all_model_checkpoint_paths == ["model-2", f"{tmp_path}/model-0"]
    update_checkpoint_state(tmp_path, "model-0", listed)
    assert listed == ["model-2"]


@pytest.mark.parametrize("line", ["all_model_checkpoint_paths: 3", "all_model_checkpoint_timestamps: 1.0"])
def test_a_damaged_list_of_all(tmp_path: Path, line: str) -> None:
    pointer = tmp_path / "checkpoint"
    pointer.write_text(f'model_checkpoint_path: "a"\n{line}\n')
    with says(
        DataLossError,
        f"get_checkpoint_state: the file '{pointer}' is damaged: each 'all_model_checkpoint_paths: ' should be "
        "followed by a name in quotes, each 'all_model_checkpoint_timestamps: ' by a number, and there should be as "
        "many of these, or none. Restore a checkpoint of that folder by its own path.",
    ):
        get_checkpoint_state(tmp_path)


def test_times_and_removal(tmp_path: Path) -> None:
    paths = saved(tmp_path, 2)
    os.utime(f"{paths[0]}.safetensors", (7.0, 7.0))
    times = get_checkpoint_mtimes([paths[0], tmp_path / "none", paths[1]])
    assert len(times) == 2
    assert times[0] == 7.0
    remove_checkpoint(paths[0])
    remove_checkpoint(paths[0])
    assert [checkpoint_exists(path) for path in paths] == [False, True]


def test_checkpoints_in_several_files(tmp_path: Path) -> None:
    path = Checkpoint(a=ag.Variable([1.0]), b=ag.Variable([2.0])).save(tmp_path / "ckpt", max_shard_bytes=4)
    os.utime(f"{path}.safetensors.index.json", (7.0, 7.0))
    assert get_checkpoint_mtimes([path]) == [7.0]
    remove_checkpoint(path)
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]


def test_checkpoints_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agog_checkpoint.folders._LONGEST_PAUSE", 0.001)
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    found = checkpoints_iterator(tmp_path, min_interval_secs=0.01, timeout=60)
    saver = threading.Timer(0.02, checkpoint.save, [tmp_path / "ckpt"])
    saver.start()
    assert next(found) == f"{tmp_path}/ckpt-1"
    saver.join()
    for _ in range(2):
        checkpoint.save(tmp_path / "ckpt")
    assert next(found) == f"{tmp_path}/ckpt-3"
    answers = [False, False, True]
    ended = checkpoints_iterator(tmp_path, timeout=0.002, timeout_fn=lambda: answers.pop(0))
    assert list(ended) == [f"{tmp_path}/ckpt-3"]
    assert answers == []
