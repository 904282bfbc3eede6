"""Pseudoinverse: the Moore-Penrose pseudoinverses of matrices."""

from __future__ import annotations

from agog_core.ops.array.creation import zeros_like
from agog_core.ops.array.reshaping import expand_dims
from agog_core.ops.linalg.matmul import adjoint
from agog_core.ops.linalg.spectra import svd
from agog_core.ops.math.logic import where
from agog_core.ops.reduce.extrema import reduce_max
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["pinv"]

# The distance from 1 to the next number of a dtype.
_SPACING = {"float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23, "complex128": 2.0**-52}


def pinv(a: TensorLike, rcond: float | None = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose pseudoinverses of matrices, by their singular values.

    G. Strang, "Linear algebra and its applications", 1980, section 7.2.

    Args:
        a: matrices of floats, a tensor of shape (..., n, m).
        rcond: which share of the largest singular value counts as 0; None for 10 times the larger size, times the
            spacing of the dtype's numbers at 1.

    Returns:
        A tensor of shape (..., m, n).

    >>> print(pinv([[2.0, 0.0], [0.0, 0.0]]))
    tf.Tensor(
    [[0.5 0. ]
     [0.  0. ]], shape=(2, 2), dtype=float32)
    """
    x = convert_to_tensor(a)
    share = 10 * max(x._shape[-2:]) * _SPACING[x.dtype.name] if rcond is None else rcond
    values, left, right = svd(x, full_matrices=False)
    counts = values > reduce_max(values, -1, keepdims=True) * share
    inverses = where(counts, 1.0 / where(counts, values, values * 0 + 1), zeros_like(values))
    return (right * expand_dims(inverses, -2)) @ adjoint(left)
