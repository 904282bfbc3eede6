"""Processes: the workers of an iterator, which end with it.

They are forked: so a function may be a lambda, and its data are already there, shared until one process writes them
(copy-on-write). What forking does not copy is threads. Locks of agog's own are held while a process is forked, so that
no thread has them; a function must not wait for what another thread of the program would do.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from agog_core.errors import AbortedError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Serve = Callable[[Any], Any]
_POLL_SECONDS = 1.0  # how often one side looks whether the other is still there, should no end of a pipe tell it


class WorkerTraceback(Exception):
    """Where in a worker process an error happened; the cause of the error that the loop gets."""

    def __init__(self, text: str) -> None:
        super().__init__(text)

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


class Failure:
    """An error on its way from a worker process, or one that waits for its turn.

    It holds the traceback as text: the frames themselves would keep alive whoever called the function.
    """

    def __init__(self, error: BaseException) -> None:
        self._text = "".join(traceback.format_exception(error))
        error.__traceback__ = error.__cause__ = error.__context__ = None
        self._error = error if _arrives(error) else RuntimeError(f"{type(error).__qualname__}: {error}")
        for note in getattr(error, "__notes__", []):
            if self._error is not error:
                self._error.add_note(note)

    def error(self) -> BaseException:
        """The error, with the traceback as its cause."""
        self._error.__cause__ = WorkerTraceback(self._text)
        return self._error


def _arrives(error: BaseException) -> bool:
    """Whether an error can be sent: some cannot be made again of their arguments."""
    from multiprocessing.reduction import ForkingPickler

    try:
        return type(ForkingPickler.loads(ForkingPickler.dumps(error))) is type(error)
    except Exception:
        return False


class Worker:
    """One process. ``serve`` makes the answer to a request there; ``others`` are the connections of the workers before
    it."""

    def __init__(self, serve: Serve, others: list[Connection]) -> None:
        from multiprocessing import Pipe

        self.connection, end = Pipe()
        parent = os.getpid()
        for stream in (sys.stdout, sys.stderr):  # what they hold would be written twice
            if stream:
                stream.flush()
        with _interrupts_wait(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12's, of threads; see above
            self.pid = os.fork()
            if not self.pid:
                _live(serve, end, [*others, self.connection], parent)
        end.close()
        self._over = False  # whether this program has ended it

    def send(self, request: Any) -> None:
        """Send a request. Raises AbortedError if the process has ended."""
        try:
            self.connection.send(request)
        except OSError:
            raise self._ended() from None

    def receive(self) -> Any:
        """Wait for the answer to the oldest request that has none yet: what ``serve`` returned, or a `Failure`. Raises
        AbortedError if the process has ended."""
        try:
            while not self.connection.poll(_POLL_SECONDS):
                if not _runs(self.pid) and not self.connection.poll():
                    raise EOFError
            return self.connection.recv()
        except (EOFError, OSError):
            raise self._ended() from None

    def _ended(self) -> Exception:
        if self._over:  # another thread did it: the program ends, and with it the elements, as those of threads do
            return StopIteration()
        how = "ended"
        with suppress(ChildProcessError):
            _, status = os.waitpid(self.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            how = f"ended with code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"
        return AbortedError(
            f"map: the worker process {self.pid} {how} while it computed elements. The kernel kills processes when "
            "memory runs out; a function may also crash in code that is not Python. Run the function without "
            "processes=True to find out."
        )

    def end(self) -> None:
        """End the process at once; whatever it is doing has no effect elsewhere."""
        self._over = True
        self.connection.close()
        with suppress(ChildProcessError):
            if _runs(self.pid):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def _runs(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # its end has been noted
        return False


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Keep Ctrl-C from a process that is just being made."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _live(serve: Serve, end: Connection, others: list[Connection], parent: int) -> None:
    """The life of a worker process: it never returns, and nothing that the parent does at its end happens here."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for connection in others:
            connection.close()
        gc.freeze()  # what the parent has made is neither collected here nor copied for the collector
        while _wait(end, parent):
            try:
                answer = serve(end.recv())
            except BaseException as error:
                answer = Failure(error)
            try:
                end.send(answer)
            except OSError:  # the parent is gone
                raise
            except Exception as error:  # a part of the answer cannot be sent
                end.send(Failure(error))
            sys.stdout.flush()
        code = 0
    except (EOFError, OSError):
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _wait(end: Connection, parent: int) -> bool:
    while not end.poll(_POLL_SECONDS):
        if os.getppid() != parent:
            return False
    return True


class Workers:
    """Several processes, one for each function, which end with this object or the program."""

    def __init__(self, serves: list[Serve]) -> None:
        self._workers: list[Worker] = []
        self.close = weakref.finalize(self, _end_all, self._workers, os.getpid())
        for serve in serves:
            self._workers.append(Worker(serve, [worker.connection for worker in self._workers]))

    def __getitem__(self, number: int) -> Worker:
        return self._workers[number % len(self._workers)]


def _end_all(workers: list[Worker], owner: int) -> None:
    if os.getpid() == owner:
        for worker in workers:
            worker.end()
