"""Programs that save to one path or into one folder at the same time: nothing is half of one and half of the other."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, CheckpointWarning, Saver, folder_lock, latest_checkpoint
from agog_core.errors import DeadlineExceededError

pytest.importorskip("fcntl")

SIZES = (300, 300, 300)
SHARDED, PLAIN = 1300, None


def objects(value: float) -> Checkpoint:
    return Checkpoint(v=[ag.Variable(np.full(size, value, np.float32)) for size in SIZES])


def value_at(path: Any) -> float:
    """The one value of all variables of a checkpoint, which is whole."""
    checkpoint = objects(0.0)
    checkpoint.restore(path).assert_consumed()
    (value,) = {float(x) for variable in checkpoint.v for x in variable.numpy()}
    return value


def amid(
    monkeypatch: pytest.MonkeyPatch, step: int, first: Callable[[], object], second: Callable[[], object]
) -> list[str]:
    """Do the first, and the second in another thread before a step that the first does on the disk; both go on at the
    same time where the second waits for the first. The list gets the steps."""
    steps: list[str] = []
    errors: list[BaseException] = []
    main = threading.get_ident()

    def act() -> None:
        try:
            second()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=act)

    def wrapped(name: str, really: Callable[..., Any]) -> Callable[..., Any]:
        def do(*arguments: Any, **options: Any) -> Any:
            if threading.get_ident() == main:
                steps.append(name)
                if len(steps) == step:
                    thread.start()
                    thread.join(0.03)
            return really(*arguments, **options)

        return do

    with monkeypatch.context() as patch:
        for name in ("replace", "unlink", "fsync"):
            patch.setattr(os, name, wrapped(name, getattr(os, name)))
        first()
    if thread.ident is not None:
        thread.join(10)
        assert not thread.is_alive()
    assert errors == []
    return steps


@pytest.mark.parametrize("sizes", [(SHARDED, SHARDED), (SHARDED, PLAIN), (PLAIN, SHARDED), (PLAIN, PLAIN)])
@pytest.mark.parametrize("over", [None, SHARDED, PLAIN, "nothing"])
def test_two_writers_of_one_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: tuple[Any, Any], over: Any
) -> None:
    for step in range(1, 100):
        path = tmp_path / str(step) / "a"
        path.parent.mkdir()
        if over != "nothing":
            objects(3.0).write(path, max_shard_bytes=over)
        one, other = objects(1.0), objects(2.0)
        steps = amid(
            monkeypatch,
            step,
            lambda one=one, path=path: one.write(path, max_shard_bytes=sizes[0]),
            lambda other=other, path=path: other.write(path, max_shard_bytes=sizes[1]),
        )
        assert value_at(path) in (1.0, 2.0), (step, steps)
        objects(4.0).write(path)
        assert os.listdir(path.parent) == ["a.safetensors"]  # nothing of the others is left
        if len(steps) < step:
            break
    assert step > 3


# A line from the test lets it write; it answers with one.
WRITER = """
import sys
import numpy as np
import agog_core as ag
from agog_checkpoint import Checkpoint
path, value = sys.argv[1], float(sys.argv[2])
checkpoint = Checkpoint(v=[ag.Variable(np.full(size, value, np.float32)) for size in {sizes}])
for _ in sys.stdin:
    checkpoint.write(path, max_shard_bytes={sharded})
    print("written", flush=True)
