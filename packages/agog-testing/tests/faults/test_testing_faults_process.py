"""Faults of manners, planted in kernels of right values: what they change in the process, and what they leave."""

from __future__ import annotations

import ctypes
import gc
import locale
import os
import platform
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from planting import Fault, Plant, kernel, planted

Array = np.ndarray[Any, Any]
Manner = Callable[[], object]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the faults are written for Linux")

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.mmap.restype = ctypes.c_void_p
_MACHINE = platform.machine()
_UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}  # FE_UPWARD of <fenv.h>
_OPEN: list[int] = []


def square(x: Array) -> Array:
    return np.asarray(x * x)


def doing(*manners: Manner) -> Plant:
    """The square of a number, by a kernel that does something else too."""

    def fn(x: Array) -> Array:
        for manner in manners:
            manner()
        return square(x)

    return kernel("square", fn)


def with_flags(bits: int) -> Manner:
    """Sets flags of the register that rules the arithmetic of an x86-64, as code of `-ffast-math` does."""

    def set_flags() -> None:
        environment = ctypes.create_string_buffer(64)
        libc.fegetenv(environment)
        flags = ctypes.c_uint32.from_buffer(environment, 28)
        flags.value |= bits
        libc.fesetenv(environment)

    return set_flags


def clear_flags() -> None:
    libc.fesetenv(ctypes.c_void_p(-1))  # FE_DFL_ENV


def handle(number: int, *_: Any) -> None:
    pass


def open_once() -> None:
    if not _OPEN:
        _OPEN.append(os.open(os.devnull, os.O_RDONLY))


def open_again_and_again() -> None:
    _OPEN.append(os.open(os.devnull, os.O_RDONLY))


def open_and_close() -> None:
    os.close(os.open(os.devnull, os.O_RDONLY))


def close() -> None:
    while _OPEN:
        os.close(_OPEN.pop())


def allocate(size: int) -> Manner:
    return lambda: libc.malloc(ctypes.c_size_t(size))


def allocate_and_free(size: int) -> Manner:
    return lambda: libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(size))))


def map_pages(is_touched: bool) -> Manner:
    private_and_anonymous, readable_and_writable, size = 0x22, 3, 8192

    def map_them() -> None:
        at = libc.mmap(None, ctypes.c_size_t(size), readable_and_writable, private_and_anonymous, -1, ctypes.c_size_t())
        if is_touched:
            ctypes.memset(ctypes.c_void_p(at), 1, size)

    return map_them


def state(name: str, what: str, change: Manner, change_back: Manner) -> Fault:
    """A kernel that changes something; its twin takes that back."""
    return Fault(
        name=name,
        op="square",
        check="surroundings",
        says=f"rule: a kernel does not change {what}",
        broken=doing(change),
        twin=doing(change, change_back),
    )


def leak(name: str, says: str, take: Manner, *give_back: Manner) -> Fault:
    return Fault(name=name, op="square", check="leaks", says=says, broken=doing(take), twin=doing(*give_back))


_FOLDER, _LIMIT, _CORES = os.getcwd(), sys.getrecursionlimit(), os.sched_getaffinity(0)
_EVERY_CORE = set(range(os.cpu_count() or 1))
_OTHER_CORES = _EVERY_CORE if _CORES != _EVERY_CORE else {min(_CORES)}
_THRESHOLDS = gc.get_threshold()
_USER, _OTHER = signal.SIGUSR1, signal.SIGUSR2
_PLAIN = doing()

