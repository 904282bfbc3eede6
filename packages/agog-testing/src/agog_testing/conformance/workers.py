"""Workers: processes for one request after another, which may crash, hang or exit.

A worker that ends is replaced; its request is reported as `Died`, with the known reason and position.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from agog_testing import stopwatch
from agog_testing.conformance.clock import Clock

Answer = Callable[[Any], Iterable[Any]]

# What a worker sends before and after its answers to a request.
_BEGUN, _DONE = "begun", "done"
# A worker whose time is over says where it is, and ends; if it cannot, it is ended so many seconds later.
_GRACE = 5.0
_SECONDS_BETWEEN_LOOKS = 0.25
_MOST_LINES = 20
_ABORTED = "Fatal Python error: Aborted"

PATIENT = {
    "OMP_WAIT_POLICY": "passive",
    "GOMP_SPINCOUNT": "0",
    "KMP_BLOCKTIME": "0",
    "OPENBLAS_THREAD_TIMEOUT": "4",
    "OPENBLAS_NUM_THREADS": "1",
}
"""An environment in which threads do not wait for work in a loop, which takes the processor from those that work."""


class Died(NamedTuple):
    """The answer of a worker that ended in the midst of a piece of work: why it ended, and where as far as known."""

    text: str


class Workers:
    """Processes that answer requests; use it as a context manager, which ends them all.

    Args:
        answer: takes a request and yields answers, in a worker.
        context: how processes are started.
        environment: variables for them, where these are not set already.
    """

    def __init__(self, answer: Answer, context: BaseContext, environment: Mapping[str, str] | None = None) -> None:
        self._answer = answer
        self._context = context
        self._environment = environment or {}
        self._workers: list[_Worker] = []
        self._last_look = 0.0
        self._logs = tempfile.TemporaryDirectory(prefix="agog-conformance-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self._workers:
            worker.end(at_once=kind is not None or worker.is_busy)
        for worker in self._workers:
            worker.process.join(_GRACE)
            worker.process.kill()
            worker.process.join()
        self._logs.cleanup()

    def run(self, requests: Iterable[Any], limit: float, jobs: int = 1) -> Iterator[tuple[Any, Any]]:
        """Have requests answered, and yield each answer with its request, as they come.

        Args:
            requests: the requests.
            limit: how many seconds of its `Clock` a worker may take until it answers, and until each further answer.
            jobs: how many processes there are at most.
        """
        waiting = deque(requests)
        while waiting or any(worker.is_busy for worker in self._workers):
            self._hand_out(waiting, limit, jobs)
            for worker in self._ready():
                request, answer = worker.request, worker.receive()
                if isinstance(answer, Died):
                    self._workers.remove(worker)
                    if worker.is_busy and not worker.has_begun:  # it ended of what it had done before
                        waiting.appendleft(request)
                        request = worker.earlier
                    yield request, answer
                elif answer == _BEGUN:
                    worker.has_begun = True
                elif answer == _DONE:
                    worker.is_busy = False
                else:
                    yield request, answer

    def _hand_out(self, waiting: deque[Any], limit: float, jobs: int) -> None:
        """Give each idle worker something to do, and start as many as are of use."""
        while waiting and sum(worker.is_busy for worker in self._workers) < jobs:
            worker = next((worker for worker in self._workers if not worker.is_busy), None)
            if worker is None:
                log = Path(self._logs.name) / str(time.monotonic_ns())
                with _set(self._environment):
                    worker = _Worker(self._context, self._answer, log)
                self._workers.append(worker)
            worker.take(waiting.popleft(), limit)

    def _ready(self) -> list[_Worker]:
        """The workers that have answered or ended; at least one."""
        while True:
            handles = [handle for worker in self._workers for handle in (worker.connection, worker.process.sentinel)]
            ready = wait(handles, _SECONDS_BETWEEN_LOOKS)
            if time.monotonic() - self._last_look >= _SECONDS_BETWEEN_LOOKS:
                for worker in self._workers:
                    worker.look()
                self._last_look = time.monotonic()
            if found := [w for w in self._workers if w.connection in ready or w.process.sentinel in ready]:
                return found


class _Worker:
    """A process, the connection to it, and what it is doing."""

    def __init__(self, context: Any, answer: Answer, log: Path) -> None:
        self.connection, theirs = context.Pipe()
        self.log = log
        shared = context.RawArray("d", 2)
        self.process = context.Process(target=_serve, args=(theirs, self.connection, answer, str(log), shared))
        self.process.start()
        theirs.close()
        assert self.process.pid is not None
        self.pid: int = self.process.pid
        self.clock = Clock(self.pid, partial(stopwatch.read, shared))
        self.request: Any = None
        self.earlier: Any = None
        self.is_busy = self.has_begun = False
        self.limit = self.overdue_since = 0.0

    def take(self, request: Any, limit: float) -> None:
        """Send a request."""
        self.earlier, self.request = self.request, request
        self.is_busy, self.has_begun = True, self.earlier is None
        self.limit = limit
        self.clock.restart()
        with suppress(OSError):  # it may have ended, which `receive` finds out next
            self.connection.send(request)

    def look(self) -> None:
        """End it if its time is over: first in a way that lets it write down where it is."""
        if not self.is_busy:
            return
        if not self.overdue_since and self.clock.read() > self.limit:
            self.overdue_since = time.monotonic()
            if os.name == "posix":
                os.kill(self.pid, signal.SIGABRT)
            else:
                self.process.kill()
        elif self.overdue_since and time.monotonic() - self.overdue_since > _GRACE:
            self.process.kill()

    def receive(self) -> Any:
        """Its answer, or the news of its end."""
        self.clock.clear()
        try:
            if self.connection.poll():
                return self.connection.recv()
        except (EOFError, OSError):
            pass
        self.process.join()
        self.connection.close()
        return Died(self._obituary())

    def end(self, at_once: bool) -> None:
        """End the process; one that is idle ends when nobody asks any more."""
        if at_once:
            self.process.kill()
        self.connection.close()

    def _obituary(self) -> str:
        """The reason for the process's end, and its last position if it could write that down."""
        log = self.log.read_text(errors="replace").strip() if self.log.exists() else ""
        code = self.process.exitcode
        if self.overdue_since:
            log = log.removeprefix(_ABORTED).lstrip()
            why = f"it took longer than {self.limit:g} seconds, and its process was ended"
        elif code is not None and code < 0:
            why = f"its process ended by signal {-code} ({_signal_name(-code)})"
        else:
            why = f"its process ended with exit code {code}"
        return "\n".join([why, *log.splitlines()[:_MOST_LINES]])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


@contextmanager
def _set(environment: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment that are not set, for processes that are started in the block."""
    added = {name: text for name, text in environment.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _serve(
    connection: Connection, other_end: Connection, answer: Answer, log_name: str, shared: MutableSequence[float]
) -> None:
    """Answer requests until there is nobody left who asks."""
    stopwatch.share(shared)
    other_end.close()  # only then does the connection end with the other process's
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, and the one that asks decides
    with open(log_name, "w") as log:
        faulthandler.enable(log)
        while True:
            try:
                request = connection.recv()
            except EOFError:
                return
            connection.send(_BEGUN)
            for reply in answer(request):
                connection.send(reply)
            connection.send(_DONE)
