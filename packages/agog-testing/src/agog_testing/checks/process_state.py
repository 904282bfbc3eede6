"""Process state: what a kernel leaves as it was, and finds out what it has changed."""

from __future__ import annotations

import ctypes
import gc
import locale
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

State = Mapping[str, Any]

THREADS, DESCRIPTORS = "the threads", "the file descriptors"
"""The states that are sets, of which others may be left if the kernel says so."""


def process_state() -> State:
    """The state of the process as it is now, by what a sentence calls it."""
    return {what: read() for what, read in _READERS.items()}


def descriptors() -> frozenset[int]:
    """The numbers of the open files; none where the system does not tell them."""
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return frozenset()
    return frozenset(int(name) for name in names if name.isdigit() and _is_open(int(name)))


def _is_open(descriptor: int) -> bool:
    """Whether a file is open; the list of them has had one of its own."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _numpy_random() -> Any:
    algorithm, keys, *rest = np.random.get_state(legacy=True)
    return algorithm, np.asarray(keys).tobytes(), *rest


def _folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody has removed it
        return None


def _environment() -> Any:
    """The environment of Python and that of C, which a library may change behind Python's back."""
    if _libc is None:
        return dict(os.environ)
    entries, found = ctypes.POINTER(ctypes.c_char_p).in_dll(_libc, "environ"), list[bytes]()
    while entries and (entry := entries[len(found)]) is not None:
        found.append(entry)
    return dict(os.environ), sorted(found)


def _signals() -> Any:
    """The handlers of Python and of C, and the signals that are blocked."""
    numbers = sorted(number for number in signal.valid_signals() if number < _FIRST_OF_REAL_TIME)
    handlers = [signal.getsignal(number) for number in numbers]
    if _libc is None:
        return handlers
    return handlers, list(map(_action, numbers)), signal.pthread_sigmask(signal.SIG_BLOCK, [])


def _action(number: int) -> bytes:
    """The address of a signal's handler, which begins C's description of it."""
    action = ctypes.create_string_buffer(1024)
    assert _libc is not None
    _libc.sigaction(number, None, action)
    return action.raw[: ctypes.sizeof(ctypes.c_void_p)]


def _collector() -> Any:
    return gc.isenabled(), gc.get_threshold(), gc.get_debug(), list(map(id, gc.callbacks))


def _rounding() -> Any:
    """Sums that tell the directions of rounding apart, in the formats that a processor may round in."""
    return [_sums(np.float32), _sums(np.float64), _sums(np.longdouble)]


def _sums(dtype: Any) -> list[Any]:
    step = np.finfo(dtype).eps
    ones = np.array([1, 1, -1], dtype)
    return list(ones + np.array([step / 4, 3 * step / 4, -step / 4], dtype))


def _denormals() -> Any:
    """Whether a denormal result, and a denormal input, are other than zero."""
    smallest = np.array([1 << 23], np.uint32).view(np.float32)
    denormal = np.array([1], np.uint32).view(np.float32)
    halves, multiples = smallest * np.float32(0.5), denormal * np.float32(2**30)
    return halves.view(np.uint32).tolist(), multiples.view(np.uint32).tolist()


def _affinity() -> Any:
    """The cores that this thread may run on: a library that binds its pool can bind this one too."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


def _filters() -> Any:
    """The filters of Python's own categories that hold for every module and text; others come with imports."""
    return [one for one in warnings.filters if one[1] is one[3] is None and one[2].__module__ == "builtins"]


_READERS: dict[str, Callable[[], Any]] = {
    THREADS: lambda: frozenset(threading.enumerate()),
    DESCRIPTORS: descriptors,
    "the state of np.random": _numpy_random,
    "the state of random": random.getstate,
    "NumPy's error handling": lambda: (np.geterr(), np.geterrcall()),
    "NumPy's print options": np.get_printoptions,
    "the working directory": _folder,
    "the environment": _environment,
    "the handling of signals": _signals,
    "the garbage collector": _collector,
    "the rounding of numbers": _rounding,
    "the arithmetic of denormal numbers": _denormals,
    "the cores that it runs on": _affinity,
    "the locale": lambda: locale.setlocale(locale.LC_ALL),
    "the limit of recursion": sys.getrecursionlimit,
    "the filters of warnings": _filters,
}


@contextmanager
def restored() -> Iterator[None]:
    """Take back, after a block, what would be blamed on later kernels: the directory and the modes of arithmetic."""
    folder, modes = _folder(), ctypes.create_string_buffer(_BYTES_OF_MODES)
    if _libc is not None:
        _libc.fegetenv(modes)
    try:
        yield
    finally:
        if folder is not None:
            os.chdir(folder)
        if _libc is not None:
            _libc.fesetenv(modes)


_FIRST_OF_REAL_TIME = int(getattr(signal, "SIGRTMIN", signal.NSIG))
# More than any system's fenv_t has.
_BYTES_OF_MODES = 512
_libc = None if sys.platform == "win32" else ctypes.CDLL(None)
