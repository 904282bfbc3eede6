"""Kernels: CuPy's own functions, and those of agog-kernels-xp with CuPy as their array library."""

from __future__ import annotations

import cupy

import agog_kernels_xp
from agog_core.plugin import as_dtype
from agog_cuda_cupy.deferred import defer

# The kernel of an op, so that "agog_cuda_cupy.kernels:matmul" names one.
__getattr__ = agog_kernels_xp.bind(cupy, dtype=lambda name: as_dtype(name).numpy_dtype, defer=defer)
