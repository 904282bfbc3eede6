"""Statistics: functions of ``tf.keras.ops`` that compare and count elements, with NumPy's arguments."""

from __future__ import annotations

import math
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor
from agog_core.calls.docstrings import documented_like
from agog_core.tensors.convert import fixed
from agog_keras.ops.arrays import full_like, ravel, swapaxes
from agog_keras.ops.dtypes import floats
from agog_keras.ops.reductions import sum as total

__all__ = [
    "allclose",
    "isclose",
    "median",
    "nan_to_num",
    "nanmean",
    "nansum",
    "quantile",
]


def isclose(x1: TensorLike, x2: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether elements differ by no more than a part of the second, and a little.

    Args:
        x1: the first tensor.
        x2: the second one.
        rtol: the part.
        atol: the little.
        equal_nan: whether NaN is close to NaN.

    Returns:
        A tensor of bools.

    >>> isclose([1.0, 2.0], [1.0, 2.1]).numpy().tolist()
    [True, False]
    """
    a, b = convert_to_tensor(x1), convert_to_tensor(x2)
    near = ag.abs(a - b) <= ag.abs(b) * rtol + atol
    close = ag.equal(a, b) | (near & ag.is_finite(a) & ag.is_finite(b))
    return close | (ag.is_nan(a) & ag.is_nan(b)) if equal_nan else close


def allclose(x1: TensorLike, x2: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether all elements are close. See `isclose`.

    Args:
        x1: the first tensor.
        x2: the second one.
        Other arguments: see `isclose`.

    Returns:
        A bool.
    """
    return ag.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


def nan_to_num(x: TensorLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Put numbers in the places of NaN and the infinities.

    Args:
        x: a tensor of floats.
        nan: what stands in for NaN.
        posinf: what stands in for infinity; None for the largest number of the dtype.
        neginf: what stands in for minus infinity; None for the least number of the dtype.

    Returns:
        A tensor of the same shape.

    >>> nan_to_num([1.0, float("nan")]).numpy().tolist()
    [1.0, 0.0]
    """
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_floating:
        return tensor
    high = tensor.dtype.max if posinf is None else posinf
    low = tensor.dtype.min if neginf is None else neginf
    for place, value in (
        (ag.is_nan(tensor), nan),
        (ag.equal(tensor, math.inf), high),
        (ag.equal(tensor, -math.inf), low),
    ):
        tensor = ag.where(place, full_like(tensor, value), tensor)
    return tensor


def nansum(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum of all that is not NaN. See `sum`.

    Args:
        x: a tensor.
        axis: the axes; None for all.
        keepdims: whether they stay, with size 1.

    Returns:
        A tensor.
    """
    return total(nan_to_num(x, 0.0, math.inf, -math.inf), axis, keepdims)


@documented_like(nansum)
def nanmean(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean of all that is not NaN. See `mean`.

    Returns:
        A tensor of floats; NaN where all is NaN.
    """
    tensor = floats(x)
    counts = ag.reduce_sum(ag.cast(~ag.is_nan(tensor), tensor.dtype), axis, keepdims)
    return nansum(tensor, axis, keepdims) / counts


def quantile(x: TensorLike, q: TensorLike, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    """What a share of the elements is below, on a line between neighbours.

    Args:
        x: a tensor of floats.
        q: the share, from 0 to 1, or a list of shares.
        axis: the axes; None for all.
        method: ``"linear"``, the one that there is.
        keepdims: whether the axis stays, with size 1.

    Returns:
        A tensor; a list of shares makes a first axis.

    Raises:
        NotImplementedError: the method is another.

    >>> float(quantile([1.0, 2.0, 3.0, 4.0], 0.5))
    2.5
    """
    if method != "linear":
        raise NotImplementedError(f"quantile: method must be 'linear'; got {method!r}.")
    tensor = convert_to_tensor(x)
    rank = len(tensor._shape)
    if not isinstance(axis, int | None):
        axes = [each % rank for each in axis]
        others = [each for each in range(rank) if each not in axes]
        rows = ag.transpose(tensor, [*others, *axes])
        each = quantile(ag.reshape(rows, [*rows._shape[: len(others)], -1]), q, -1, method)
        sizes = [1 if n in axes else size for n, size in enumerate(tensor._shape)]
        shares_shape = list(convert_to_tensor(q)._shape)
        return ag.reshape(each, [*shares_shape, *sizes]) if keepdims else each
    last = ravel(tensor) if axis is None else swapaxes(tensor, axis % rank, rank - 1)
    rising = ag.sort(last)
    count = rising._shape[-1]
    shares: list[float] = fixed(convert_to_tensor(q)).reshape(-1).tolist()
    found = []
    for share in shares:
        low = min(int(share * (count - 1)), count - 1)
        high, part = min(low + 1, count - 1), share * (count - 1) - low
        below, above = rising[..., low : low + 1], rising[..., high : high + 1]
        each = below * (1.0 - part) + above * part
        if axis is None:
            found.append(ag.reshape(each, [1] * rank if keepdims else []))
        else:
            moved = swapaxes(each, axis % rank, rank - 1)
            found.append(moved if keepdims else ag.squeeze(moved, [axis]))
    return found[0] if not convert_to_tensor(q)._shape else ag.stack(found)


def median(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """What half of the elements is below. See `quantile`.

    Args:
        x: a tensor of floats.
        axis: the axis; None for all elements.
        keepdims: whether the axis stays, with size 1.

    Returns:
        A tensor.
    """
    return quantile(x, 0.5, axis, keepdims=keepdims)
