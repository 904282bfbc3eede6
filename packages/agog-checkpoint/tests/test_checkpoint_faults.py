"""Crashes, full disks and missing permissions during a save."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, latest_checkpoint
from agog_core.errors import OpError, PermissionDeniedError, ResourceExhaustedError, UnknownError
from agog_testing import says

TEMPORARY = re.compile(r"\..*\.agog-tmp")


def failing(number: int) -> Callable[..., Any]:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


class FailingStream:
    """A file that has room for some bytes only."""

    def __init__(self, stream: Any, room: int) -> None:
        self.stream = stream
        self.room = room

    def write(self, data: Any) -> int:
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self.stream.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def state(checkpoint: Checkpoint) -> tuple[float, int]:
    return float(checkpoint.v.numpy()[0]), int(checkpoint.save_counter)


def expect_previous(folder: Path, checkpoint: Checkpoint) -> None:
    """The first checkpoint is the newest, whole, and saving goes on."""
    assert state(checkpoint) == (2.0, 1)
    assert [name for name in os.listdir(folder) if TEMPORARY.fullmatch(name)] == []
    assert latest_checkpoint(folder) == f"{folder}/ckpt-1"
    other = Checkpoint(v=ag.Variable(np.zeros(1000, np.float32)))
    other.restore(f"{folder}/ckpt-1").assert_consumed()
    assert state(other) == (1.0, 1)


@pytest.fixture
def saved(tmp_path: Path) -> Checkpoint:
    """A checkpoint that was saved once with ones, and has twos now."""
    checkpoint = Checkpoint(v=ag.Variable(np.ones(1000, np.float32)))
    checkpoint.save(tmp_path / "ckpt")
    checkpoint.v.assign(np.full(1000, 2.0, np.float32))
    return checkpoint


@pytest.mark.parametrize("function", ["fsync", "replace", "open", "listdir"])
@pytest.mark.parametrize("call", range(4))
def test_a_failing_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Checkpoint, function: str, call: int
) -> None:
    """Each call of a function fails once: for the file, its folder (first to lock it), the pointer and its folder."""
    real = getattr(os, function)
    calls = []

    def fail_once(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return failing(errno.EIO)() if len(calls) == call + 1 else real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail_once)
        text = ""
        try:
            saved.save(tmp_path / "ckpt")
        except UnknownError as error:
            text = str(error)
    failed = len(calls) == call + 1
    assert (text != "") == failed, "the failure went unnoticed"
    if failed:
        begin, end = "Checkpoint: cannot write the file ", ": Input/output error. What was saved before is as it was."
        assert text in [f"{begin}'{tmp_path}/{name}'{end}" for name in ("ckpt-2.safetensors", "checkpoint")]
    if (function, call) in (("fsync", 3), ("open", 2)):
        # The new pointer was in its place already, and is whole.
        assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-2"
    elif failed:
        expect_previous(tmp_path, saved)
    if failed:
        saved.save(tmp_path / "ckpt")
    assert state(saved) == (2.0, 2)
    assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-2"


@pytest.mark.parametrize(
    ("number", "kind", "advice"),
    [
        (errno.ENOSPC, ResourceExhaustedError, " Free space there, or save elsewhere."),
        (errno.EDQUOT, ResourceExhaustedError, " Free space there, or save elsewhere."),
        (errno.EACCES, PermissionDeniedError, " Change its permissions, or use another folder."),
        (errno.EROFS, PermissionDeniedError, " Change its permissions, or use another folder."),
        (errno.EIO, UnknownError, ""),
    ],
)
def test_errors_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Checkpoint, number: int, kind: type[OpError], advice: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing(number))
        with pytest.raises(kind) as raised:
            saved.save(tmp_path / "ckpt")
    assert type(raised.value) is kind
    assert str(raised.value) == (
        f"Checkpoint: cannot write the file '{tmp_path}/ckpt-2.safetensors': {os.strerror(number)}. What was saved "
        f"before is as it was.{advice}"
    )
    expect_previous(tmp_path, saved)


@pytest.mark.parametrize("room", [0, 7, 500, 2000, 4000])
def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Checkpoint, room: int) -> None:
    from agog_checkpoint import file

    write = file.write
    with monkeypatch.context() as patch:
        patch.setattr(file, "write", lambda stream, saved: write(FailingStream(stream, room), saved))
        with pytest.raises(ResourceExhaustedError, match="No space left on device"):
            saved.save(tmp_path / "ckpt")
    expect_previous(tmp_path, saved)


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs limits of file sizes")
def test_a_file_that_may_not_grow(tmp_path: Path, saved: Checkpoint) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        with pytest.raises(ResourceExhaustedError, match="File too large"):
            saved.save(tmp_path / "ckpt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    expect_previous(tmp_path, saved)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden to the superuser")
def test_a_folder_that_may_not_be_written(tmp_path: Path, saved: Checkpoint) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionDeniedError, match="Permission denied"):
            saved.save(tmp_path / "ckpt")
    finally:
        tmp_path.chmod(0o755)
    expect_previous(tmp_path, saved)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Checkpoint) -> None:
    monkeypatch.setattr("builtins.open", failing(errno.EACCES))
    for restore, name in (
        (lambda: saved.restore(tmp_path / "ckpt-1"), "ckpt-1.safetensors"),
        (lambda: latest_checkpoint(tmp_path), "checkpoint"),
    ):
        with says(
            PermissionDeniedError,
            f"Checkpoint: cannot read the file '{tmp_path}/{name}': Permission denied. Change its permissions, or use "
            "another folder.",
        ):
            restore()
    assert state(saved) == (2.0, 1)


def test_a_folder_that_is_a_file(tmp_path: Path, saved: Checkpoint) -> None:
    (tmp_path / "file").write_text("")
    with says(
        UnknownError,
        f"Checkpoint: cannot write the file '{tmp_path}/file/ckpt-2.safetensors': Not a directory. What was saved "
        "before is as it was.",
    ):
        saved.save(tmp_path / "file" / "ckpt")
    expect_previous(tmp_path, saved)


def test_an_interrupted_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Checkpoint) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            saved.save(tmp_path / "ckpt")
    expect_previous(tmp_path, saved)


def test_the_order_of_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Checkpoint) -> None:
    steps = []
    fsync, replace = os.fsync, os.replace

    def noting_fsync(handle: int) -> None:
        path = os.readlink(f"/proc/self/fd/{handle}") if os.path.isdir("/proc/self/fd") else ""
        folder = os.path.isdir(path)
        steps.append("sync folder" if folder else "sync file")
        if path and not folder:  # all of it was written before
            content = Path(path).read_bytes()
            assert content.startswith(b"model_checkpoint_path") or len(content) > 4000
        fsync(handle)

    def noting_replace(source: str, target: str) -> None:
        steps.append(f"put {os.path.basename(target)}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "replace", noting_replace)
    saved.save(tmp_path / "ckpt")
    assert steps == [
        *("sync file", "put ckpt-2.safetensors", "sync folder"),
        *("sync file", "put checkpoint", "sync folder"),
    ]


def test_stale_files_are_removed_and_others_are_not(tmp_path: Path, saved: Checkpoint) -> None:
    fcntl = pytest.importorskip("fcntl")
    stale = [f".ckpt-9.safetensors.{'0' * 16}.agog-tmp", f".checkpoint.{'a' * 16}.agog-tmp"]
    others = [
        ".hidden",
        "notes.tmp",
        f".checkpoint.{'a' * 16}",
        "x.agog-tmp",
        f".ckpt-8.safetensors.{'1' * 16}.agog-tmp",
    ]
    for name in (*stale, *others):
        (tmp_path / name).write_text("")
    with open(tmp_path / others[-1], "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # another process writes it just now
        saved.save(tmp_path / "ckpt")
        left = {name for name in os.listdir(tmp_path) if not name.startswith(("ckpt", "checkpoint"))}
        assert left == set(others)
    saved.save(tmp_path / "ckpt")
    assert set(os.listdir(tmp_path)) == {*others[:-1], "checkpoint", *(f"ckpt-{n}.safetensors" for n in (1, 2, 3))}


def test_a_temporary_file_that_another_process_removed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Checkpoint
) -> None:
    fcntl = pytest.importorskip("fcntl")
    flock, removed = fcntl.flock, []

    def flock_too_late(stream: Any, operation: int) -> None:
        if not removed:
            removed.append(stream)
            for name in os.listdir(tmp_path):
                if TEMPORARY.fullmatch(name):
                    os.unlink(tmp_path / name)
        flock(stream, operation)

    monkeypatch.setattr(fcntl, "flock", flock_too_late)
    saved.save(tmp_path / "ckpt")
    assert removed
    assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-2"
