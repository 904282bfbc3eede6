"""Attempt: one run of a program in several processes, from their start to the end of the last one."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agog.commands.launcher.reports import Report, Reports
from agog.commands.launcher.runtime import Runtime
from agog.commands.launcher.screen import Screen
from agog_distribute.processes.environment import NAMES

_SCRIPT = Path(__file__).parent / "rank.py"
_PAUSE = 0.1  # seconds between two looks at mpiexec
_GRACE = 5.0  # seconds after a Ctrl-C, or after a rank's bad end, until all are killed
_STOPPED = 6.0  # seconds for which a rank may be stopped; the others notice it earlier where they can
_NEWS = 2.0  # seconds after mpiexec's end for what ranks have told


class End(NamedTuple):
    """How a rank has ended: its exit status, less than 0 for a signal, None where mpiexec has ended it for another."""

    rank: int
    status: int | None
    seconds: float

    @property
    def is_bad(self) -> bool:
        """Whether it has ended by itself, and not well."""
        return self.status not in (0, None)


class Attempt:
    """A run of a program.

    Args:
        runtime: the MPI that starts it.
        size: how many processes.
        options: more options of `mpiexec`.
        program: the program's file, or ``-m`` and a module, and its arguments.
        screen: where its output goes.
    """

    def __init__(
        self, runtime: Runtime, size: int, options: Sequence[str], program: Sequence[str], screen: Screen
    ) -> None:
        self.size = size
        self.ends: list[End] = []  # the first one first
        self.is_interrupted = False
        self._screen = screen
        self._begin = time.monotonic()
        self._last: float | None = None  # when all are killed
        self._stopped: dict[int, float] = {}  # since when ranks are stopped
        # Other machines reach this one by its name.
        self._reports = Reports(socket.gethostname() if options else "127.0.0.1")
        host, port = self._reports.address
        told = {"host": host, "port": port, "token": self._reports.token, "names": NAMES}
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (by mpiexec itself, which writes until its end)
        self._process = subprocess.Popen(
            [
                *(runtime.mpiexec, "-n", str(size), *runtime.options, *options),
                *(sys.executable, "-I", "-S", str(_SCRIPT), *program),
            ],
            stdin=subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None,
            stdout=self._said,
            stderr=self._said,
            env={**os.environ, **runtime.settings, "AGOG_LAUNCH": json.dumps(told)},
            start_new_session=True,  # a Ctrl-C comes to the launcher alone
        )

    @property
    def status(self) -> int:
        """The exit status of the launcher: that of the first rank with a bad end, or of mpiexec."""
        if self.is_interrupted:
            return 128 + signal.SIGINT
        first = self.first
        if first is not None and first.status:
            return first.status if first.status > 0 else 128 - first.status
        return (self._process.returncode or 0) or int(first is not None or len(self.ends) < self.size)

    @property
    def first(self) -> End | None:
        """The rank that has ended the others: the first with a bad end, or else the first one, where others had to."""
        bad = next((end for end in self.ends if end.is_bad), None)
        if bad is not None or all(end.status is not None for end in self.ends):
            return bad
        return next((end for end in self.ends if end.status is not None), self.ends[0])

    def run(self) -> None:
        """Wait for the end of all ranks; at a Ctrl-C interrupt them, and at another one kill them."""
        try:
            while not self._is_over():
                try:
                    self._hear()
                except KeyboardInterrupt:
                    self._end_in(0.0 if self.is_interrupted else _GRACE)
                    self.is_interrupted = True
                    self._reports.interrupt()
        finally:
            self._kill()
        if not self.ends or (self._process.returncode and all(end.status == 0 for end in self.ends)):
            self._said.seek(0)
            self._screen.say(self._said.read().rstrip())

    def _is_over(self) -> bool:
        now = time.monotonic()
        for rank, since in self._stopped.items():
            if self._last is None and now - since > _STOPPED:
                self._screen.verdict = f"Rank {rank} has been stopped for {_STOPPED:g} s, which ends all processes."
                self._end_in(0.0)
        if self._last is not None and now > self._last:
            return True
        if self._process.poll() is None:
            return False
        self._end_in(_NEWS)
        return len(self.ends) == self.size

    def _end_in(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self._last = end if self._last is None else min(self._last, end)

    def _hear(self) -> None:
        try:
            report = self._reports.queue.get(timeout=_PAUSE)
        except queue.Empty:
            return
        if report.message is None or "status" in report.message:
            self._note_end(report)
        elif "stopped" in report.message:
            self._stopped.pop(report.rank, None)
            if report.message["stopped"]:
                self._stopped[report.rank] = time.monotonic()
        elif "text" in report.message:
            self._screen.write(report.rank, report.message["stream"], report.message["text"])

    def _note_end(self, report: Report) -> None:
        if any(end.rank == report.rank for end in self.ends):
            return
        end = End(report.rank, (report.message or {}).get("status"), time.monotonic() - self._begin)
        self.ends.append(end)
        self._screen.end(report.rank)
        if end.is_bad:
            self._end_in(_GRACE)

    def _kill(self) -> None:
        self._reports.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(1.0)
