"""Rank: the script that runs a rank's program, and tells the launcher what it writes and how it ends.

It is run by its path, and imports nothing of agog, so that it starts at once and takes little memory.
"""

from __future__ import annotations

import codecs
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any

_THREADS = ("AGOG_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_LAST_WORDS = 2.0  # seconds for what children of the program still write


class Line:
    """The connection to the launcher: objects of JSON, one on each line."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address)
        self._socket.settimeout(None)
        self._lock = threading.Lock()

    def send(self, **message: Any) -> None:
        """Send a message; where the launcher is gone, it is lost."""
        content = json.dumps(message).encode() + b"\n"
        with self._lock, suppress(OSError):
            self._socket.sendall(content)

    def received(self) -> bytes:
        """The next message, of one byte; empty where the launcher is gone."""
        try:
            return self._socket.recv(1)
        except OSError:
            return b""


def main(program: list[str]) -> int:
    """Run the program, and give its exit status, or less than 0 for the signal that has ended it."""
    told = json.loads(os.environ.pop("AGOG_LAUNCH"))
    line = Line((told["host"], told["port"]))
    rank, local_size = (_number(told["names"][name], missing) for name, missing in (("rank", 0), ("local_size", 1)))
    share_processors(local_size)
    os.environ["PYTHONUNBUFFERED"] = "1"  # what a rank has written before its end should be read
    child = subprocess.Popen(
        [sys.executable, *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        close_fds=False,  # MPICH hands a connection over
        preexec_fn=_end_with_parent if sys.platform.startswith("linux") else None,
    )
    line.send(token=told["token"], rank=rank, process=child.pid)
    readers = [
        threading.Thread(target=forward, args=(stream, line, name), daemon=True)
        for stream, name in ((child.stdout, "stdout"), (child.stderr, "stderr"))
    ]
    for thread in (*readers, threading.Thread(target=obey, args=(line, child), daemon=True)):
        thread.start()
    told_to_end = threading.Event()

    def end(number: int, frame: object) -> None:
        told_to_end.set()
        send(number, child)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    status = wait(child, line)
    for thread in readers:
        thread.join(_LAST_WORDS)
    # What mpiexec ends for another rank it tells this script, or kills both.
    line.send(status=None if told_to_end.is_set() else status)
    return status


def share_processors(local_size: int) -> None:
    """Give the libraries of this rank its part of the machine's processors, unless the user has said how many."""
    if any(name in os.environ for name in _THREADS):
        return
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.update(dict.fromkeys(_THREADS, str(max(1, processors // local_size))))


def wait(child: subprocess.Popen[bytes], line: Line) -> int:
    """Wait for the program's end, and tell when it is stopped meanwhile, and goes on: its exit status."""
    if not hasattr(os, "WCONTINUED"):
        return child.wait()
    while True:
        _, status = os.waitpid(child.pid, os.WUNTRACED | os.WCONTINUED)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode
        line.send(stopped=os.WIFSTOPPED(status))


def forward(stream: IO[bytes] | None, line: Line, name: str) -> None:
    """Send what the program writes, as it comes."""
    assert stream is not None
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while content := os.read(stream.fileno(), 65536):
        line.send(stream=name, text=decoder.decode(content))


def obey(line: Line, child: subprocess.Popen[bytes]) -> None:
    """Interrupt the program where the launcher says so; kill it where the launcher is gone."""
    while line.received():
        send(signal.SIGINT, child)
    send(signal.SIGKILL, child)


def send(number: int, child: subprocess.Popen[bytes]) -> None:
    """Send a signal; `Popen.send_signal` would take the end of the program from who waits for it."""
    with suppress(ProcessLookupError):
        os.kill(child.pid, number)


def _number(names: list[str], missing: int) -> int:
    found = [os.environ[name] for name in names if os.environ.get(name, "").isdigit()]
    return int(found[0]) if found else missing


def _end_with_parent() -> None:
    """Let the system kill the program with this process, which `mpiexec` may kill."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    status = main(sys.argv[1:])
    if status < 0:  # so that mpiexec sees what it would have seen of the program itself
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status if status >= 0 else 1)
