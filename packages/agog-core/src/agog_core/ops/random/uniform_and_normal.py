"""Uniform and normal: random numbers, the same bits on every backend; see `agog_core.random` for the seeds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.calls.broadcasting import static_shape
from agog_core.calls.call import create
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.slicing import slice
from agog_core.ops.indexing.gathering import gather
from agog_core.ops.math.arithmetic import minimum
from agog_core.random import Source, stream
from agog_core.shapes import Shape
from agog_core.tensors.convert import computed, convert_to_tensor, decided, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["random_crop", "random_normal", "random_shuffle", "random_uniform", "truncated_normal"]

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

    Returns:
        A tensor of that shape and dtype.

    Raises:
        ValueError: ``maxval`` is missing for integers.
        InvalidArgumentError: for integers, ``minval`` is not below ``maxval``, or the dtype does not hold them; or
            the dtype is neither.

    >>> random_uniform([2, 3]).shape
    TensorShape([2, 3])
    """
    return uniform_from("random_uniform", stream(seed), shape, minval, maxval, dtype)


def uniform_from(op: str, source: Source, shape: Any, minval: TensorLike, maxval: TensorLike, dtype: Any) -> Tensor:
    """`random_uniform`, from any source of bits; ``op`` is the name for errors."""
    kind, sizes = as_dtype(dtype), static_shape(shape)
    if kind in _INTEGERS:
        if maxval is None:
            raise ValueError(f"{op}: maxval must be given for dtype {kind.name}.")
        low, high = (int(host_value(value)) for value in (minval, maxval))
        if low < kind.min or high > int(kind.max) + 1:
            raise InvalidArgumentError(
                f"{op}: dtype {kind.name} holds [{kind.min}, {kind.max}]; got the range [{low}, {high})."
            )
        if low >= high:
            raise InvalidArgumentError(f"{op}: for dtype {kind.name} minval must be below maxval; got [{low}, {high}).")
        key = source(math.prod(sizes))
        return create(_random_integers, kind, shape=sizes, key=key, low=low, high=high)
    values = create(_random_uniform, kind, shape=sizes, key=source(words(kind, sizes)))
    if maxval is None and type(minval) in (int, float) and minval == 0:
        return values
    low_end, high_end = (
        convert_to_tensor(value, preferred_dtype=kind) for value in (minval, 1 if maxval is None else maxval)
    )
    scaled = values * (high_end - low_end) + low_end
    if low_end._shape or high_end._shape:
        return scaled
    # The sum may have been rounded up to the end that does not belong to the range.
    if not decided(lambda low, high: bool(high > low), low_end, high_end):
        return scaled
    number = kind.numpy_dtype
    (last,) = computed(lambda low, high: [np.nextafter(high, low, dtype=number)], [low_end, high_end], [kind])
    return minimum(scaled, last)


def words(kind: dtypes.DType, sizes: Shape) -> int:
    """How many 64-bit values give the bits: 64 bits an element for float64, else 32."""
    return math.prod(sizes) if kind is dtypes.float64 else math.ceil(math.prod(sizes) / 2)


def _shape_of(shape: Shape, **attributes: Any) -> Shape:
    return shape


_random_uniform = Op(
    "random_uniform", random_uniform, inputs=[], shape=_shape_of, dtypes=FLOATING, random=True, late=["key"]
)
_random_integers = Op(
    "random_integers", random_uniform, inputs=[], shape=_shape_of, dtypes=_INTEGERS, random=True, late=["key"]
)


