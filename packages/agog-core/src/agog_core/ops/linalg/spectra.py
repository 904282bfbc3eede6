"""Spectra: eigenvalues of self-adjoint matrices, and singular values."""

from __future__ import annotations

from agog_core.calls.call import call, call_several
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import define
from agog_core.ops.array import cast, conj, expand_dims, zeros_like
from agog_core.ops.linalg.checks import (
    SOLVABLE,
    check_matrices,
    check_square,
    diagonal_only,
    lower_half,
    off_diagonal,
    square,
)
from agog_core.ops.linalg.diagonal import eye, matrix_diag
from agog_core.ops.linalg.matmul import adjoint, matmul, matrix_transpose
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["self_adjoint_eig", "self_adjoint_eigvals", "svd"]


def self_adjoint_eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of matrices that are their own adjoints.

    An eigenvector may be multiplied by any number of absolute value 1; the gradient is right for what does not depend
    on that choice. It is not finite where eigenvalues are equal and the gradient of eigenvectors is asked for.

    Args:
        tensor: a tensor of float32, float64, complex64 or complex128, of shape (..., n, n). Only the lower triangles
            are read, and get the gradient.

    Returns:
        The eigenvalues in ascending order, of shape (..., n) and the input's dtype, and the eigenvectors as the columns
        of matrices of shape (..., n, n).

    Raises:
        InvalidArgumentError: the matrices are not square, or hold NaN or infinities.

    The derivative is that of Giles, "An extended collection of matrix derivative results for forward and reverse mode
    algorithmic differentiation", 2008.

    >>> eigenvalues, eigenvectors = self_adjoint_eig([[2.0, 0.0], [0.0, 1.0]])
    >>> print(eigenvalues)
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    return call_several(_self_adjoint_eig, convert_to_tensor(tensor))  # type: ignore[return-value]  # two outputs


def _self_adjoint_eig_shape(tensor: Shape) -> list[Shape]:
    check_square("self_adjoint_eig", "tensor", tensor)
    return [tensor[:-1], tensor]


def _self_adjoint_eig_vjp(g: list[Tensor | None], out: tuple[Tensor, Tensor]) -> Tensor:
    e, v = (conj(x) for x in out)
    g_e, g_v = g
    middle = zeros_like(v) if g_e is None else matrix_diag(g_e)
    if g_v is not None:
        middle = middle + off_diagonal(matmul(v, g_v, adjoint_a=True) / _gaps(expand_dims(e, -2)))
    of_both_triangles = matmul(v @ middle, v, adjoint_b=True)
    return lower_half(of_both_triangles + adjoint(of_both_triangles))


def _gaps(row: Tensor) -> Tensor:
    """The differences of each two numbers, with ones on the diagonal to allow division."""
    size = row._shape[-1]
    return row - matrix_transpose(row) + eye(size, dtype=row.dtype)


_self_adjoint_eig = define(
    self_adjoint_eig,
    shape=_self_adjoint_eig_shape,
    dtype=lambda dtype: [dtype, dtype],
    dtypes=SOLVABLE,
    vjp={"tensor": _self_adjoint_eig_vjp},
    may_fail=True,
)


