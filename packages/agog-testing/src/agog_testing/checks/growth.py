"""Growth: what a process has more of after some calls: memory, in several accounts, and open files."""

from __future__ import annotations

import ctypes
import gc
import mmap
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agog_testing.checks.process_state import descriptors

CALLS = 50
# What grows for a while, such as a cache, does not grow on and on.
_ROUNDS = 8


class Account(NamedTuple):
    """What is counted, in which unit, how, and how much each call has to take to be noticed."""

    what: str
    unit: str
    counted: Callable[[], int]
    least: float


def growth(call: Callable[[], object]) -> tuple[Account, int] | None:
    """What grows with each round of calls, and by how much in the last of them; None if nothing does."""
    is_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        if (grown := _grown(call, _OF_PYTHON)) is not None:
            return grown
    finally:
        if not is_tracing:
            tracemalloc.stop()
    return _grown(call, *_OF_THE_PROCESS)


def _grown(call: Callable[[], object], *accounts: Account) -> tuple[Account, int] | None:
    """What grows in all rounds; some more calls come before the first."""
    growing = list(accounts)
    for _ in range(CALLS // 4):
        call()
    for _ in range(_ROUNDS):
        before = [account.counted() for account in growing]
        for _ in range(CALLS):
            call()
        if any(_more(account, start) for account, start in zip(growing, before, strict=True)):
            gc.collect()
        more = [(account, _more(account, start)) for account, start in zip(growing, before, strict=True)]
        growing = [account for account, grown in more if grown]
        if not growing:
            return None
    return next((account, grown) for account, grown in more if grown)


def _more(account: Account, before: int) -> int:
    """By how much an account is larger, if it is that by as much as calls have to take to be noticed; else 0."""
    grown = account.counted() - before
    return grown if grown >= account.least * CALLS else 0


def _allocated() -> int:
    """The bytes in use of the C library's `malloc`; 0 where it does not tell them."""
    if _mallinfo2 is None:
        return 0
    found = _mallinfo2()
    return int(found.uordblks + found.hblkhd)


class _Mallinfo2(ctypes.Structure):
    """The struct of glibc's <malloc.h>."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _pages(field: int) -> Callable[[], int]:
    """The bytes of a field of Linux's description of this process's memory; 0 elsewhere."""

    def count() -> int:
        try:
            return int(Path("/proc/self/statm").read_text().split()[field]) * mmap.PAGESIZE
        except OSError:
            return 0

    return count


_mallinfo2 = None
with suppress(AttributeError, TypeError):  # it is glibc's own
    _mallinfo2 = ctypes.CDLL(None).mallinfo2
    _mallinfo2.restype = _Mallinfo2

# An array takes more than a hundred bytes, however short it is; what libraries keep for other reasons is less.
_OF_PYTHON = Account("the memory", "bytes", lambda: tracemalloc.get_traced_memory()[0], 64)
# A block of `malloc` takes 32 bytes and more, a mapping a page; and what the system counts goes up and down a little.
_OF_THE_PROCESS = (
    Account("the memory", "bytes from the C library's malloc", _allocated, 16),
    Account("the memory", "bytes of resident memory", _pages(1), mmap.PAGESIZE / 2),
    Account("the memory", "bytes of mapped memory", _pages(0), mmap.PAGESIZE / 2),
    Account("the number of open files", "file descriptors", lambda: len(descriptors()), 0.5),
)
