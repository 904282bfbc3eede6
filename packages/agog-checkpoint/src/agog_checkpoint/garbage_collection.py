"""Cycles: what is made for each key of a checkpoint is no garbage, and Python need not look for some in it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep Python from looking for cycles of garbage while many objects are made that stay: it would go through all of
    them again and again, so that each of many keys would cost more than each of a few."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
