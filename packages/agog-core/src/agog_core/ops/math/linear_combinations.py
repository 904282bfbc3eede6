"""Linear combinations: sums of tensors, scaled tensors, and polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_core.ops.array import zeros_like
from agog_core.ops.math.arithmetic import add_n, multiply
from agog_core.tensors import IndexedSlices, Tensor, TensorLike, convert_to_tensor

__all__ = ["accumulate_n", "scalar_mul"]


def accumulate_n(
    inputs: Sequence[TensorLike], shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """Sum of any number of tensors of one shape, elementwise; the same as `add_n`, with checks.

    Args:
        inputs: at least one tensor; all of one shape and dtype.
        shape: the shape that they must have; None for any.
        tensor_dtype: the dtype that they must have; None for any.

    Returns:
        The sum.

    Raises:
        ValueError: there is no input, or one has another shape than that asked for.
        TypeError: they have another dtype than that asked for.
        InvalidArgumentError: shapes or dtypes differ.

    >>> print(accumulate_n([[1.0, 2.0], [3.0, 4.0]], shape=[2]))
    tf.Tensor([4. 6.], shape=(2,), dtype=float32)
    """
    tensors = [convert_to_tensor(x) for x in inputs]
    if not tensors:
        raise ValueError("accumulate_n: inputs is empty; give at least one tensor.")
    for position, x in enumerate(tensors):
        if not x.shape.is_compatible_with(shape):
            raise ValueError(f"accumulate_n: inputs[{position}] has shape {x._shape}; shape asks for {shape}.")
    if tensor_dtype is not None and tensors[0].dtype is not as_dtype(tensor_dtype):
        raise TypeError(
            f"accumulate_n: the inputs have dtype {tensors[0].dtype.name}; tensor_dtype asks for "
            f"{as_dtype(tensor_dtype).name}. Cast with tf.cast."
        )
    return add_n(tensors)


def scalar_mul(scalar: TensorLike, x: Any) -> Any:
    """Product of a number and a tensor.

    Args:
        scalar: a number, or a tensor of rank 0 and ``x``'s dtype.
        x: a tensor, or an `IndexedSlices`, of numbers.

    Returns:
        ``scalar * x``; an `IndexedSlices` for one.

    Raises:
        ValueError: ``scalar`` is not of rank 0.

    >>> print(scalar_mul(2.0, [1.0, 2.0]))
    tf.Tensor([2. 4.], shape=(2,), dtype=float32)
    """
    rank = len(getattr(scalar, "shape", None) or np.shape(scalar))
    if rank:
        raise ValueError(f"scalar_mul: Only scalar multiply works, got a scalar of rank {rank}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(scalar * x.values, x.indices, x._shape)
    return multiply(scalar, x)


def polyval(coeffs: Sequence[TensorLike], x: TensorLike, name: str | None = None) -> Tensor:
    """The value of a polynomial, elementwise, by Horner's rule.

    Args:
        coeffs: a list of the coefficients, that of the highest power first; tensors whose shapes broadcast with
            ``x``'s.
        x: a tensor of numbers.

    Returns:
        ``coeffs[0] * x ** (n - 1) + ... + coeffs[n - 1]``; zeros of ``x``'s shape where there is no coefficient.

    >>> print(polyval([1.0, 0.0, 2.0], [3.0]))
    tf.Tensor([11.], shape=(1,), dtype=float32)
    """
    at = convert_to_tensor(x)
    if not coeffs:
        return zeros_like(at)
    first, *others = coeffs
    value: Tensor = zeros_like(at) + first
    for coefficient in others:
        value = value * at + coefficient
    return value
