"""Halves: large functions on two threads, each with a half of the outermost loop. Elements keep their bits."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from agog_core.plugin import threads


class _Helper:
    """A thread that takes the second half, of one call at a time."""

    def __init__(self) -> None:
        self.free = Lock()
        self.pool = ThreadPoolExecutor(1, "agog-cpu-llvm")


# The second thread; a child process that is forked gets one of its own.
_helper = _Helper()


def _renew() -> None:
    global _helper
    _helper = _Helper()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def in_halves(function: Callable[..., None], turns: int, grain: int) -> Callable[..., None]:
    """A function ``(first, end, *arrays)`` as one of the arrays, on two threads where that is allowed."""
    first, middle, end = (np.int64(turn) for turn in (0, turns // 2 // max(grain, 1) * grain, turns))
    whole = partial(function, first, end)
    if not middle:
        return whole

    def run(*arrays: Any) -> None:
        helper = _helper
        if threads.count() == 1 or not helper.free.acquire(blocking=False):  # it works for another thread's call
            return whole(*arrays)
        try:
            half = helper.pool.submit(function, middle, end, *arrays)
            try:
                function(first, middle, *arrays)
                if half.cancel():  # the processors are busy: nobody has begun with it
                    function(middle, end, *arrays)
            finally:
                _finish(half)
        finally:
            helper.free.release()

    return run


def _finish(half: Future[None]) -> None:
    """Wait for the other half, whatever comes meanwhile: its arrays must not be written by it later."""
    interruption: BaseException | None = None
    while not half.done():
        try:
            wait([half])
        except BaseException as error:
            interruption = error
    if interruption is not None:
        raise interruption
