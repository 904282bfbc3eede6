"""Presence: whether this Python and this NumPy are such as compiled code may rely on."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from importlib.util import find_spec

import numpy as np

KNOWN = (2, 3), (2, 5)
"""The first and the last release of NumPy whose layout in memory, order of sums and powers are known."""


@cache
def unavailable() -> str | None:
    """Why nothing can be compiled: a sentence, or None. LLVM is not loaded for the answer."""
    if sys.implementation.name != "cpython":
        return f"It relies on how CPython lays out its objects, and this is {sys.implementation.name}."
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "It relies on how objects are laid out in a CPython with a GIL, and this one is free-threaded."
    if sys.maxsize < 2**63 - 1 or sys.byteorder != "little":
        return "It is written for little-endian processors of 64 bits."
    release = tuple([int(part) for part in np.__version__.split(".")[:2]])
    if not KNOWN[0] <= release <= KNOWN[1]:
        first, last = [f"{major}.{minor}" for major, minor in KNOWN]
        return f"It knows how NumPy {first} to {last} compute, and this is {np.__version__}."
    if find_spec("llvmlite") is None:
        return "llvmlite is not installed: `python -m pip install llvmlite`."
    return None


@cache
def fusion_unavailable() -> str | None:
    """Why no loop can be fused, which takes milliseconds to find out: addresses of NumPy's are read and tried."""
    if (why := unavailable()) is not None:
        return why
    from agog_cpu_llvm import numpy_loops

    return numpy_loops.fault()
