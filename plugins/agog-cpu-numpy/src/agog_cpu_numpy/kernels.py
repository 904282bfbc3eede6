"""Kernels: NumPy's own functions, and those of agog-kernels-xp with NumPy as their array library.

A kernel is bound when it is first asked for, so that a program loads no family of kernels that it does not use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import agog_kernels_xp
from agog_cpu_numpy.backend import Array, numpy_dtype

Kernel = Callable[..., Any]

_family_of = {op: family for family, ops in agog_kernels_xp.COMPOSED.items() for op in ops}


def __getattr__(op: str) -> Kernel:
    """The kernel of an op, so that ``"agog_cpu_numpy.kernels:matmul"`` names one."""
    if op in agog_kernels_xp.ELEMENTWISE:
        kernel: Kernel = getattr(np, agog_kernels_xp.ELEMENTWISE[op])
    elif op in _family_of:
        kernel = _bind(getattr(import_module(f"agog_kernels_xp.{_family_of[op]}"), op))
    else:
        raise AttributeError(f"agog_cpu_numpy.kernels has no kernel for op {op!r}")
    globals()[op] = kernel
    return kernel


def cast(x: Array, *, dtype: str) -> Any:
    """Conversion to a dtype, by the shortest way where NumPy's is right: pipelines cast each element."""
    if x.dtype.kind == "c":
        from agog_kernels_xp.array import casting

        return casting.cast(np, x, dtype=numpy_dtype(dtype))
    return x.astype(numpy_dtype(dtype))


def _bind(kernel: Kernel) -> Kernel:
    """The kernel for NumPy; a parameter ``bits`` is a source of random bits, and ``dtype`` a dtype of NumPy."""
    code = kernel.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    bound = partial(kernel, np, _bits) if "bits" in parameters else partial(kernel, np)
    return _with_numpy_dtype(bound) if "dtype" in parameters else bound


def _with_numpy_dtype(kernel: Kernel) -> Kernel:
    """A kernel that takes its attribute ``dtype`` by name."""

    def with_dtype(*arrays: Array, dtype: str, **attributes: Any) -> Any:
        return kernel(*arrays, dtype=numpy_dtype(dtype), **attributes)

    with_dtype.__wrapped__ = kernel  # type: ignore[attr-defined]  # whose signature `agog ops` shows
    return with_dtype


def _bits(key: tuple[int, int, int], count: int) -> Array:
    """Random bits: ``count`` values of 64 bits, from the key's two words and its counter."""
    first, second, counter = key
    generator = np.random.Philox(
        key=np.array([first, second], np.uint64), counter=np.array([counter, 0, 0, 0], np.uint64)
    )
    return generator.random_raw(count)
