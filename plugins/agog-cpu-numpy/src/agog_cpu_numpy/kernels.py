"""Kernels: NumPy's own functions, and agog-kernels-xp bound to NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

import agog_kernels_xp
from agog_core.plugin import random_bits
from agog_cpu_numpy.backend import Array, numpy_dtype

# The kernel of an op, so that "agog_cpu_numpy.kernels:matmul" names one.
__getattr__ = agog_kernels_xp.bind(np, bits=random_bits, dtype=numpy_dtype)


def cast(x: Array, *, dtype: str) -> Any:
    """Conversion to a dtype, by the shortest way where NumPy's is right: pipelines cast each element."""
    if x.dtype.kind == "c":
        from agog_kernels_xp.array import casting

        return casting.cast(np, x, dtype=numpy_dtype(dtype))
    return x.astype(numpy_dtype(dtype))
