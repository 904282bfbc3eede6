"""Numbering, the pointer, and what saving leaves alone."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointableSaver, CheckpointWarning, latest_checkpoint
from agog_core.errors import DataLossError
from agog_testing import says


@pytest.mark.parametrize("value", [3, None, "text", np.zeros(2), (), [1, 2], {"a": 1}])
def test_values_without_state_are_refused(value: Any) -> None:
    with says(
        ValueError,
        "`Checkpoint` was expecting a checkpointable object (a variable, a layer, a model, an optimizer, an iterator, "
        "another object derived from `Checkpointable`, or a list, tuple or dict with such parts), but the argument "
        f"'step' is {value!r} of type {type(value).__name__}; put a value that should be saved into a Variable.",
    ):
        Checkpoint(v=ag.Variable(1.0), step=value)


def test_arguments_become_attributes_in_order() -> None:
    b, a = ag.Variable(1.0), [ag.Variable(2.0)]
    checkpoint = Checkpoint(b=b, a=a)
    assert checkpoint.b is b
    assert checkpoint.a is a
    assert list(checkpoint.checkpoint_dependencies()) == ["a", "b"]


def test_checkpoints_are_numbered_from_1(tmp_path: Path) -> None:
    v = ag.Variable(1.0)
    checkpoint = Checkpoint(v=v)
    assert "save_counter" not in checkpoint.checkpoint_dependencies()
    paths = []
    for value in (1.0, 2.0, 3.0):
        v.assign(value)
        paths.append(checkpoint.save(tmp_path / "ckpt"))
        assert latest_checkpoint(tmp_path) == paths[-1]
    assert paths == [f"{tmp_path}/ckpt-{number}" for number in (1, 2, 3)]
    assert checkpoint.save_counter.dtype is ag.int64
    assert not checkpoint.save_counter.trainable
    for number, path in enumerate(paths, start=1):
        loaded = load_file(path + ".safetensors")
        assert (loaded["v"], loaded["save_counter"]) == (number, number)


def test_numbering_goes_on_after_a_restore(tmp_path: Path) -> None:
    first = Checkpoint(v=ag.Variable(1.0))
    first.save(tmp_path / "ckpt")
    path = first.save(tmp_path / "ckpt")
    second = Checkpoint(v=ag.Variable(0.0))
    second.restore(path).assert_consumed()
    assert second.save(tmp_path / "ckpt") == f"{tmp_path}/ckpt-3"


def test_objects_can_be_added_later(tmp_path: Path) -> None:
    checkpoint = Checkpoint(a=ag.Variable(1.0))
    checkpoint.b = ag.Variable(2.0)
    checkpoint.note = "not saved"
    checkpoint.write(tmp_path / "a")
    assert sorted(load_file(tmp_path / "a.safetensors")) == ["a", "b"]


def test_write_neither_numbers_nor_points(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    path = checkpoint.write(tmp_path / "a")
    assert path == f"{tmp_path}/a"
    assert latest_checkpoint(tmp_path) is None
    assert "save_counter" not in checkpoint.checkpoint_dependencies()
    checkpoint.save(tmp_path / "ckpt")
    checkpoint.restore(path).assert_consumed()  # although a counter exists by now


def test_one_object_without_numbers(tmp_path: Path) -> None:
    layer = ag.Checkpointable()
    layer.kernel = ag.Variable([1.0, 2.0])
    saver = CheckpointableSaver(layer)
    assert saver.save(tmp_path / "ckpt") == f"{tmp_path}/ckpt"
    assert saver.save(tmp_path / "ckpt", checkpoint_number=ag.Variable(7)) == f"{tmp_path}/ckpt-7"
    assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-7"
    assert sorted(load_file(tmp_path / "ckpt.safetensors")) == ["kernel"]
    layer.kernel.assign([0.0, 0.0])
    saver.restore(tmp_path / "ckpt").assert_consumed()
    np.testing.assert_array_equal(layer.kernel.numpy(), [1.0, 2.0])
    with says(AssertionError, "No checkpoint specified (save_path=None); nothing is being restored."):
        saver.restore(None).assert_consumed()


def test_folders_are_made(tmp_path: Path) -> None:
    path = Checkpoint(v=ag.Variable(1.0)).save(tmp_path / "a" / "b" / "ckpt")
    assert latest_checkpoint(tmp_path / "a" / "b") == path


def test_a_relative_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    assert checkpoint.save("ckpt") == "ckpt-1"
    assert checkpoint.save("./runs/ckpt") == "./runs/ckpt-2"
    assert latest_checkpoint("runs") == "runs/ckpt-2"
    assert latest_checkpoint(".") == "./ckpt-1"
    checkpoint.restore("ckpt-1").assert_consumed()


def test_folders_can_be_moved(tmp_path: Path) -> None:
    Checkpoint(v=ag.Variable(1.0)).save(tmp_path / "a" / "ckpt")
    shutil.move(tmp_path / "a", tmp_path / "b")
    assert latest_checkpoint(tmp_path / "b") == f"{tmp_path}/b/ckpt-1"
    assert (tmp_path / "b" / "checkpoint").read_text() == (
        'model_checkpoint_path: "ckpt-1"\nall_model_checkpoint_paths: "ckpt-1"\n'
    )


@pytest.mark.parametrize("name", ["ckpt", "größe", 'quo"te\\', "a b", "\n", "\udcff"])
def test_any_file_name(tmp_path: Path, name: str) -> None:
    path = Checkpoint(v=ag.Variable(1.0)).save(f"{tmp_path}/{name}")
    assert latest_checkpoint(tmp_path) == path == f"{tmp_path}/{name}-1"
    Checkpoint(v=ag.Variable(1.0)).restore(path).assert_consumed()


def test_nothing_was_saved(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    assert latest_checkpoint(tmp_path / "missing") is None
    assert latest_checkpoint(str(tmp_path)) is None


def test_the_newest_checkpoint_is_gone(tmp_path: Path) -> None:
    Checkpoint(v=ag.Variable(1.0)).save(tmp_path / "ckpt")
    (tmp_path / "ckpt-1.safetensors").unlink()
    with pytest.warns(CheckpointWarning) as caught:
        assert latest_checkpoint(tmp_path) is None
    assert [str(warning.message) for warning in caught] == [
        f"latest_checkpoint: the file '{tmp_path}/checkpoint' names 'ckpt-1' as the newest checkpoint, but neither "
        f"'{tmp_path}/ckpt-1.safetensors' nor TensorFlow's '{tmp_path}/ckpt-1.index' exists. Restore another "
        "checkpoint of that folder by its own path."
    ]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("text", ["", "ckpt-1", "model_checkpoint_path: ckpt-1", 'model_checkpoint_path: ""', "\0" * 9])
def test_a_damaged_pointer(tmp_path: Path, text: str) -> None:
    (tmp_path / "checkpoint").write_text(text)
    with says(
        DataLossError,
        f"latest_checkpoint: the file '{tmp_path}/checkpoint' is damaged: it should have a line "
        f"'model_checkpoint_path: \"NAME\"', but begins with {text!r}. Restore a checkpoint "
        "of that folder by its own path.",
    ):
        latest_checkpoint(tmp_path)


def test_file_modes_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        Checkpoint(v=ag.Variable(1.0)).save(tmp_path / "ckpt")
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"checkpoint": 0o640, "ckpt-1.safetensors": 0o640}


def test_values_do_not_change_under_a_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = [ag.Variable(np.full(1000, 1.0, np.float32)) for _ in range(3)]
    state = {"row": [1]}

    class Position(ag.Checkpointable):
        def checkpoint_state(self) -> dict[str, Any]:
            return state

    from agog_checkpoint import file

    write = file.write

    def write_while_training(stream: Any, saved: Any) -> None:
        for v in variables:
            v.assign_add(np.ones(1000, np.float32))
        state["row"].append(2)
        write(stream, saved)

    monkeypatch.setattr(file, "write", write_while_training)
    path = Checkpoint(v=variables, position=Position()).write(tmp_path / "a")
    assert [v.numpy()[0] for v in variables] == [2.0] * 3
    for value in load_file(path + ".safetensors").values():
        np.testing.assert_array_equal(value, np.ones(1000))
    assert '\\"row\\":[1]' in (tmp_path / "a.safetensors").read_bytes()[:2000].decode(errors="replace")


def test_saving_is_not_seen_by_tapes(tmp_path: Path) -> None:
    v = ag.Variable(2.0)
    checkpoint = Checkpoint(v=v)
    with ag.GradientTape() as tape:
        y = v * v
        checkpoint.save(tmp_path / "ckpt")
        v.assign(5.0)
        checkpoint.restore(f"{tmp_path}/ckpt-1")
    assert float(tape.gradient(y, v)) == 4.0
    with ag.GradientTape() as tape:
        checkpoint.save(tmp_path / "ckpt")
    assert tape.watched_variables() == ()


def test_importing_costs_nothing_that_is_not_used() -> None:
    code = (
        "import sys, agog_core; before = set(sys.modules); import agog_checkpoint; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(result.stdout.split()) <= {
        "agog_checkpoint",
        "agog_core",
        "fcntl",
        "mmap",
        "secrets",
        *sys.stdlib_module_names,
    }
    assert "safetensors" not in result.stdout


def test_paths_as_bytes(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    folder = os.fsencode(tmp_path)
    path = checkpoint.save(os.path.join(folder, b"ckpt"))
    assert path == str(tmp_path / "ckpt-1")
    assert latest_checkpoint(folder) == path
    checkpoint.restore(os.fsencode(path)).assert_consumed()


def test_the_session_of_programs_for_graphs_is_not_used(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    assert checkpoint.save(tmp_path / "ckpt", None) == str(tmp_path / "ckpt-1")
    assert checkpoint.write(tmp_path / "other", session=None) == str(tmp_path / "other")
