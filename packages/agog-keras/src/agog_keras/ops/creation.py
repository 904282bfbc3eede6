"""Creation: functions of ``tf.keras.ops`` that create tensors, and round them, with NumPy's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, as_dtype, convert_to_tensor
from agog_core.tensors.convert import fixed, is_tensor
from agog_keras.ops.dtypes import alike, result_dtype

__all__ = ["arange", "array", "empty", "eye", "full", "linspace", "logspace", "round"]


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Numbers at equal distances, up to one that is left out.

    Args:
        start: the first number; the one that is left out, if ``stop`` is None.
        stop: the number that is left out.
        step: the distance; None for 1.
        dtype: the dtype; None for int32, and for float32 where a number is a float.

    Returns:
        A tensor of rank 1.

    >>> arange(0, 1, 0.25).numpy().tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    given = [0, start] if stop is None else [start, stop]
    given.append(1 if step is None else step)
    kind = as_dtype(dtype) if dtype is not None else result_dtype(*given)
    first, end, distance = (fixed(convert_to_tensor(x)).item() if is_tensor(x) else x for x in given)
    count = max(0, math.ceil((end - first) / distance))
    wide = "float64" if isinstance(first + distance, float) else "int64"
    places = ag.cast(ag.range(count), wide)
    if kind.is_integer:  # as NumPy does, which takes the first number and the distance in the dtype
        first, distance = int(first), int(first + distance) - int(first)
        places = ag.cast(places, "int64")
    return ag.cast(places * distance + first, kind)


def array(x: Any, dtype: Any = None) -> Tensor:
    """A tensor of a value.

    Args:
        x: a tensor, an array, a number, or a list of those.
        dtype: the dtype; None for the value's.

    Returns:
        A tensor.

    >>> array([[1, 2]], "float16").dtype
    tf.float16
    """
    return convert_to_tensor(x) if dtype is None else ag.cast(x, dtype)


def empty(shape: int | Sequence[int], dtype: Any = None) -> Tensor:
    """A tensor whose values nobody needs; they are zeros.

    Args:
        shape: the sizes.
        dtype: the dtype; None for float32.

    Returns:
        A tensor.

    >>> empty((2,), "int32").dtype
    tf.int32
    """
    return ag.zeros(_sizes(shape), dtype or "float32")


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """Ones on a diagonal, and zeros elsewhere.

    Args:
        N: the number of rows.
        M: the number of columns; None for as many.
        k: the diagonal: above the main one where it is positive.
        dtype: the dtype; None for float32.

    Returns:
        A matrix.

    >>> eye(2, 3, 1).numpy().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows, columns = ag.expand_dims(ag.range(N), 1), ag.range(N if M is None else M)
    return ag.cast(ag.equal(rows + k, columns), dtype or "float32")


def full(shape: int | Sequence[int], fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor of one value.

    Args:
        shape: the sizes.
        fill_value: the value.
        dtype: the dtype; None for float32.

    Returns:
        A tensor.

    >>> full((2,), 3, "int32").numpy().tolist()
    [3, 3]
    """
    return ag.broadcast_to(ag.cast(fill_value, dtype or "float32"), _sizes(shape))


def _sizes(shape: Any) -> list[int]:
    return [int(shape)] if isinstance(shape, int) else list(shape)


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers at equal distances, from one to another.

    Args:
        start: the first number, or a tensor of those.
        stop: the last number.
        num: how many there are.
        endpoint: whether the last number is among them.
        retstep: whether to return the distance too.
        dtype: the dtype; None for that of the numbers, which are floats.
        axis: the axis along which they are.

    Returns:
        A tensor; with ``retstep`` that and the distance.

    >>> linspace(0, 10, 5).numpy().tolist()
    [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    kind = result_dtype(start, stop, float)
    first, last = (ag.cast(x, "float64") for x in alike(start, stop, least=float))
    parts = num - 1 if endpoint else num
    step = (last - first) / (float(parts) if parts > 0 else math.nan)
    places = ag.reshape(ag.cast(ag.range(num), "float64"), [num] + [1] * step.ndim)
    numbers = (last - first) * (places / float(max(parts, 1))) + first
    wanted = as_dtype(dtype or kind)
    made = ag.cast(ag.floor(numbers) if wanted.is_integer else numbers, wanted)
    if axis not in (0, -made.ndim):
        order = list(range(1, made.ndim))
        order.insert(axis if axis >= 0 else axis + made.ndim, 0)
        made = ag.transpose(made, order)
    return (made, ag.cast(step, kind)) if retstep else made


def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Powers of a base whose exponents have equal distances.

    Args:
        start: the first exponent, or a tensor of those.
        stop: the last one.
        num: how many there are.
        endpoint: whether the last exponent is among them.
        base: the base.
        dtype: the dtype; None for that of the exponents, which are floats.
        axis: the axis along which they are.

    Returns:
        A tensor.

    >>> logspace(0, 2, 3).numpy().round(3).tolist()
    [1.0, 10.0, 100.0]
    """
    exponents = linspace(start, stop, num, endpoint, dtype="float64", axis=axis)
    return ag.cast(ag.pow(float(base), exponents), dtype or result_dtype(start, stop, float))


def round(x: TensorLike, decimals: int = 0) -> Tensor:
    """The nearest numbers with so many decimals; of two, the one whose last digit is even.

    Args:
        x: a tensor.
        decimals: how many; tens, hundreds and so on are left where it is negative.

    Returns:
        A tensor of the same shape and dtype.

    >>> print(round([2.56, -14.94], 1))
    tf.Tensor([  2.6 -14.9], shape=(2,), dtype=float32)
    >>> round([25, 14], -1).numpy().tolist()
    [20, 10]
    """
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_floating:
        if decimals >= 0:
            return tensor
        return ag.cast(round(ag.cast(tensor, "float64"), decimals), tensor.dtype)
    factor = 10.0 ** abs(decimals)
    if decimals > 0:
        return ag.rint(tensor * factor) / factor
    return ag.rint(tensor) if decimals == 0 else ag.rint(tensor / factor) * factor
