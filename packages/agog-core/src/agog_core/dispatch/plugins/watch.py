"""Watch: a word on standard error about a plugin's function that does not come to its end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 5.0
"""Seconds after which a function is spoken of. It goes on, for it may only be slow."""


@contextmanager
def watched(words: Callable[[float], str]) -> Iterator[None]:
    """Print words, which are told the seconds, where the block takes longer than `PATIENCE`."""
    timer = threading.Timer(PATIENCE, _tell, [words])
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:  # there are no threads, or no more of them
        yield
        return
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # so that nobody takes it for a thread that the function has left behind


def _tell(words: Callable[[float], str]) -> None:
    if sys.stderr is not None:  # a program without a console has none
        print(words(PATIENCE), file=sys.stderr, flush=True)
