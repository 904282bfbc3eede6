"""Kernels: CuPy's own functions, and those of agog-kernels-xp with CuPy as their array library."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

import agog_kernels_xp
from agog_core.plugin import as_dtype
from agog_cuda_cupy.deferred import defer

# The kernel of an op, so that "agog_cuda_cupy.kernels:matmul" names one.
__getattr__ = agog_kernels_xp.bind(cupy, dtype=lambda name: as_dtype(name).numpy_dtype, defer=defer)


def matrix_logarithm(x: Any) -> Any:
    """The matrix logarithm, computed on the host: CuPy has no Schur form."""
    from agog_kernels_xp.linalg.matrix_functions import matrix_logarithm

    return cupy.array(matrix_logarithm(np, x.get()), order="C")
