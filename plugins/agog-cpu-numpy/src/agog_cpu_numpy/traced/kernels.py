"""Kernels: those of agog-kernels-xp with the library that records; ``"...traced.kernels:matmul"`` names one."""

from __future__ import annotations

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cpu_numpy.traced.library import LIBRARY

__getattr__ = agog_kernels_xp.bind(LIBRARY, dtype=numpy_dtype)
