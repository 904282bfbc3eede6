"""Eigenvalues and eigenvectors of general square matrices."""

from __future__ import annotations

from agog_core.calls.call import call, call_several
from agog_core.dispatch.op import define
from agog_core.dtypes import DType, complex64, complex128, float32
from agog_core.ops.linalg.checks import SOLVABLE, check_square, square
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of matrices: ``tensor @ v == v @ diag(e)``; they have no gradient. The values come
    in no order, the vectors as columns of length 1; both are complex, as precise as the input.

    >>> print(eig([[0.0, 1.0], [-1.0, 0.0]])[0])
    tf.Tensor([0.+1.j 0.-1.j], shape=(2,), dtype=complex64)
    """
    e, v = call_several(_eig, convert_to_tensor(tensor))
    return e, v


def _eig_shape(tensor: Shape) -> list[Shape]:
    check_square("eig", "tensor", tensor)
    return [tensor[:-1], tensor]


def _complex_dtype(given: DType) -> DType:
    return complex64 if given in (float32, complex64) else complex128


def _eig_dtype(given: DType) -> list[DType]:
    return [_complex_dtype(given)] * 2


_eig = define(eig, shape=_eig_shape, dtype=_eig_dtype, dtypes=SOLVABLE, may_fail=True)


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues of matrices; they have no gradient. They come in no order, as complex numbers as precise as the
    input.

    >>> print(eigvals([[0.0, 1.0], [-1.0, 0.0]]))
    tf.Tensor([0.+1.j 0.-1.j], shape=(2,), dtype=complex64)
    """
    return call(_eigvals, convert_to_tensor(tensor))


_eigvals = define(
    eigvals, shape=square("eigvals", "tensor", dropped=1), dtype=_complex_dtype, dtypes=SOLVABLE, may_fail=True
)