@documented_like(random_uniform)
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
    that every device rounds the same way.

    Args:
        mean: the mean, a scalar or a tensor that broadcasts.
        stddev: the standard deviation, a scalar or a tensor that broadcasts.
        dtype: a float dtype.

    Raises:
        InvalidArgumentError: the dtype is not a float.

    >>> random_normal([2, 3]).dtype
    tf.float32
    """
    return normal_from(standard_normal, stream(seed), shape, mean, stddev, dtype)


def normal_from(op: Op, source: Source, shape: Any, mean: TensorLike, stddev: TensorLike, dtype: Any) -> Tensor:
    """`random_normal` or `truncated_normal`, from any source of bits; ``op`` makes standard normals."""
    kind, sizes = as_dtype(dtype), static_shape(shape)
    values: Tensor = create(op, kind, shape=sizes, key=source(words(dtypes.float32, sizes)))
    if not (type(stddev) in (int, float) and stddev == 1):
        values = values * convert_to_tensor(stddev, preferred_dtype=kind)
    if not (type(mean) in (int, float) and mean == 0):
        values = values + convert_to_tensor(mean, preferred_dtype=kind)
    return values


standard_normal = Op(
    "random_normal", random_normal, inputs=[], shape=_shape_of, dtypes=FLOATING, random=True, late=["key"]
)


@documented_like(random_normal)
def truncated_normal(
    shape: Any,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed random numbers, of which none is further from the mean than two standard deviations.

    They are drawn in float32 precision, also for float64, by the inverse of their own distribution function, with
    operations that every device rounds the same way: none has to be drawn again.

    Args:
        stddev: the standard deviation before values are cut off, a scalar or a tensor that broadcasts.

    >>> float(np.abs(truncated_normal([1000]).numpy()).max()) <= 2.0
    True
    """
    return normal_from(standard_truncated_normal, stream(seed), shape, mean, stddev, dtype)


standard_truncated_normal = Op(
    "truncated_normal", truncated_normal, inputs=[], shape=_shape_of, dtypes=FLOATING, random=True, late=["key"]
)


def random_permutation(count: int, seed: int | None = None) -> Tensor:
    """The integers below a count, as int64, in the order in which as many random 64-bit values are sorted.

    >>> sorted(random_permutation(4).numpy().tolist())
    [0, 1, 2, 3]
    """
    (size,) = static_shape((count,))
    return create(_random_permutation, dtypes.int64, count=size, key=stream(seed)(size))


_random_permutation = define(
    random_permutation, shape=lambda count, key: (count,), dtypes=frozenset({dtypes.int64}), random=True, late=["key"]
)


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Put the slices along the first axis into a random order.

    Args:
        value: a tensor.
        seed: the op's seed.

    Returns:
        A tensor of the same shape and dtype; a scalar as it is. The order is the same on every backend, and has a
        gradient.

    >>> sorted(random_shuffle([1, 2, 3]).numpy().tolist())
    [1, 2, 3]
    """
    x = convert_to_tensor(value)
    return gather(x, random_permutation(x._shape[0], seed)) if x._shape else x


def random_crop(value: TensorLike, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Cut a box of a given size out of a tensor, at a random place; every place is equally likely.

    Args:
        value: a tensor.
        size: the size along each axis.
        seed: the op's seed.

    Returns:
        A tensor of that shape and ``value``'s dtype.

    Raises:
        InvalidArgumentError: the size does not have as many numbers as the tensor has axes, or one is too large.

    >>> random_crop([[1, 2, 3], [4, 5, 6]], [2, 2]).shape
    TensorShape([2, 2])
    """
    x, sizes = convert_to_tensor(value), static_shape(size)
    if len(sizes) != len(x._shape) or any(part > whole for part, whole in zip(sizes, x._shape, strict=True)):
        raise InvalidArgumentError(
            f"random_crop: Need value.shape >= size: a box of size {sizes} does not fit into a tensor of shape "
            f"{x._shape}."
        )
    draws = random_uniform((len(sizes),), 0, 2**63, dtypes.int64, seed)
    counts = [whole - part + 1 for whole, part in zip(x._shape, sizes, strict=True)]
    if draws._table.traces:  # another place at each call
        for axis, (size, count) in enumerate(zip(sizes, counts, strict=True)):
            if count > 1:
                x = gather(x, draws[axis] % count + np.arange(size, dtype=np.int64), axis=axis)
        return x
    return slice(x, [n % count for n, count in zip(draws.numpy().tolist(), counts, strict=True)], sizes)
