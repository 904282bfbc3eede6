"""Number: how many threads a kernel may compute with, and who is told when that changes."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable

from agog_core.errors import InvalidArgumentError
from agog_core.locks import hold_while_forking
from agog_core.threads.load import processors

__all__ = ["count", "listen", "set_count"]

# The variables by which libraries are told a number, the first one first.
OF_LIBRARIES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")

Listener = Callable[[int], object]

# Held while the number changes and those are told who listen.
lock = hold_while_forking(threading.RLock())
# Functions that `listen` was given.
_listeners: list[Listener] = []


class _Number:
    """The number of threads: what the program says, else the environment, else the processors that are free."""

    def __init__(self) -> None:
        self.set = 0  # by the program; 0 where it has not
        self.free: int | None = None  # the processors that other programs leave, where that is known
        self.now = self.wanted()

    def wanted(self) -> int:
        """What the number has to be by now."""
        return self.set or of_environment() or self.free or processors()


def of_environment() -> int | None:
    """The number that the environment says."""
    own = os.environ.get("AGOG_NUM_THREADS", "")
    numbers = [int(text) for text in (own, *map(_text, OF_LIBRARIES)) if text.isdigit() and int(text) > 0]
    if own and not (own.isdigit() and int(own) > 0):
        warnings.warn(f"AGOG_NUM_THREADS must be a positive number; got {own!r}, which is ignored.", stacklevel=2)
    return numbers[0] if numbers else None


def _text(name: str) -> str:
    return os.environ.get(name, "")


# The number, which the program, the environment and the watch of the processors say.
number = _Number()


def count() -> int:
    """How many threads a kernel may compute with, the calling one among them.

    It is what the program has set (`tf.config.threading.set_intra_op_parallelism_threads`), else what the environment
    says (``AGOG_NUM_THREADS``, then ``OPENBLAS_NUM_THREADS``, ``GOTO_NUM_THREADS`` and ``OMP_NUM_THREADS``), else the
    number of processors that other programs leave to this one.

    Returns:
        The number, at least 1.
    """
    return number.now


def set_count(to: int) -> None:
    """Compute with so many threads from now on.

    Args:
        to: the number; 0 for one that agog chooses.

    Raises:
        InvalidArgumentError: the number is negative.
    """
    if to < 0:
        raise InvalidArgumentError(f"The number of threads must be positive, or 0 for one that agog chooses; got {to}.")
    with lock:
        number.set = to
        tell()


def listen(listener: Listener) -> None:
    """Call a function with the number of threads: now, whenever it changes, and in processes that are forked.

    A forked process has none of its parent's threads, so a pool is made again there.

    Args:
        listener: the function of the number.
    """
    with lock:
        _listeners.append(listener)
        listener(number.now)


def tell(again: bool = False) -> None:
    """Tell the listeners of a change; also where there is none, if they are told again."""
    with lock:
        wanted = number.wanted()
        if wanted != number.now or again:
            number.now = wanted
            for listener in tuple(_listeners):
                listener(wanted)


def _in_child() -> None:
    number.free = None
    tell(again=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
