"""Complex: complex numbers and their parts."""

from __future__ import annotations

from agog_core import dtypes
from agog_core.calls.broadcasting import sum_to
from agog_core.calls.call import call
from agog_core.calls.elementwise import operands
from agog_core.dispatch.op import define
from agog_core.dtypes import NUMERIC
from agog_core.ops.array.casting import cast
from agog_core.ops.array.creation import zeros_like
from agog_core.shapes import broadcast_shapes
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["complex", "conj", "imag", "real"]

_COMPLEX = frozenset({dtypes.complex64, dtypes.complex128})


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Complex numbers of their real and imaginary parts.

    Args:
        real: the real parts, a tensor of float32 or float64.
        imag: the imaginary parts, a tensor of the same dtype whose shape broadcasts with ``real``'s.

    Returns:
        ``real + 1j * imag``, of the broadcast shape and dtype complex64 or complex128.

    Raises:
        TypeError: the parts are neither float32 nor float64.
        InvalidArgumentError: their dtypes differ, or their shapes do not broadcast.

    >>> print(complex([1.0, 2.0], [3.0, 4.0]))
    tf.Tensor([1.+3.j 2.+4.j], shape=(2,), dtype=complex64)
    """
    x, y = operands("complex", ("real", "imag"), real, imag)
    if x.dtype not in _complex.dtypes:
        raise TypeError(
            f"complex: real and imag must be float32 or float64; got dtype {x.dtype.name}. Cast with tf.cast."
        )
    return call(_complex, x, y)


_complex = define(
    complex,
    shape=lambda real, imag: broadcast_shapes("complex", real, imag),
    dtype=lambda given: dtypes.complex64 if given is dtypes.float32 else dtypes.complex128,
    dtypes=frozenset({dtypes.float32, dtypes.float64}),
    vjp={
        "real": lambda g, real_shape: sum_to(real(g), real_shape),
        # The transpose of multiplying by 1j is multiplying by it once more: minus the imaginary part is left.
        "imag": lambda g, imag_shape: sum_to(imag(conj(g)), imag_shape),
    },
    elementwise=True,
)


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part, elementwise.

    Args:
        input: a tensor of numbers.

    Returns:
        The real parts, of float32 for complex64 and float64 for complex128; a tensor of real numbers as it is.

    Raises:
        TypeError: the tensor does not hold numbers.

    >>> print(real([1.0 + 2.0j]))
    tf.Tensor([1.], shape=(1,), dtype=float64)
    """
    x = _numbers("real", input)
    return call(_real, x) if x._table.dtype.is_complex else x


def _numbers(op: str, value: TensorLike) -> Tensor:
    tensor = convert_to_tensor(value)
    if tensor._table.dtype not in NUMERIC:
        raise TypeError(f"{op}: Expected numeric tensor, got dtype {tensor.dtype.name} and shape {tensor._shape}.")
    return tensor


_real = define(
    real,
    shape=lambda x: x,
    dtype=lambda given: given.real_dtype,
    dtypes=_COMPLEX,
    vjp={"input": lambda g, input_dtype: cast(g, input_dtype)},
    elementwise=True,
)


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part, elementwise.

    Args:
        input: a tensor of numbers.

    Returns:
        The imaginary parts, of float32 for complex64 and float64 for complex128; zeros for a tensor of real numbers.

    Raises:
        TypeError: the tensor does not hold numbers.

    >>> print(imag([1.0 + 2.0j]))
    tf.Tensor([2.], shape=(1,), dtype=float64)
    """
    x = _numbers("imag", input)
    return call(_imag, x) if x._table.dtype.is_complex else zeros_like(x)


_imag = define(
    imag,
    shape=lambda x: x,
    dtype=lambda given: given.real_dtype,
    dtypes=_COMPLEX,
    vjp={"input": lambda g: conj(complex(zeros_like(g), g))},
    elementwise=True,
)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate, elementwise.

    Args:
        x: a tensor of numbers.

    Returns:
        The numbers with the other sign of their imaginary parts; a tensor of real numbers as it is.

    Raises:
        TypeError: the tensor does not hold numbers.

    >>> print(conj([1.0 + 2.0j]))
    tf.Tensor([1.-2.j], shape=(1,), dtype=complex128)
    """
    tensor = _numbers("conj", x)
    return call(_conj, tensor) if tensor._table.dtype.is_complex else tensor


_conj = define(conj, shape=lambda x: x, dtypes=_COMPLEX, vjp={"x": lambda g: conj(g)}, elementwise=True)
