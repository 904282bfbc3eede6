"""Folders with pipes, sockets, folders and broken links named as checkpoints are: nobody waits for them."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_checkpoint import (
    Checkpoint,
    CheckpointManager,
    get_checkpoint_state,
    latest_checkpoint,
    load_tensors,
    remove_checkpoint,
)
from agog_checkpoint.folders import checkpoints_in, files_of
from agog_checkpoint.recovery import remove_stale, stale_files
from agog_core.errors import DataLossError, NotFoundError, OpError
from agog_testing import says

SAVED = "ckpt-1.safetensors"
NAMES = [
    "a-00001-of-00002.safetensors",
    "a.0123456789abcdef-00001-of-00002.safetensors",
    "a.safetensors",
    "a.safetensors.index.json",
    ".a.safetensors.0123456789abcdef.agog-tmp",
]


def in_time(action: Callable[[], Any]) -> Any:
    """What a function returns, which must not wait."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(action()), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it waits for ever"
    return found[0]


def socket_at(path: Path) -> None:
    folder = os.getcwd()
    os.chdir(path.parent)  # the whole path may be too long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)
    os.chdir(folder)


@pytest.fixture(params=["pipe", "socket", "folder", "broken link", "link to a pipe"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Path], None]:
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs a POSIX system")
    os.mkfifo(tmp_path / "pipe")
    kinds: dict[str, Callable[[Path], None]] = {
        "pipe": os.mkfifo,
        "socket": socket_at,
        "folder": os.mkdir,
        "broken link": lambda path: path.symlink_to("nothing"),
        "link to a pipe": lambda path: path.symlink_to(tmp_path / "pipe"),
    }
    return kinds[request.param]


@pytest.mark.parametrize("max_shard_bytes", [None, 4])
def test_saves_and_clearing_up(tmp_path: Path, make: Callable[[Path], None], max_shard_bytes: int | None) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in NAMES:
        make(folder / name)
    checkpoint = Checkpoint(v=ag.Variable(1.0), w=ag.Variable(2.0))
    path = in_time(lambda: checkpoint.save(folder / "ckpt", max_shard_bytes=max_shard_bytes))
    assert in_time(lambda: checkpoint.restore(path).assert_consumed()) is not None
    assert in_time(lambda: stale_files(str(folder))) == []
    in_time(lambda: remove_stale(str(folder)))
    assert set(os.listdir(folder)) >= set(NAMES)
    assert in_time(lambda: checkpoints_in(folder)) == [path]
    assert in_time(lambda: files_of(f"{folder}/a")) == []
    manager = CheckpointManager(checkpoint, folder, 1)
    in_time(manager.save)
    assert latest_checkpoint(folder) == f"{folder}/ckpt-2"


def test_reading(tmp_path: Path, make: Callable[[Path], None]) -> None:
    for name in NAMES:
        make(tmp_path / name)
    make(tmp_path / "checkpoint")
    checkpoint = Checkpoint(v=ag.Variable(1.0))

    def error_of(action: Callable[[], Any]) -> OpError:
        with pytest.raises(OpError) as raised:
            action()
        return raised.value

    error = in_time(lambda: error_of(lambda: checkpoint.restore(tmp_path / "a")))
    assert isinstance(error, NotFoundError)
    for name in NAMES:
        error = in_time(lambda name=name: error_of(lambda: load_tensors(tmp_path / name)))
        assert error.message == f"load_tensors: the file '{tmp_path / name}' does not exist."
    assert in_time(lambda: latest_checkpoint(tmp_path)) is None
    assert in_time(lambda: get_checkpoint_state(tmp_path)) is None


def test_a_shard_that_is_none(tmp_path: Path, make: Callable[[Path], None]) -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0), w=ag.Variable(2.0))
    path = checkpoint.write(tmp_path / "a", max_shard_bytes=4)
    shard = tmp_path / "a-00001-of-00002.safetensors"
    shard.unlink()
    make(shard)
    with says(
        DataLossError,
        f"Checkpoint: the file '{path}.safetensors.index.json' is not a whole checkpoint: its shard '{shard}' does not "
        "exist. Nothing was changed; restore another checkpoint.",
    ):
        in_time_or_error(lambda: checkpoint.restore(path))
    in_time(lambda: remove_checkpoint(path))
    assert os.path.lexists(shard)


def in_time_or_error(action: Callable[[], Any]) -> None:
    def act() -> BaseException | None:
        try:
            action()
        except OpError as error:
            return error
        return None

    error = in_time(act)
    if error is not None:
        raise error


def test_a_pipe_in_the_place_of_a_file_just_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the question whether it is a file and its opening."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs a POSIX system")
    os.mkfifo(tmp_path / "a.safetensors")
    monkeypatch.setattr(os.path, "isfile", lambda path: True)
    with says(OpError, f"Checkpoint: cannot read the file '{tmp_path}/a.safetensors': it is not a regular file."):
        in_time_or_error(lambda: Checkpoint(v=ag.Variable(1.0)).restore(tmp_path / "a"))
