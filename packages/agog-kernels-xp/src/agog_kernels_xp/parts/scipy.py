"""SciPy: the SciPy of an array library."""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import Any


def companion(xp: Any, module: str) -> Any:
    """A module of SciPy for the arrays of a library: SciPy itself for NumPy, cupyx for CuPy; imported on first use.
    A library that records what kernels do has companions of its own.

    >>> import numpy
    >>> companion(numpy, "special").__name__
    'scipy.special'
    """
    if hasattr(xp, "companion"):
        return xp.companion(module)
    return import_module(f"{'cupyx.scipy' if xp.__name__ == 'cupy' else 'scipy'}.{module}")


def raising(xp: Any) -> Any:
    """A context in which solvers raise LinAlgError where they fail: NumPy's always do, CuPy's where told to wait."""
    return import_module("cupyx").errstate(linalg="raise") if xp.__name__ == "cupy" else nullcontext()
