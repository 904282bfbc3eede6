"""Several threads, killed programs, full disks, and folders that cannot be written."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import agog_summary as summary
from agog_core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
)
from agog_testing import says


def test_threads_share_a_writer(tmp_path: Path, events_of: Any) -> None:
    writer = summary.create_file_writer(tmp_path, max_queue=3)
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        with writer.as_default(), summary.always_record_summaries():
            for step in range(50):
                summary.scalar(f"thread{number}", 1.0, step=step)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    values = [(event.summary.value[0].tag, event.step) for event in events_of(tmp_path)[1:]]
    assert sorted(values) == sorted((f"thread{number}", step) for number in range(4) for step in range(50))
    for number in range(4):  # in the order of each thread
        assert [step for tag, step in values if tag == f"thread{number}"] == list(range(50))


def test_a_thread_has_no_default_writer_but_its_own(tmp_path: Path, events_of: Any) -> None:
    def work() -> None:
        with summary.always_record_summaries():
            summary.scalar("loss", 1.0, step=0)

    with summary.create_file_writer(tmp_path).as_default():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(events_of(tmp_path)) == 1


def test_what_was_flushed_survives_kill_9(tmp_path: Path, events_of: Any) -> None:
    program = (
        "import sys, agog_summary as s\n"
        "writer = s.create_file_writer(sys.argv[1], max_queue=1000)\n"
        "with writer.as_default(), s.always_record_summaries():\n"
        "    for step in range(100):\n"
        "        s.scalar('loss', 1.0, step=step)\n"
        "        if step == 59:\n"
        "            writer.flush()\n"
        "    print('written', flush=True)\n"
        "    input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert [event.step for event in events_of(tmp_path)[1:]] == list(range(60))


def test_a_full_disk_cuts_no_record_off_and_nothing_is_lost(tmp_path: Path, events_of: Any) -> None:
    pytest.importorskip("resource")
    program = (
        "import sys, resource, agog_summary as s\n"
        "from agog_core.errors import ResourceExhaustedError\n"
        "_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))\n"
        "writer = s.create_file_writer(sys.argv[1], max_queue=4)\n"
        "with writer.as_default(), s.always_record_summaries():\n"
        "    for step in range(100):\n"
        "        try:\n"
        "            s.scalar('loss', 1.0, step=step)\n"
        "        except ResourceExhaustedError as error:\n"
        "            print(step, error, flush=True)\n"
        "            break\n"
        "    input()\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        step, _, text = process.stdout.readline().partition(" ")
        (file,) = tmp_path.iterdir()
        assert text == f"Summaries: writing to {str(file)!r} failed: {os.strerror(errno.EFBIG)}.\n"
        readable = [event.step for event in events_of(tmp_path)[1:]]
        assert file.stat().st_size < 1000
        assert 0 < len(readable) < int(step)
        process.communicate("\n")
    assert process.returncode == 0
    assert [event.step for event in events_of(tmp_path)[1:]] == list(range(int(step) + 1))


def refusing(number: int) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize(
    ("function", "number", "error", "text"),
    [
        (
            "os.makedirs",
            errno.EACCES,
            PermissionDeniedError,
            "Summaries: making the folder {folder!r} failed: Permission denied.",
        ),
        (
            "os.makedirs",
            errno.EROFS,
            PermissionDeniedError,
            "Summaries: making the folder {folder!r} failed: Read-only file system.",
        ),
        (
            "os.fsync",
            errno.ENOSPC,
            ResourceExhaustedError,
            "Summaries: writing to {file!r} failed: No space left on device.",
        ),
        (
            "os.fsync",
            errno.EIO,
            FailedPreconditionError,
            "Summaries: writing to {file!r} failed: Input/output error.",
        ),
    ],
)
def test_refusals_have_tensorflow_errors(
    tmp_path: Path, function: str, number: int, error: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function, refusing(number))
    monkeypatch.setattr("time.time", lambda: 7.0)
    monkeypatch.setattr("socket.gethostname", lambda: "host")
    file = str(tmp_path / "events.out.tfevents.0000000007.host.v2")
    with says(error, text.format(folder=str(tmp_path), file=file)) as raised:
        summary.create_file_writer(tmp_path)
    assert raised.value.__cause__.errno == number
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "logs")
    with says(FailedPreconditionError, f"Summaries: making the folder {folder!r} failed: Not a directory."):
        summary.create_file_writer(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionDeniedError, match=r"^Summaries: making the file .* failed: Permission denied\.$"):
            summary.create_file_writer(tmp_path)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("options", [{"logdir": "a\0b"}, {"logdir": "logs", "filename_suffix": "\0"}])
def test_nul_characters_in_names(tmp_path: Path, options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with says(InvalidArgumentError, "create_file_writer: a file name must not hold a NUL character."):
        summary.create_file_writer(**options)
    assert list(tmp_path.iterdir()) == []


def test_a_url_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.chdir(tmp_path)
    with says(
        UnimplementedError,
        "create_file_writer: 's3://bucket/logs' is a URL, which the package fsspec opens; install it by pip install "
        '"agog[remote]".',
    ):
        summary.create_file_writer("s3://bucket/logs")
    assert list(tmp_path.iterdir()) == []
