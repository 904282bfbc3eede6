"""Writing: whether arrays of a library can be written, or replaced only."""

from __future__ import annotations

from typing import Any


def is_writable(xp: Any) -> bool:
    """Whether kernels may write to a library's arrays: not to JAX's, of which ``x.at[key].set(value)`` makes new ones.

    >>> import numpy
    >>> is_writable(numpy)
    True
    """
    return not hasattr(getattr(xp, "ndarray", None), "at")