"""


def test_two_processes_write_one_path(tmp_path: Path) -> None:
    program = WRITER.format(sizes=SIZES, sharded=SHARDED)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "a"), value],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for value in ("1", "2")
    ]
    try:
        for _ in range(10):
            for writer in writers:
                assert writer.stdin is not None
                print("write", file=writer.stdin, flush=True)
            for writer in writers:
                assert writer.stdout is not None
                assert writer.stdout.readline() == "written\n"
            assert value_at(tmp_path / "a") in (1.0, 2.0)
            for name in os.listdir(tmp_path):
                os.unlink(tmp_path / name)
        assert [writer.communicate(timeout=60)[0] for writer in writers] == ["", ""]
        assert [writer.returncode for writer in writers] == [0, 0]
    finally:
        for writer in writers:
            writer.kill()


def names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".safetensors") for path in folder.glob("*.safetensors"))


@pytest.mark.filterwarnings("error")
def test_two_managers_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in range(1, 100):
        folder = tmp_path / str(step)
        one, other = (CheckpointManager(objects(value), folder, 1) for value in (1.0, 2.0))
        # Each has saved what the other saves next.
        one.save(1)
        other.save(2)
        one.save(2)
        other.save(1)
        steps = amid(monkeypatch, step, lambda one=one: one.save(2), lambda other=other: other.save(1))
        newest = latest_checkpoint(folder)
        assert newest is not None, (step, steps)
        assert value_at(newest) in (1.0, 2.0)
        assert names(folder) == [os.path.basename(newest)], (step, steps)
        one.save(7)
        assert one.checkpoints == [f"{folder}/ckpt-7"]
        assert other.latest_checkpoint == latest_checkpoint(folder) == f"{folder}/ckpt-7"
        assert names(folder) == ["ckpt-7"]
        if len(steps) < step:
            break
    assert step > 3


def test_two_managers_share_their_list(tmp_path: Path) -> None:
    one, other = (CheckpointManager(objects(value), tmp_path, 3, best=("a", "max")) for value in (1.0, 2.0))
    one.save(1, {"a": 0.9})
    other.save(2, {"a": 0.5})
    one.save(3, {"a": 0.3})
    other.save(4, {"a": 0.1})
    assert names(tmp_path) == ["ckpt-1", "ckpt-2", "ckpt-3", "ckpt-4"]
    assert other.checkpoints == [f"{tmp_path}/ckpt-{number}" for number in (1, 2, 3, 4)]
    assert other.best_checkpoint == f"{tmp_path}/ckpt-1"
    one.save(5, {"a": 0.0})
    assert names(tmp_path) == ["ckpt-1", "ckpt-3", "ckpt-4", "ckpt-5"]
    assert one.metrics("ckpt-4") == {"a": 0.1}


def test_two_savers_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in range(1, 100):
        folder = tmp_path / str(step)
        one, other = (Saver([ag.Variable(value, name="v")], max_to_keep=1) for value in (1.0, 2.0))
        other.save(folder / "s", global_step=1)
        steps = amid(
            monkeypatch,
            step,
            lambda one=one, folder=folder: one.save(folder / "s", global_step=1),
            lambda other=other, folder=folder: other.save(folder / "s", global_step=2),
        )
        newest = latest_checkpoint(folder)
        assert newest is not None, (step, steps)
        if len(steps) < step:
            break
    assert step > 3


@pytest.mark.filterwarnings("error::agog_checkpoint.CheckpointWarning")
def test_the_newest_is_looked_for_again_where_it_is_deleted_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agog_checkpoint import pointer

    manager = CheckpointManager(objects(1.0), tmp_path, 1)
    manager.save()
    read = pointer.newest_name
    asked: list[str] = []

    def slowly(path: str) -> str:
        name = read(path)
        if not asked:
            manager.save()
        asked.append(name)
        return name

    monkeypatch.setattr(pointer, "newest_name", slowly)
    assert latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-2"
    assert asked == ["ckpt-1", "ckpt-2", "ckpt-2"]


def test_a_checkpoint_that_is_gone_for_good_is_still_warned_of(tmp_path: Path) -> None:
    objects(1.0).save(tmp_path / "ckpt")
    os.unlink(tmp_path / "ckpt-1.safetensors")
    with pytest.warns(CheckpointWarning):
        assert latest_checkpoint(tmp_path) is None


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    objects(1.0).write(tmp_path / "a")
    monkeypatch.setattr(folder_lock, "_LONGEST_WAIT", 0.05)
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(DeadlineExceededError) as raised:
        objects(2.0).write(tmp_path / "a")
    os.close(handle)
    assert raised.value.message == (
        f"Checkpoint: another program has been putting files into the folder '{tmp_path}' for 0.05 seconds. What was "
        "saved before is as it was. End that program, or save elsewhere."
    )
    assert os.listdir(tmp_path) == ["a.safetensors"]
    assert value_at(tmp_path / "a") == 1.0


def test_a_forked_process_keeps_no_lock(tmp_path: Path) -> None:
    import fcntl

    with folder_lock.folder_lock(str(tmp_path)):
        copy = os.dup(_open_handle(tmp_path))  # as a forked process has it
    fcntl.flock(other := os.open(tmp_path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    os.close(copy)


def _open_handle(folder: Path) -> int:
    handles = [int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    return next(handle for handle in handles if os.path.samestat(os.fstat(handle), os.stat(folder)))


def test_a_save_in_the_midst_of_a_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler may save: it does not wait for the save that it interrupts."""
    replace = os.replace
    other = objects(2.0)

    def interrupted(source: str, target: str) -> None:
        monkeypatch.setattr(os, "replace", replace)
        other.write(tmp_path / "b", max_shard_bytes=SHARDED)
        replace(source, target)

    monkeypatch.setattr(folder_lock, "_LONGEST_WAIT", 0.05)
    monkeypatch.setattr(os, "replace", interrupted)
    objects(1.0).write(tmp_path / "a")
    assert (value_at(tmp_path / "a"), value_at(tmp_path / "b")) == (1.0, 2.0)
