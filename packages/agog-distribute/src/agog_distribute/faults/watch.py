"""Watch: a thread that ends the run where another process is stopped or gone, or where a wait is over its deadline.

It asks nothing of the others: the system tells their state, so that one that computes for long, even outside of
Python, is alive. Where the system does not tell (it does on Linux), and for processes of other machines, the deadline
remains; a machine watches its own.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from agog_core.plugin import Communicator
from agog_distribute.faults.board import Board, new_board
from agog_distribute.faults.deadline import deadline, longest_of, waits
from agog_distribute.faults.place import place_of

_PAUSE = 0.5  # seconds between two looks
_PATIENCE = 4.0  # seconds for which a process may be stopped, or for which mpiexec may tell of its death itself
_LAST_WORDS = 3.0  # seconds that an engine has to end all
_STOPPED, _GONE = "is stopped", "is gone"
_STATES = {"T": _STOPPED, "Z": _GONE, "X": _GONE}


class Watch:
    """What one process sees of those of its machine.

    Args:
        communicator: of all processes.
        board: what those of this machine say, if they can share memory.
        near: their numbers and process ids, in the order of their pages.
    """

    def __init__(self, communicator: Communicator, board: Board | None, near: dict[int, int]) -> None:
        self._communicator, self._board, self._near = communicator, board, near
        self._pages = {rank: page for page, rank in enumerate(near)}
        self._since: dict[int, float] = {}  # when a process was first seen stopped or gone
        self._end = threading.Event()

    def start(self) -> None:
        """Look from now on."""
        threading.Thread(target=self._look_on, name="agog-distribute-watch", daemon=True).start()

    def end(self) -> None:
        """Look no more: all processes have come to their end."""
        self._end.set()

    def _look_on(self) -> None:
        while not self._end.wait(_PAUSE):
            now = time.monotonic()
            self._write()
            fault = self._neighbour(now) or self._overdue(now)
            if fault and not self._end.is_set():
                end_all(self._communicator, fault)

    def _write(self) -> None:
        if self._board is not None:
            self._board.write(activity())

    def _neighbour(self, now: float) -> str | None:
        """What is wrong with another process of this machine for too long."""
        for rank, process in self._near.items():
            state = None if rank == self._communicator.rank else state_of(process)
            if state is None:
                self._since.pop(rank, None)
            # One after the other, so that the first ends all before the others say the same.
            elif now - self._since.setdefault(rank, now) > _PATIENCE + self._turn():
                return f"Rank {rank} (process {process}) {state}; rank {self._communicator.rank} ends all processes."
        return None

    def _overdue(self, now: float) -> str | None:
        """What this process has waited for too long, and what the others do."""
        limit = deadline.seconds()
        wait = longest_of(wait for wait in tuple(waits.values()) if not wait.may_last)
        if not limit or wait is None or now - wait.begin <= limit + self._turn():
            return None
        head = (
            f"Rank {self._communicator.rank} ends all processes: it has waited for others for {limit:g} s, which is "
            f"the deadline (AGOG_DISTRIBUTE_DEADLINE, set_deadline), in {wait.what}."
        )
        others = [rank for rank in self._near if rank != self._communicator.rank]
        lines = [f"  rank {rank}: {self._board.read(self._pages[rank])}" for rank in others] if self._board else []
        far = self._communicator.size - len(self._near)
        lines += [f"  {far} ranks on other machines: see what they say"] if far else []
        return "\n".join([head, *lines])

    def _turn(self) -> float:
        return 2 * _PAUSE * self._pages[self._communicator.rank]


def watch(communicator: Communicator) -> Watch:
    """Watch the other processes from now on; all call it at once."""
    host, own = socket.gethostname(), os.getpid()
    path = new_board(communicator.local_size) if communicator.local_rank == 0 else ""
    told = [json.loads(each) for each in communicator.exchange(json.dumps([host, own, path]).encode())]
    near = {rank: process for rank, (name, process, _) in enumerate(told) if name == host}
    board = None
    with suppress(OSError, ValueError):  # processes of one machine that do not share its files
        shared = next(file for name, _, file in told if name == host and file)
        board = Board(shared, len(near), list(near).index(communicator.rank))
    communicator.barrier()
    if path:
        os.unlink(path)
    watching = Watch(communicator, board, near)
    watching.start()
    return watching


def end_all(communicator: Communicator, message: str) -> None:
    """End all processes, this one even if the engine does not."""
    last = threading.Timer(_LAST_WORDS, os._exit, (1,))
    last.daemon = True
    last.start()
    communicator.abort(message)
    os._exit(1)


def activity() -> str:
    """What this process does: in which line, or in which collective it waits."""
    wait = longest_of(tuple(waits.values()))
    if wait is not None:
        return f"waits in {wait.what}"
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    return "ends" if frame is None else "is at {}:{}".format(*place_of(frame))


def state_of(process: int) -> str | None:
    """Whether a process of this machine is stopped or gone, in words; None where it is alive, or nothing is known."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return _GONE
    return _STATES.get(status.rpartition(")")[2].split()[0])
