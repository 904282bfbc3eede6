"""Savers that sessions are passed to."""

from __future__ import annotations

from pathlib import Path

from agog_checkpoint import SessionSaver, get_checkpoint_state, latest_checkpoint
from agog_core import Variable


def test_sessions_are_passed_over(tmp_path: Path) -> None:
    v = Variable([1.0], name="v")
    saver = SessionSaver([v], max_to_keep=2)
    paths = [saver.save(None, tmp_path / "model.ckpt", global_step=step) for step in (1, 2)]
    paths += [saver.save(tmp_path / "model.ckpt", global_step=Variable(3))]
    assert [Path(path).name for path in paths] == ["model.ckpt-1", "model.ckpt-2", "model.ckpt-3"]
    assert saver.last_checkpoints == paths[1:]
    assert latest_checkpoint(tmp_path) == paths[2]
    state = get_checkpoint_state(tmp_path)
    assert state is not None
    assert list(state.all_model_checkpoint_paths) == paths[1:]
    for arguments in ((None, paths[1]), (paths[1],)):
        v.assign([5.0])
        saver.restore(*arguments)
        assert v.numpy().tolist() == [1.0]


def test_a_saver_deletes_what_another_one_has_saved(tmp_path: Path) -> None:
    v = Variable(1.0, name="v")
    old = SessionSaver([v]).save(None, str(tmp_path / "a"))
    saver = SessionSaver([v], max_to_keep=1)
    saver.set_last_checkpoints([old])
    new = saver.save(None, str(tmp_path / "b"))
    assert saver.last_checkpoints == [new]
    assert [path.name for path in tmp_path.glob("a*")] == []


def test_a_file_is_kept_for_good_every_few_hours(tmp_path: Path) -> None:
    saver = SessionSaver([Variable(1.0, name="v")], max_to_keep=1, keep_checkpoint_every_n_hours=-1.0)
    paths = [saver.save(None, str(tmp_path / "m"), step, latest_filename="mine") for step in range(3)]
    assert sorted(path.name for path in tmp_path.glob("m-*")) == [f"m-{step}.safetensors" for step in range(3)]
    assert saver.last_checkpoints == paths[2:]
    assert latest_checkpoint(tmp_path, "mine") == paths[2]


def test_steps_are_padded(tmp_path: Path) -> None:
    saver = SessionSaver([Variable(1.0, name="v")], pad_step_number=True)
    assert Path(saver.save(None, tmp_path / "m", 12)).name == "m-00000012"
