"""Garbage collection: disabled while a save or restore makes many long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable garbage collection inside the ``with`` block. It would visit all new objects again and again: the cost of
    a key would grow with their number.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