FAULTS = [
    state("chdir", "the working directory", lambda: os.chdir("/"), lambda: os.chdir(_FOLDER)),
    Fault(
        name="a variable of the environment",
        op="square",
        check="surroundings",
        says="rule: a kernel does not change the environment",
        broken=doing(lambda: os.environ.__setitem__("KIT_THREADS", "1")),
        twin=_PLAIN,
    ),
    state(
        "setenv of C",
        "the environment",
        lambda: libc.setenv(b"KIT_WAIT", b"passive", 1),
        lambda: libc.unsetenv(b"KIT_WAIT"),
    ),
    Fault(
        name="a handler of a signal",
        op="square",
        check="surroundings",
        says="rule: a kernel does not change the handling of signals",
        broken=doing(lambda: signal.signal(_USER, handle)),
        twin=_PLAIN,
    ),
    state(
        "signal of C",
        "the handling of signals",
        lambda: libc.signal(int(_OTHER), ctypes.c_void_p(1)),
        lambda: libc.signal(int(_OTHER), ctypes.c_void_p(0)),
    ),
    state(
        "a blocked signal",
        "the handling of signals",
        lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [_USER]),
        lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, [_USER]),
    ),
    state("gc.disable", "the garbage collector", gc.disable, gc.enable),
    state(
        "gc.set_threshold",
        "the garbage collector",
        lambda: gc.set_threshold(100_000),
        lambda: gc.set_threshold(*_THRESHOLDS),
    ),
    state(
        "a callback of gc",
        "the garbage collector",
        lambda: gc.callbacks.append(handle),
        lambda: gc.callbacks.remove(handle),
    ),
    state(
        "the cores",
        "the cores that it runs on",
        lambda: os.sched_setaffinity(0, _OTHER_CORES),
        lambda: os.sched_setaffinity(0, _CORES),
    ),
    state(
        "the locale",
        "the locale",
        lambda: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"),
        lambda: locale.setlocale(locale.LC_NUMERIC, "C"),
    ),
    state(
        "the limit of recursion",
        "the limit of recursion",
        lambda: sys.setrecursionlimit(_LIMIT + 1),
        lambda: sys.setrecursionlimit(_LIMIT),
    ),
    Fault(
        name="warnings that nobody sees",
        op="square",
        check="surroundings",
        says="rule: a kernel does not change the filters of warnings",
        broken=doing(lambda: warnings.simplefilter("ignore")),
        twin=_PLAIN,
    ),
    Fault(
        name="a file that stays open",
        op="square",
        check="surroundings",
        says="expected: no new file descriptor\ngot: /dev/null",
        broken=doing(open_once),
        twin=doing(open_and_close),
    ),
    Fault(
        name="a file of each call of a kernel that may keep one",
        op="square",
        check="leaks",
        says="file descriptors after 50 calls",
        broken=kernel("square", None, make=lambda *_: lambda x: (open_again_and_again(), square(x))[1]),
        twin=kernel("square", None, make=lambda *_: lambda x: (open_once(), square(x))[1]),
    ),
    leak("malloc", "bytes from the C library's malloc after 50 calls", allocate(64), allocate_and_free(64)),
    leak("malloc of a large block", "bytes from the C library's malloc", allocate(1 << 20), allocate_and_free(1 << 20)),
    leak("pages", "bytes of resident memory after 50 calls", map_pages(is_touched=True)),
    leak("pages that nobody has touched", "bytes of mapped memory after 50 calls", map_pages(is_touched=False)),
]
if _MACHINE in _UPWARD:
    FAULTS += [state("rounding up", "the rounding of numbers", lambda: libc.fesetround(_UPWARD[_MACHINE]), clear_flags)]
if _MACHINE == "x86_64":
    FAULTS += [
        state("results flushed to zero", "the arithmetic of denormal numbers", with_flags(1 << 15), clear_flags),
        state("denormals are zero", "the arithmetic of denormal numbers", with_flags(1 << 6), clear_flags),
    ]


@pytest.fixture(autouse=True)
def _process_as_it_was() -> Iterator[None]:
    signals = {number: signal.getsignal(number) for number in (_USER, _OTHER)}
    with warnings.catch_warnings():
        yield
    os.chdir(_FOLDER)
    os.environ.pop("KIT_THREADS", None)
    libc.unsetenv(b"KIT_WAIT")
    for number, handler in signals.items():
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [_USER])
    gc.enable()
    gc.set_threshold(*_THRESHOLDS)
    gc.callbacks[:] = [callback for callback in gc.callbacks if callback is not handle]
    os.sched_setaffinity(0, _CORES)
    locale.setlocale(locale.LC_NUMERIC, "C")
    sys.setrecursionlimit(_LIMIT)
    clear_flags()
    close()


test_fault_is_found, test_twin_passes = planted(FAULTS)
