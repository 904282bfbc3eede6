"""Factorization: Cholesky factorization by cuSOLVER, with a deferred check of its status.

`cupy.linalg.cholesky` either does not look at it, or waits for it.
"""

from __future__ import annotations

from typing import Any

import cupy

from agog_core.plugin import InvalidArgumentError
from agog_cuda_cupy.value_checks import defer

Array = Any
_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}  # of cuSOLVER's functions
_UPPER = 1  # CUBLAS_FILL_MODE_UPPER: cuSOLVER counts columns first, and takes a lower triangle for an upper one


def cholesky(x: Array) -> Array:
    """Lower triangular factors."""
    from cupy_backends.cuda.libs import cusolver

    factors, size = cupy.array(x, order="C"), x.shape[-1]
    if not x.size:
        return factors
    matrices, letter = factors.reshape(-1, size, size), _LETTERS[x.dtype.name]
    status = cupy.empty(len(matrices), "int32")
    handle, first = cupy.cuda.device.get_cusolver_handle(), factors.data.ptr
    if len(matrices) == 1:
        count = getattr(cusolver, f"{letter}potrf_bufferSize")(handle, _UPPER, size, first, size)
        scratch = cupy.empty(count, x.dtype)
        factorize = getattr(cusolver, f"{letter}potrf")
        factorize(handle, _UPPER, size, first, size, scratch.data.ptr, count, status.data.ptr)
    else:
        addresses = first + cupy.arange(len(matrices), dtype="uint64") * matrices[0].nbytes
        factorize = getattr(cusolver, f"{letter}potrfBatched")
        factorize(handle, _UPPER, size, addresses.data.ptr, size, status.data.ptr, len(matrices))
    defer(((status != 0).any(),), _look)
    return cupy.tril(factors)


def _look(is_failed: Any) -> None:
    if is_failed:
        raise InvalidArgumentError("cholesky: Cholesky decomposition was not successful. The input might not be valid.")
