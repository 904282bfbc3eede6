"""BLAS: the threads of the OpenBLAS that NumPy computes with, whose number agog-core says."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple

from agog_core.plugin import threads


class Pool(NamedTuple):
    """The threads of a BLAS: functions that say and set how many compute."""

    get: Callable[[], int]
    set: Callable[[int], object]


def openblas() -> Pool | None:
    """The pool of the OpenBLAS that NumPy computes with, if it does."""
    from numpy.linalg import _umath_linalg

    try:
        library = ctypes.CDLL(_umath_linalg.__file__)  # names are looked up in what it was linked with, too
    except OSError:
        return None
    for name in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads"):
        if hasattr(library, name.format("set")):
            return Pool(getattr(library, name.format("get")), getattr(library, name.format("set")))
    return None


def register_threads() -> None:
    """Let agog-core say how many of OpenBLAS's threads compute."""
    if (pool := openblas()) is not None and pool.get() > 1:
        threads.register("OpenBLAS of NumPy", pool.set, get=pool.get, priority=0)
