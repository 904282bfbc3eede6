"""Kernels: CuPy's own functions, and agog-kernels-xp bound to CuPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

import agog_kernels_xp
from agog_core.plugin import as_dtype
from agog_cuda_cupy.factorization import cholesky as cholesky
from agog_cuda_cupy.launchers import modules
from agog_cuda_cupy.value_checks import defer


def _bits(key: tuple[int, int, int], count: int) -> Any:
    """Random bits in one launch, where the array library's own integers would take hundreds."""
    from agog_cuda_cupy.cuda.random import bits

    return bits(modules(f"gpu:{cupy.cuda.Device().id}"), key, count)


def _combine(operation: str, target: Any, rows: Any, updates: Any) -> Any:
    """Updates in the order of the rows: CuPy's `at` adds in any order, and its extrema lose NaN."""
    from agog_cuda_cupy.cuda.indexing import combine

    return combine(modules(f"gpu:{cupy.cuda.Device().id}"), operation, target, rows, updates)


# Kernels whose result is one of `cupy.where`, which knows no bfloat16 and gives float32; it has the last input's dtype.
_SELECTING = ("div_no_nan", "leaky_relu_grad", "max_pool_grad_grad", "where")


def _rounded(op: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    if op not in _SELECTING:
        return kernel

    def run(*arrays: Any, **attributes: Any) -> Any:
        return kernel(*arrays, **attributes).astype(arrays[-1].dtype, copy=False)

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # whose signature `agog ops` shows
    return run


_BFLOAT16 = as_dtype("bfloat16").numpy_dtype

# The kernel of an op, so that "agog_cuda_cupy.kernels:matmul" names one.
__getattr__ = agog_kernels_xp.bind(
    cupy,
    bits=_bits,
    wrap=_rounded,
    dtype=lambda name: as_dtype(name).numpy_dtype,
    defer=defer,
    combine=_combine,
)


def matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    """Products of matrices; batches of bfloat16 in float32, since CuPy has no product of cuBLAS for them."""
    if a.ndim == 2 and b.ndim == 2:
        return (a.T if transpose_a else a).dot(b.T if transpose_b else b)
    dtype = a.dtype
    if dtype == _BFLOAT16:
        a, b = a.astype("float32"), b.astype("float32")
    product = cupy.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)
    return product.astype(dtype, copy=False)


def reduce_mean_grad(gradients: Any, *, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Any:
    """Repetition along the reduced axes, divided in one launch; half precision in float32, which holds the count."""
    count = math.prod([shape[axis] for axis in axes])
    sizes = [1 if axis in axes else size for axis, size in enumerate(shape)]
    shares = cupy.broadcast_to(gradients if keepdims else gradients.reshape(sizes), shape)
    if gradients.dtype.itemsize == 2:
        return (shares.astype("float32") / np.float32(count)).astype(gradients.dtype)
    return cupy.true_divide(shares, gradients.dtype.type(count))


def bessel_i1e(x: Any) -> Any:
    """Scaled Bessel function of order 1: SciPy gives 0.0 for -0.0, and CuPy -0.0."""
    from agog_kernels_xp.math.special import bessel_i1e

    return bessel_i1e(cupy, x) + x.dtype.type(0)


def matrix_logarithm(x: Any) -> Any:
    """The matrix logarithm, computed on the host: CuPy has no Schur form."""
    from agog_kernels_xp.linalg.matrix_functions import matrix_logarithm

    return cupy.array(matrix_logarithm(np, x.get()), order="C")


def non_max_suppression(boxes: Any, scores: Any, **attributes: Any) -> Any:
    """Boxes chosen one after the other, computed on the host: each choice depends on the one before, and how many there
    are on all.
    """
    from agog_kernels_xp.image.boxes import non_max_suppression

    return cupy.array(non_max_suppression(np, boxes.get(), scores.get(), **attributes))
