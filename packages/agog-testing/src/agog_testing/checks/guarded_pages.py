"""Guarded pages: arrays between pages that nobody may touch, given to kernels in a child process that may die."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from agog_testing.checks.recording import repeat
from agog_testing.subject import Array, KernelCall, NotChecked, Subject, Violation

RULE = "a kernel touches no memory outside of its arrays"
_FAULTS = (signal.SIGSEGV, getattr(signal, "SIGBUS", signal.SIGSEGV))
# A child that cannot go on, as its library had threads in the parent, is given up after so many seconds.
_SECONDS = 30.0


class Step(NamedTuple):
    """A call of the kernel whose arrays all end at a guarded page, or all begin at one."""

    name: str
    call: KernelCall
    at_end: bool

    def run(self, subject: Subject) -> None:
        """Make the call; what the kernel raises is a matter of other checks."""
        with suppress(Exception):
            found = repeat(subject, self._placed(self.call.before), self.call.attributes)
            if subject.fill is not None:
                arrays, (out,) = self._placed(self.call.before), self._placed(found[:1])
                subject.fill(*arrays, out=out, **self.call.attributes)

    def _placed(self, arrays: Sequence[Array]) -> list[Array]:
        return [guarded(array, self.at_end) for array in arrays]

    def __str__(self) -> str:
        return f"{self.name}, arrays that {'end' if self.at_end else 'begin'} at a page that nobody may touch"


def check_pages(subject: Subject, calls: Sequence[tuple[str, KernelCall]]) -> None:
    """Check that calls touch nothing before and behind their arrays, in a child process."""
    steps = [Step(name, call, at_end) for name, call in calls for at_end in (True, False)]
    if not steps or _libc is None:
        return
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of a library are no matter of Python's
        child = os.fork()
    if not child:
        _run(subject, steps, writing)
    os.close(writing)
    try:
        said = _read(reading, child)
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        return
    number, begun = os.WTERMSIG(status), sum(line == _BEGUN for line in said)
    if number not in _FAULTS:
        raise NotChecked(f"a process that was forked for it ended by {_name(number)}")
    at = [line.strip() for line in said if line.lstrip().startswith("File ")][:1]
    raise Violation(RULE, str(steps[begun - 1]), "a result", ", in ".join([_name(number), *at]))


_BEGUN = "begun"


def _run(subject: Subject, steps: Sequence[Step], writing: int) -> None:
    """Make the calls in the child, and end it; where it dies, it says where in Python that was."""
    try:
        faulthandler.enable(writing, all_threads=False)
        for step in steps:
            os.write(writing, f"{_BEGUN}\n".encode())
            step.run(subject)
    finally:
        os._exit(0)


def _read(reading: int, child: int) -> list[str]:
    """The lines that the child says until it ends; raises `NotChecked` where it does not."""
    said, end = b"", time.monotonic() + _SECONDS
    while select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
        if not (part := os.read(reading, 1 << 16)):
            return said.decode(errors="replace").splitlines()
        said += part
    os.kill(child, signal.SIGKILL)
    raise NotChecked(f"in a process that was forked, the kernel did not end within {_SECONDS:g} seconds")


def guarded(array: Array, at_end: bool) -> Array:
    """A copy of an array that ends, or begins, at one of two pages that cannot be read or written."""
    assert _libc is not None
    pages = max(1, -(-array.nbytes // mmap.PAGESIZE)) * mmap.PAGESIZE
    memory = mmap.mmap(-1, pages + 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for guard in (start, start + mmap.PAGESIZE + pages):
        if _libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(mmap.PAGESIZE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    offset = mmap.PAGESIZE + (pages - array.nbytes if at_end else 0)
    placed: Array = np.ndarray(array.shape, array.dtype, memory, offset)
    placed[...] = array
    return placed


def _name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


# Libraries of other systems do not survive a fork.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
