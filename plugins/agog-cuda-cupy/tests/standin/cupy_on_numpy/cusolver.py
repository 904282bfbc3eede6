"""cuSOLVER: Cholesky factors of matrices at addresses, with a status in the device's memory and no wait."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from cupy_on_numpy.counting import launch
from cupy_on_numpy.cuda_devices import current

UPPER = 1  # CUBLAS_FILL_MODE_UPPER
_DTYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
_WORK = 32  # elements


def get_handle() -> int:
    """This thread's handle of the current device."""
    return current()


def _array(address: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """What is at an address."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)


def _factorize(letter: str, uplo: int, n: int, address: int, lda: int) -> int:
    """Factorize a matrix in place: the number of the leading minor that is not positive definite, or 0."""
    assert (uplo, lda) == (UPPER, n)
    matrix = _array(address, (n, n), _DTYPES[letter])  # lines after each other: cuSOLVER's upper triangle is below
    for k in range(n):
        pivot = matrix[k, k].real - np.vdot(matrix[k, :k], matrix[k, :k]).real
        if not pivot > 0:
            return k + 1
        matrix[k, k] = np.sqrt(pivot)
        matrix[k + 1 :, k] = (matrix[k + 1 :, k] - matrix[k + 1 :, :k] @ matrix[k, :k].conj()) / matrix[k, k]
    return 0


def _potrf(letter: str) -> Callable[..., None]:
    def potrf(handle: int, uplo: int, n: int, a: int, lda: int, workspace: int, work_size: int, dev_info: int) -> None:
        launch(f"cusolver.{letter}potrf")
        _array(workspace, (work_size,), _DTYPES[letter])[...] = np.nan
        _array(dev_info, (1,), np.int32)[...] = _factorize(letter, uplo, n, a, lda)

    return potrf


def _potrf_batched(letter: str) -> Callable[..., None]:
    def potrf_batched(handle: int, uplo: int, n: int, a: int, lda: int, info: int, batch_size: int) -> None:
        launch(f"cusolver.{letter}potrfBatched")
        statuses = _array(info, (batch_size,), np.int32)
        for number, address in enumerate(_array(a, (batch_size,), np.uint64)):
            statuses[number] = _factorize(letter, uplo, n, int(address), lda)

    return potrf_batched


def _buffer_size(handle: int, uplo: int, n: int, a: int, lda: int) -> int:
    return _WORK


FUNCTIONS = {
    name: function
    for letter in _DTYPES
    for name, function in (
        (f"{letter}potrf", _potrf(letter)),
        (f"{letter}potrfBatched", _potrf_batched(letter)),
        (f"{letter}potrf_bufferSize", _buffer_size),
    )
}
"""By name."""
