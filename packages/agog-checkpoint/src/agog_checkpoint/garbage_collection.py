"""Garbage collection, which is disabled while many objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable garbage collection while the ``with`` block runs. It would visit all new objects again and again, so that
    each of many keys would cost more than each of a few."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
