"""Fourier: discrete Fourier transforms of complex numbers."""

from __future__ import annotations

from collections.abc import Callable

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import Op
from agog_core.dtypes import complex64, complex128
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d"]

COMPLEX = frozenset({complex64, complex128})


def check_rank(op: str, shape: Shape, rank: int) -> None:
    """Raise where there are fewer axes than are transformed."""
    if len(shape) < rank:
        raise InvalidArgumentError(f"{op}: the input must be of rank {rank} or more; got shape {shape}.")


def transform_name(op: str, rank: int) -> str:
    """The name of the function that transforms ``rank`` axes, such as fft2d."""
    return op if rank == 1 else f"{op}{rank}d"


def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """Discrete Fourier transform of complex numbers over the last axis.

    Args:
        input: a tensor of complex64 or complex128, of rank 1 or more.

    Returns:
        Of each index k the sum over n of ``input[n] * exp(-2j * pi * k * n / N)``, along each transformed axis; shape
        and dtype are the input's.

    Raises:
        InvalidArgumentError: the rank is too low.

    >>> import numpy as np
    >>> print(fft(np.array([1, 0], np.complex64)))
    tf.Tensor([1.+0.j 1.+0.j], shape=(2,), dtype=complex64)
    """
    return call(_fft, convert_to_tensor(input), rank=1)


def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Discrete Fourier transform of complex numbers over the last two axes; see `fft`.

    >>> import numpy as np
    >>> print(fft2d(np.array([[1, 0]], np.complex64)))
    tf.Tensor([[1.+0.j 1.+0.j]], shape=(1, 2), dtype=complex64)
    """
    return call(_fft, convert_to_tensor(input), rank=2)


def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Discrete Fourier transform of complex numbers over the last three axes; see `fft`.

    >>> import numpy as np
    >>> print(fft3d(np.array([[[1, 0]]], np.complex64)))
    tf.Tensor([[[1.+0.j 1.+0.j]]], shape=(1, 1, 2), dtype=complex64)
    """
    return call(_fft, convert_to_tensor(input), rank=3)


@documented_like(fft)
def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """Inverse discrete Fourier transform of complex numbers over the last axis.

    Returns:
        What `fft` gives the input for: the sums with the other sign in the exponent, divided by the number of
        elements that are summed; shape and dtype are the input's.

    >>> import numpy as np
    >>> print(ifft(np.array([1, 0], np.complex64)))
    tf.Tensor([0.5+0.j 0.5+0.j], shape=(2,), dtype=complex64)
    """
    return call(_ifft, convert_to_tensor(input), rank=1)


def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Inverse discrete Fourier transform of complex numbers over the last two axes; see `ifft`.

    >>> import numpy as np
    >>> print(ifft2d(np.array([[1, 0]], np.complex64)))
    tf.Tensor([[0.5+0.j 0.5+0.j]], shape=(1, 2), dtype=complex64)
    """
    return call(_ifft, convert_to_tensor(input), rank=2)


def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Inverse discrete Fourier transform of complex numbers over the last three axes; see `ifft`.

    >>> import numpy as np
    >>> print(ifft3d(np.array([[[1, 0]]], np.complex64)))
    tf.Tensor([[[0.5+0.j 0.5+0.j]]], shape=(1, 1, 2), dtype=complex64)
    """
    return call(_ifft, convert_to_tensor(input), rank=3)


def _transform(name: str, function: Callable[..., Tensor]) -> Op:
    def shape(input: Shape, rank: int) -> Shape:
        check_rank(transform_name(name, rank), input, rank)
        return input

    def vjp(g: Tensor, rank: int) -> Tensor:
        return call(op, g, rank=rank)  # the matrix of the transform is its own transpose

    op = Op(name, function, inputs=["input"], shape=shape, dtypes=COMPLEX, vjp={"input": vjp})
    return op


_fft, _ifft = _transform("fft", fft), _transform("ifft", ifft)