@documented_like(self_adjoint_eig)
def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues of matrices that are their own adjoints.

    Returns:
        The eigenvalues in ascending order, of shape (..., n) and the input's dtype.

    >>> print(self_adjoint_eigvals([[2.0, 0.0], [0.0, 1.0]]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    return call(_self_adjoint_eigvals, convert_to_tensor(tensor))


_self_adjoint_eigvals = define(
    self_adjoint_eigvals,
    shape=square("self_adjoint_eigvals", "tensor", dropped=1),
    dtypes=SOLVABLE,
    vjp={"tensor": lambda g, tensor: _self_adjoint_eig_vjp([g, None], self_adjoint_eig(tensor))},
    may_fail=True,
)


def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor] | Tensor:
    """Singular value decomposition of matrices: ``tensor = u @ diag(s) @ adjoint(v)``.

    A pair of singular vectors may be multiplied by any number of absolute value 1, and with ``full_matrices`` any
    orthonormal basis may complete the longer ones; the gradient is right for what does not depend on that choice. It is
    not finite where singular values are equal or zero and the gradient of singular vectors is asked for.

    Args:
        tensor: a tensor of float32, float64, complex64 or complex128, of shape (..., m, n).
        full_matrices: whether ``u`` and ``v`` are square.
        compute_uv: whether to compute singular vectors too.

    Returns:
        The singular values ``s`` in descending order, of shape (..., k), where k is the smaller one of m and n, of the
        real dtype that goes with the input's. With ``compute_uv``: ``s``, ``u`` of shape (..., m, k), or (..., m, m)
        for ``full_matrices``, and ``v`` of shape (..., n, k) or (..., n, n).

    Raises:
        InvalidArgumentError: the rank is below 2, or the matrices hold NaN or infinities.

    The derivative is that of Townsend, "Differentiating the singular value decomposition", 2016; of complex matrices,
    Wan and Zhang, "Automatic differentiation for complex valued SVD", 2019.

    >>> s, u, v = svd([[0.0, 2.0], [3.0, 0.0]])
    >>> print(s)
    tf.Tensor([3. 2.], shape=(2,), dtype=float32)
    """
    if not compute_uv:
        return singular_values(tensor)
    return call_several(_svd, convert_to_tensor(tensor), full_matrices=bool(full_matrices))  # type: ignore[return-value]  # three outputs


def _svd_shape(tensor: Shape, full_matrices: bool) -> list[Shape]:
    check_matrices("svd", "tensor", tensor)
    *batch, rows, columns = tensor
    count = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (count, count)
    return [(*batch, count), (*batch, rows, left), (*batch, columns, right)]


def _svd_vjp(g: list[Tensor | None], out: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    s, u, v = out
    g_s, g_u, g_v = g
    count = s._shape[-1]
    u, v = conj(u), conj(v)
    s = expand_dims(cast(s, u.dtype), -2)
    left, right = u[..., :count], v[..., :count]
    middle = matrix_diag(zeros_like(s)[..., 0, :] if g_s is None else cast(g_s, u.dtype))
    if g_u is None and g_v is None:
        return matmul(left @ middle, right, adjoint_b=True)
    g_left = zeros_like(left) if g_u is None else _of_basis(u, g_u, count)
    g_right = zeros_like(right) if g_v is None else _of_basis(v, g_v, count)
    gaps = _gaps(s * s)
    turning_left = _skew(matmul(left, g_left, adjoint_a=True))
    turning_right = _skew(matmul(right, g_right, adjoint_a=True))
    turning = turning_left / gaps * s + matrix_transpose(s) * (turning_right / gaps)
    middle = middle + off_diagonal(turning)
    if u.dtype.is_complex:  # the phases that both singular vectors share
        middle = middle + diagonal_only(turning_left / (s * 2))
    gradient = matmul(left @ middle, right, adjoint_b=True)
    if u._shape[-2] > count:
        outside = g_left - left @ matmul(left, g_left, adjoint_a=True)
        gradient = gradient + matmul(outside / s, right, adjoint_b=True)
    if v._shape[-2] > count:
        outside = g_right - right @ matmul(right, g_right, adjoint_a=True)
        gradient = gradient + matmul(left / s, outside, adjoint_b=True)
    return gradient


def _of_basis(vectors: Tensor, g: Tensor, count: int) -> Tensor:
    """The gradient of the first columns, with the contribution of the others, orthogonal to them."""
    if vectors._shape[-1] == count:
        return g
    first, rest = vectors[..., :count], vectors[..., count:]
    return g[..., :count] - rest @ matmul(g[..., count:], first, adjoint_a=True)


def _skew(x: Tensor) -> Tensor:
    return x - adjoint(x)


_svd = define(
    svd,
    shape=_svd_shape,
    dtype=lambda dtype, full_matrices: [dtype.real_dtype, dtype, dtype],
    dtypes=SOLVABLE,
    vjp={"tensor": _svd_vjp},
    may_fail=True,
)


def singular_values(tensor: TensorLike) -> Tensor:
    """Singular values of matrices, as `svd` without ``compute_uv`` gives them. They come in descending order.

    >>> print(singular_values([[0.0, 2.0], [3.0, 0.0]]))
    tf.Tensor([3. 2.], shape=(2,), dtype=float32)
    """
    return call(_singular_values, convert_to_tensor(tensor))


def _singular_values_shape(tensor: Shape) -> Shape:
    check_matrices("singular_values", "tensor", tensor)
    return (*tensor[:-2], min(tensor[-2:]))


def _singular_values_vjp(g: Tensor, tensor: Tensor) -> Tensor:
    _, u, v = call_several(_svd, tensor, full_matrices=False)
    return matmul(conj(u) * expand_dims(cast(g, u.dtype), -2), conj(v), adjoint_b=True)


_singular_values = define(
    singular_values,
    shape=_singular_values_shape,
    dtype=lambda dtype: dtype.real_dtype,
    dtypes=SOLVABLE,
    vjp={"tensor": _singular_values_vjp},
    may_fail=True,
)
