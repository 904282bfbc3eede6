"""Bitwise: the bits of integers, elementwise."""

from __future__ import annotations

from agog_core.calls.elementwise import binary, unary
from agog_core.dtypes import INTEGERS
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]


@binary(dtypes=INTEGERS)
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in both, elementwise.

    Returns:
        ``x & y``, of the broadcast shape.

    >>> print(bitwise_and([5, 6], 3))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """


@binary(dtypes=INTEGERS)
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in at least one, elementwise.

    Returns:
        ``x | y``, of the broadcast shape.

    >>> print(bitwise_or([5, 6], 3))
    tf.Tensor([7 7], shape=(2,), dtype=int32)
    """


@binary(dtypes=INTEGERS)
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in exactly one, elementwise.

    Returns:
        ``x ^ y``, of the broadcast shape.

    >>> print(bitwise_xor([5, 6], 3))
    tf.Tensor([6 5], shape=(2,), dtype=int32)
    """


@binary(dtypes=INTEGERS)
def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits moved towards the higher ones, elementwise.

    Returns:
        ``x << y``, of the broadcast shape; ``y`` counts as 0 where it is less, and as one less than the dtype's bits
        where it is more.

    >>> print(left_shift([1, -3], 2))
    tf.Tensor([  4 -12], shape=(2,), dtype=int32)
    """


@binary(dtypes=INTEGERS)
def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits moved towards the lower ones, elementwise; negative numbers stay negative.

    Returns:
        ``x >> y``, of the broadcast shape; ``y`` counts as 0 where it is less, and as one less than the dtype's bits
        where it is more.

    >>> print(right_shift([5, -5], 1))
    tf.Tensor([ 2 -3], shape=(2,), dtype=int32)
    """


@unary(dtypes=INTEGERS)
def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """All bits inverted, elementwise.

    Returns:
        ``~x``.

    >>> print(invert([0, 5]))
    tf.Tensor([-1 -6], shape=(2,), dtype=int32)
    """
