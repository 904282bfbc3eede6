"""Team: helpers, which are made once, and calls of which they take turns."""

from __future__ import annotations

import ctypes
import os
from array import array
from collections.abc import Iterable
from threading import Lock, Thread
from typing import Any

import numpy as np

from agog_core.plugin import threads
from agog_cpu_llvm.team import handshake
from agog_cpu_llvm.team.scratch import ALIGNMENT, Scratch

__all__ = ["MOST", "run"]

MOST = 128
"""Threads of a team at most."""

_SERVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_RUN = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)
_new_lock = ctypes.pythonapi.PyThread_allocate_lock
_new_lock.restype, _new_lock.argtypes = ctypes.c_void_p, []
_acquire = ctypes.pythonapi.PyThread_acquire_lock
_acquire.argtypes = [ctypes.c_void_p, ctypes.c_int]
_release = ctypes.pythonapi.PyThread_release_lock


class Team:
    """The calling thread and its helpers, whose board is described in `handshake`."""

    def __init__(self) -> None:
        entries = handshake.entries()
        self._serve, self.run = _SERVE(entries["serve"]), _RUN(entries["run"])
        self._memory = np.zeros(handshake.LINE * (MOST + 1), np.int64)
        self.board = self._memory.ctypes.data + -self._memory.ctypes.data % 64
        self.helpers = 0
        self._growing = Lock()

    def grow(self, helpers: int) -> None:
        """Have at least so many helpers."""
        with self._growing:
            while self.helpers < helpers:
                self._hire(self.helpers + 1)
                self.helpers += 1

    def _hire(self, number: int) -> None:
        seat = self.board + 8 * handshake.LINE * number
        fields = (ctypes.c_int64 * handshake.LINE).from_address(seat)
        fields[handshake.ACQUIRE], fields[handshake.RELEASE] = _address(_acquire), _address(_release)
        for field in handshake.LOCKS:  # a sleeper waits until somebody else releases them
            fields[field] = _new_lock()
            _acquire(fields[field], 1)
        Thread(target=self._serve, args=(seat,), name=f"agog-cpu-llvm-{number}", daemon=True).start()


def _address(function: Any) -> int:
    """Of a function of Python's."""
    return ctypes.c_void_p.from_address(ctypes.addressof(function)).value or 0


class _Present:
    """The team of this process, which is made when it is first needed; a process that is forked makes its own."""

    def __init__(self, count: int) -> None:
        self.count = count  # of the threads that compute
        self.team: Team | None = None
        self._making = Lock()

    def make(self) -> Team:
        """The team; threads that ask at once get the same."""
        with self._making:
            if self.team is None:
                self.team = Team()
                # BLAS, which has the small products, gets one thread: its helpers would spin on our processors.
                threads.register("agog-cpu-llvm", _resize, priority=50)
            return self.team


# The team of this process; written when it is made, and anew in a process that is forked.
_present = _Present(1)
_scratch = Scratch()


def _resize(count: int) -> None:
    _present.count = count


def _renew() -> None:
    global _present
    _present = _Present(_present.count)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def run(function: int, words: Iterable[int], scratch: int = 0, most: int = MOST) -> None:
    """Run a function on as many threads as may compute, and return when all are done, also where Ctrl-C is pressed.

    A call from a second thread meanwhile runs on that thread alone.

    Args:
        function: the address of a compiled function ``(words, scratch)``, which takes turns until none is left.
        words: numbers and addresses that it is given as an array of 64-bit integers, after a counter that is 0.
        scratch: bytes of memory for each thread, aligned to 64, with any content; it is kept for later calls.
        most: threads that are of use, such as the number of turns.
    """
    given = array("q", (0, *words))
    team = _present.team or _present.make()
    helpers = min(most, _present.count, MOST) - 1
    if helpers > team.helpers:
        team.grow(helpers)
    size = scratch + -scratch % ALIGNMENT
    address, _kept = _scratch.memory((helpers + 1) * size) if size else (0, None)
    team.run(team.board, helpers, function, given.buffer_info()[0], address, size)
