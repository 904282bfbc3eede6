"""Matmul: products of matrices and their transposes."""

from __future__ import annotations

import math
from functools import lru_cache

from agog_core.calls.broadcasting import sum_to
from agog_core.calls.elementwise import operands
from agog_core.dispatch.devices.lookup import scopes
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.resolution import resolve, run_next
from agog_core.dispatch.op import define
from agog_core.dtypes import NUMERIC
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import conj, reshape, transpose
from agog_core.ops.linalg.diagonal import matrix_diag_part
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.recording import active, record
from agog_core.shapes import Shape, broadcast_shapes, intern_shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["matmul", "matrix_transpose", "trace"]

_new = object.__new__


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Product of matrices; leading axes are a batch and broadcast.

    Args:
        a: a tensor of shape (..., n, k), or (..., k, n) with ``transpose_a``.
        b: a tensor of the same dtype, of shape (..., k, m), or (..., m, k) with ``transpose_b``.
        transpose_a: whether the matrices of ``a`` are transposed first.
        transpose_b: whether the matrices of ``b`` are transposed first.
        adjoint_a: whether the matrices of ``a`` are transposed and conjugated first.
        adjoint_b: whether the matrices of ``b`` are transposed and conjugated first.

    Returns:
        A tensor of shape (..., n, m).

    Raises:
        ValueError: an input is to be both transposed and adjoint.
        InvalidArgumentError: the inner sizes differ, a rank is below 2, or the dtypes differ.

    >>> print(matmul([[1.0, 2.0]], [[3.0], [4.0]]))
    tf.Tensor([[11.]], shape=(1, 1), dtype=float32)
    """
    if type(a) is not Tensor or type(b) is not Tensor or a._table is not b._table or scopes:
        a, b = operands("matmul", ("a", "b"), a, b)
    if adjoint_a or adjoint_b:
        a, transpose_a = _adjoint_operand("a", a, transpose_a, adjoint_a)
        b, transpose_b = _adjoint_operand("b", b, transpose_b, adjoint_b)
    table = a._table
    shape = _matmul_shape(a._shape, b._shape, transpose_a, transpose_b)
    try:
        kernel = table.kernels["matmul"]
    except KeyError:
        kernel = resolve(_matmul, table, (a._shape, b._shape))
    try:
        array = kernel(a._array, b._array, transpose_a=transpose_a, transpose_b=transpose_b)
    except Exception as error:
        note_failure(error, _matmul, table, (a._array, b._array))
        raise
    if type(array) is not table.array_type:
        if array is NotImplemented:
            attributes = {"transpose_a": transpose_a, "transpose_b": transpose_b}
            array = run_next(_matmul, table, (a._array, b._array), attributes)
        else:
            array = table.adopt("matmul", array)
    out = _new(Tensor)  # what `wrap` does, without another call
    out._array = array
    out._table = table
    out._shape = shape
    out._watch = None
    if active and (a._watch is not None or b._watch is not None):
        record(_matmul, out, (a, b), {"transpose_a": transpose_a, "transpose_b": transpose_b})
    return out


def _adjoint_operand(name: str, x: Tensor, transpose: bool, adjoint: bool) -> tuple[Tensor, bool]:
    """The matrix to transpose for an adjoint."""
    if transpose and adjoint:
        raise ValueError(f"matmul: only one of transpose_{name} and adjoint_{name} can be True.")
    return (conj(x), True) if adjoint else (x, transpose)


@lru_cache(maxsize=4096)
def _matmul_shape(a: Shape, b: Shape, transpose_a: bool, transpose_b: bool) -> Shape:
    if len(a) < 2 or len(b) < 2:
        raise InvalidArgumentError(f"matmul: both inputs must be matrices or batches of them; got shapes {a} and {b}.")
    rows, inner_a = reversed(a[-2:]) if transpose_a else a[-2:]
    inner_b, columns = reversed(b[-2:]) if transpose_b else b[-2:]
    if inner_a != inner_b:
        given_a, given_b = (f"{s}{' transposed' if t else ''}" for s, t in ((a, transpose_a), (b, transpose_b)))
        raise InvalidArgumentError(
            f"matmul: Matrix size-incompatible: a is {given_a} and b is {given_b}: inner sizes {inner_a} and {inner_b}."
        )
    batch = a[:-2] if a[:-2] == b[:-2] else broadcast_shapes("matmul", a[:-2], b[:-2])
    return intern_shape((*batch, rows, columns))


def _matmul_vjp_a(g: Tensor, b: Tensor, a_shape: Shape, transpose_a: bool, transpose_b: bool) -> Tensor:
    if transpose_a:
        gradient = matmul(b, g, transpose_a=transpose_b, transpose_b=True)
    else:
        gradient = matmul(g, b, transpose_b=not transpose_b)
    return gradient if gradient._shape == a_shape else sum_to(gradient, a_shape)


def _matmul_vjp_b(g: Tensor, a: Tensor, b_shape: Shape, transpose_a: bool, transpose_b: bool) -> Tensor:
    if len(b_shape) == 2 and not transpose_a:  # one product, in place of one for each matrix and then their sum
        a, g = _rows(a), _rows(g)
    if transpose_b:
        gradient = matmul(g, a, transpose_a=True, transpose_b=transpose_a)
    else:
        gradient = matmul(a, g, transpose_a=not transpose_a)
    return gradient if gradient._shape == b_shape else sum_to(gradient, b_shape)


def _rows(x: Tensor) -> Tensor:
    """The rows of all matrices of a batch, as one matrix."""
    shape = x._shape
    return x if len(shape) == 2 else reshape(x, (math.prod(shape[:-1]), shape[-1]))


_matmul = define(matmul, shape=_matmul_shape, dtypes=NUMERIC, vjp={"a": _matmul_vjp_a, "b": _matmul_vjp_b})


def matrix_transpose(a: TensorLike, name: str | None = None, conjugate: bool = False) -> Tensor:
    """Swap the last two axes.

    Args:
        a: a tensor of rank 2 or more.
        conjugate: whether complex numbers are conjugated too; see `adjoint`.

    Returns:
        The transposed matrices.

    Raises:
        InvalidArgumentError: the rank is below 2.

    >>> matrix_transpose([[1, 2, 3]]).shape
    TensorShape([3, 1])
    """
    x = convert_to_tensor(a)
    rank = len(x._shape)
    if rank < 2:
        raise InvalidArgumentError(f"matrix_transpose: a must be a matrix or a batch of them; got shape {x._shape}.")
    transposed = transpose(x, (*range(rank - 2), rank - 1, rank - 2))
    return conj(transposed) if conjugate else transposed


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Transpose and conjugate matrices.

    Args:
        matrix: a tensor of shape (..., n, m).

    Returns:
        A tensor of shape (..., m, n); for real numbers the transposed matrices.

    Raises:
        InvalidArgumentError: the rank is below 2.

    >>> adjoint([[1.0, 2.0, 3.0]]).shape
    TensorShape([3, 1])
    """
    return matrix_transpose(matrix, conjugate=True)


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """Sum of the main diagonal of matrices.

    Args:
        x: a tensor of numbers, of shape (..., n, m).

    Returns:
        A tensor of shape (...), of the input's dtype.

    Raises:
        InvalidArgumentError: the rank is below 2.

    >>> print(trace([[1.0, 2.0], [3.0, 4.0]]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """
    return reduce_sum(matrix_diag_part(x), axis=-1)
