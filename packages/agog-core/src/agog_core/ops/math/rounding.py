"""Rounding: to integers, elementwise; `floor` is in `elementary`."""

from __future__ import annotations

from agog_core.calls.elementwise import unary
from agog_core.dtypes import FLOATING
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["ceil", "rint", "round"]


@unary(dtypes=FLOATING)
def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The smallest integer that is not smaller, elementwise; it has no gradient.

    Returns:
        The integers, in the input's dtype.

    >>> print(ceil([1.5, -1.5]))
    tf.Tensor([ 2. -1.], shape=(2,), dtype=float32)
    """


@unary(dtypes=FLOATING)
def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer, elementwise, and of two the even one; it has no gradient.

    Returns:
        The integers, in the input's dtype.

    >>> print(rint([0.5, 1.5, -1.7]))
    tf.Tensor([ 0.  2. -2.], shape=(3,), dtype=float32)
    """


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer, elementwise, and of two the even one; it has no gradient.

    Args:
        x: a tensor of floats or integers.

    Returns:
        The integers, in the input's dtype; a tensor of integers as it is.

    >>> print(round([0.5, 1.5, -1.7]))
    tf.Tensor([ 0.  2. -2.], shape=(3,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return tensor if tensor.dtype.is_integer else rint(tensor)
