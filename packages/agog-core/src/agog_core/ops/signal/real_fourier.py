"""Real Fourier: discrete Fourier transforms of real numbers, by half of their spectrum."""

from __future__ import annotations

import math
from typing import Any

from agog_core.calls.broadcasting import static_shape
from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.dtypes import DType, complex64, complex128, float32, float64
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, concat, conj, range, zeros
from agog_core.ops.math.logic import equal
from agog_core.ops.signal.fourier import COMPLEX, check_rank, transform_name
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["irfft", "irfft2d", "irfft3d", "rfft", "rfft2d", "rfft3d"]


def rfft(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Discrete Fourier transform of real numbers over the last axis.

    Args:
        input_tensor: a tensor of float32 or float64, of rank 1 or more.
        fft_length: the lengths of the transform, a list of one number for each transformed axis; the input is cropped,
            or padded with zeros at the end, to those sizes. By default the input's.

    Returns:
        The first ``N // 2 + 1`` values along the last axis, of length N, of `fft`; the others are their conjugates.
        The dtype is complex64 for float32 and complex128 for float64.

    Raises:
        InvalidArgumentError: the rank is too low, or ``fft_length`` does not fit.

    >>> print(rfft([1.0, 0.0]))
    tf.Tensor([1.+0.j 1.+0.j], shape=(2,), dtype=complex64)
    """
    return _forward(input_tensor, fft_length, 1)


def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Discrete Fourier transform of real numbers over the last two axes; see `rfft`.

    >>> print(rfft2d([[1.0, 0.0]]))
    tf.Tensor([[1.+0.j 1.+0.j]], shape=(1, 2), dtype=complex64)
    """
    return _forward(input_tensor, fft_length, 2)


def rfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Discrete Fourier transform of real numbers over the last three axes; see `rfft`.

    >>> print(rfft3d([[[1.0, 0.0]]]))
    tf.Tensor([[[1.+0.j 1.+0.j]]], shape=(1, 1, 2), dtype=complex64)
    """
    return _forward(input_tensor, fft_length, 3)


def _forward(input_tensor: TensorLike, fft_length: Any, rank: int) -> Tensor:
    x = convert_to_tensor(input_tensor)
    name = transform_name("rfft", rank)
    check_rank(name, x._shape, rank)
    return call(_rfft, _resized(x, _lengths(name, fft_length, x._shape[-rank:])), rank=rank)


def _lengths(op: str, given: Any, default: Shape) -> Shape:
    lengths = default if given is None else static_shape(given)
    if len(lengths) != len(default):
        raise InvalidArgumentError(
            f"{op}: fft_length must have one number for each of the {len(default)} transformed axes; got {lengths}."
        )
    return lengths


def _resized(x: Tensor, sizes: Shape) -> Tensor:
    """Crop the last axes at the end, or pad them with zeros."""
    rank = len(x._shape)
    for axis, size in enumerate(sizes, rank - len(sizes)):
        given = x._shape[axis]
        if given > size:
            x = x[(slice(None),) * axis + (slice(size),)]
        elif given < size:
            shape = (*x._shape[:axis], size - given, *x._shape[axis + 1 :])
            x = concat([x, zeros(shape, x.dtype)], axis)
    return x


def _half(length: int) -> int:
    """How many values of a transform determine the others."""
    return length // 2 + 1 if length else 0


def _rfft_vjp(g: Tensor, input_tensor_shape: Shape, rank: int) -> Tensor:
    lengths = input_tensor_shape[-rank:]
    halves = conj(g) / _multiplicity(lengths[-1], g.dtype)
    return call(_irfft, halves, lengths=lengths) * math.prod(lengths)


def _multiplicity(length: int, dtype: DType) -> Tensor:
    """How often each value stands in the whole transform: once, or beside its conjugate."""
    index = range(_half(length))
    is_single = equal(index, 0) | equal(index * 2, length)
    return 2 - cast(is_single, dtype)


_rfft = define(
    rfft,
    shape=lambda input_tensor, rank: (*input_tensor[:-1], _half(input_tensor[-1])),
    dtype=lambda dtype, rank: {float32: complex64, float64: complex128}[dtype],
    dtypes=frozenset({float32, float64}),
    vjp={"input_tensor": _rfft_vjp},
)


def irfft(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Inverse of `rfft`: real numbers of half of their discrete Fourier transform over the last axis.

    Args:
        input_tensor: a tensor of complex64 or complex128, of rank 1 or more.
        fft_length: the sizes of the result, a list of one number for each transformed axis; the input is cropped or
            padded with zeros to fit. By default the input's sizes, and along the last axis ``2 * (size - 1)``.

    Returns:
        A tensor of float32 for complex64 and float64 for complex128.

    Raises:
        InvalidArgumentError: the rank is too low, or ``fft_length`` does not fit.

    >>> print(irfft(rfft([1.0, 0.0])))
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    return _backward(input_tensor, fft_length, 1)


def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Inverse of `rfft2d`: real numbers of half of their transform over the last two axes; see `irfft`.

    >>> print(irfft2d(rfft2d([[1.0, 0.0]])))
    tf.Tensor([[1. 0.]], shape=(1, 2), dtype=float32)
    """
    return _backward(input_tensor, fft_length, 2)


def irfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Inverse of `rfft3d`: real numbers of half of their transform over the last three axes; see `irfft`.

    >>> print(irfft3d(rfft3d([[[1.0, 0.0]]])))
    tf.Tensor([[[1. 0.]]], shape=(1, 1, 2), dtype=float32)
    """
    return _backward(input_tensor, fft_length, 3)


def _backward(input_tensor: TensorLike, fft_length: Any, rank: int) -> Tensor:
    x = convert_to_tensor(input_tensor)
    name = transform_name("irfft", rank)
    check_rank(name, x._shape, rank)
    *others, last = x._shape[-rank:]
    lengths = _lengths(name, fft_length, (*others, max(0, 2 * (last - 1))))
    return call(_irfft, _resized(x, (*lengths[:-1], _half(lengths[-1]))), lengths=lengths)


def _irfft_vjp(g: Tensor, lengths: Shape) -> Tensor:
    transformed = conj(call(_rfft, g, rank=len(lengths)))
    scale = _multiplicity(lengths[-1], transformed.dtype) / math.prod(lengths)
    return transformed * scale


_irfft = define(
    irfft,
    shape=lambda input_tensor, lengths: (*input_tensor[: -len(lengths)], *lengths),
    dtype=lambda dtype, lengths: dtype.real_dtype,
    dtypes=COMPLEX,
    vjp={"input_tensor": _irfft_vjp},
)
