"""Random numbers, the same on every backend; see `agog_core.random` for the seeds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.broadcasting import static_shape
from agog_core.call import create
from agog_core.convert import convert_to_tensor, host_value
from agog_core.dtypes import FLOATING, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.op import Op
from agog_core.ops.math import add, minimum, multiply, subtract
from agog_core.random import generator
from agog_core.shapes import Shape
from agog_core.tensor import Tensor, TensorLike

_INTEGERS = frozenset({dtypes.int32, dtypes.int64})


def random_uniform(
    shape: Any,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers that are equally likely everywhere in ``[minval, maxval)``.

    Args:
        shape: the shape.
        minval: the lower end, a scalar.
        maxval: the upper end, a scalar; 1 by default for floats.
        dtype: a float dtype, int32 or int64.
        seed: the op's seed.
        name: not used; kept for compatibility.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        ValueError: ``maxval`` is missing for integers.
        InvalidArgumentError: for integers, ``minval`` is not below ``maxval``, or the dtype does not hold them; or
            the dtype is neither.

    >>> random_uniform([2, 3]).shape
    TensorShape([2, 3])
    """
    kind, sizes = as_dtype(dtype), static_shape(shape)
    if kind in _INTEGERS:
        if maxval is None:
            raise ValueError(f"random_uniform: maxval must be given for dtype {kind.name}.")
        low, high = (int(host_value(value)) for value in (minval, maxval))
        if low < kind.min or high > int(kind.max) + 1:
            raise InvalidArgumentError(
                f"random_uniform: dtype {kind.name} holds [{kind.min}, {kind.max}]; got the range [{low}, {high})."
            )
        if low >= high:
            raise InvalidArgumentError(
                f"random_uniform: for dtype {kind.name} minval must be below maxval; got [{low}, {high})."
            )
        key = generator().reserve(seed, math.prod(sizes))
        return create(_random_integers, kind, shape=sizes, key=key, low=low, high=high)
    values = create(_random_uniform, kind, shape=sizes, key=generator().reserve(seed, _words(kind, sizes)))
    if maxval is None and type(minval) in (int, float) and minval == 0:
        return values
    low_end, high_end = (
        convert_to_tensor(value, preferred_dtype=kind) for value in (minval, 1 if maxval is None else maxval)
    )
    scaled = add(multiply(values, subtract(high_end, low_end)), low_end)
    if low_end._shape or high_end._shape:
        return scaled
    # The sum may have been rounded up to the end that does not belong to the range.
    last = np.nextafter(high_end.numpy(), low_end.numpy(), dtype=kind.numpy_dtype)
    return minimum(scaled, last) if high_end.numpy() > low_end.numpy() else scaled


def _words(kind: dtypes.DType, sizes: Shape) -> int:
    """How many 64-bit values give the bits: 64 bits an element for float64, else 32."""
    return math.prod(sizes) if kind is dtypes.float64 else math.ceil(math.prod(sizes) / 2)


def _shape_of(shape: Shape, **attributes: Any) -> Shape:
    return shape


_random_uniform = Op("random_uniform", random_uniform, inputs=[], shape=_shape_of, dtypes=FLOATING)
_random_integers = Op("random_integers", random_uniform, inputs=[], shape=_shape_of, dtypes=_INTEGERS)


def random_normal(
    shape: Any,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed random numbers.

    They are drawn in float32 precision, also for float64, by the inverse of the distribution function, with operations
    that every device rounds alike.

    Args:
        shape: the shape.
        mean: the mean, a scalar or a tensor that broadcasts.
        stddev: the standard deviation, a scalar or a tensor that broadcasts.
        dtype: a float dtype.
        seed: the op's seed.
        name: not used; kept for compatibility.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        InvalidArgumentError: the dtype is not a float.

    >>> random_normal([2, 3]).dtype
    tf.float32
    """
    kind, sizes = as_dtype(dtype), static_shape(shape)
    values: Tensor = create(
        _random_normal, kind, shape=sizes, key=generator().reserve(seed, _words(dtypes.float32, sizes))
    )
    if not (type(stddev) in (int, float) and stddev == 1):
        values = multiply(values, convert_to_tensor(stddev, preferred_dtype=kind))
    if not (type(mean) in (int, float) and mean == 0):
        values = add(values, convert_to_tensor(mean, preferred_dtype=kind))
    return values


_random_normal = Op("random_normal", random_normal, inputs=[], shape=_shape_of, dtypes=FLOATING)
