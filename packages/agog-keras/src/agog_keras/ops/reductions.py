"""Reductions: reductions of ``tf.keras.ops``, in dtypes that hold the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor
from agog_core.calls.docstrings import documented_like
from agog_core.tensors.convert import whole
from agog_keras.ops.dtypes import alike, floats, numbers

__all__ = [
    "angle",
    "average",
    "bincount",
    "count_nonzero",
    "mean",
    "moments",
    "norm",
    "prod",
    "std",
    "sum",
    "trace",
    "var",
]

_Axes = int | Sequence[int] | None


def _wide(x: TensorLike) -> Tensor:
    """Numbers in a dtype that sums of small integers fit."""
    tensor = convert_to_tensor(x)
    wider = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
    return ag.cast(tensor, wider.get(tensor.dtype.name, tensor.dtype))


def sum(x: TensorLike, axis: _Axes = None, keepdims: bool = False) -> Tensor:
    """The sum along axes.

    Args:
        x: a tensor.
        axis: the axes; None for all.
        keepdims: whether they stay, with size 1.

    Returns:
        A tensor of the same dtype; of int32 or uint32 for bools and smaller integers.

    >>> int(sum(ag.constant([200, 100], "uint8")))
    300
    """
    return ag.reduce_sum(_wide(x), axis, keepdims)


def prod(x: TensorLike, axis: _Axes = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The product along axes.

    Args:
        x: a tensor.
        axis: the axes; None for all.
        keepdims: whether they stay, with size 1.
        dtype: the dtype; None for the tensor's, and int32 or uint32 for bools and smaller integers.

    Returns:
        A tensor.

    >>> int(prod(ag.constant([200, 100], "uint8")))
    20000
    """
    return ag.reduce_prod(_wide(x) if dtype is None else ag.cast(x, dtype), axis, keepdims)


@documented_like(sum)
def mean(x: TensorLike, axis: _Axes = None, keepdims: bool = False) -> Tensor:
    """The mean along axes.

    Returns:
        A tensor; of float32 for integers and bools.

    >>> float(mean([1, 2]))
    1.5
    """
    return ag.reduce_mean(floats(x), axis, keepdims)


@documented_like(mean)
def var(x: TensorLike, axis: _Axes = None, keepdims: bool = False) -> Tensor:
    """The variance along axes: the mean square of the distance from the mean. See `mean`.

    >>> float(var([1, 3]))
    1.0
    """
    tensor = floats(x)
    half = tensor.dtype.name in ("float16", "bfloat16")
    wide = ag.cast(tensor, "float32") if half else tensor
    distance = ag.abs(wide - ag.reduce_mean(wide, axis, True))
    return ag.cast(ag.reduce_mean(ag.square(distance), axis, keepdims), tensor.dtype.real_dtype)


@documented_like(mean)
def std(x: TensorLike, axis: _Axes = None, keepdims: bool = False) -> Tensor:
    """The standard deviation along axes: the root of the variance. See `var`."""
    return ag.sqrt(var(x, axis, keepdims))


def moments(x: TensorLike, axes: _Axes, keepdims: bool = False, synchronized: bool = False) -> tuple[Tensor, Tensor]:
    """The mean and the variance along axes.

    Args:
        x: a tensor.
        axes: the axes.
        keepdims: whether they stay, with size 1.
        synchronized: must be False: there is one device.

    Returns:
        The mean, and the variance.

    Raises:
        NotImplementedError: ``synchronized`` is True.

    >>> [float(part) for part in moments([1.0, 3.0], [0])]
    [2.0, 1.0]
    """
    if synchronized:
        raise NotImplementedError("moments: agog computes on one device at a time; leave synchronized out.")
    return mean(x, axes, keepdims), var(x, axes, keepdims)


def average(x: TensorLike, axis: _Axes = None, weights: TensorLike = None) -> Tensor:
    """The mean, where elements may have weights.

    Args:
        x: a tensor.
        axis: the axis; None for all elements.
        weights: a weight for each element, or for each place of the axis; None for ones.

    Returns:
        A tensor of floats.

    >>> float(average([1, 3], weights=[3, 1]))
    1.5
    """
    if weights is None:
        return mean(x, axis)
    tensor, factors = alike(x, weights, least=float)
    if factors.ndim == 1 < tensor.ndim:
        if not isinstance(axis, int):
            raise ValueError(
                f"average: weights of shape {factors.shape} belong to one axis of x of shape {tensor.shape}; give that "
                f"axis, or weights of that shape; got axis {axis!r}."
            )
        places = [1] * tensor.ndim
        places[axis] = factors._shape[0]
        factors = ag.reshape(factors, places)
    factors = ag.broadcast_to(factors, tensor._shape)
    return ag.reduce_sum(tensor * factors, axis) / ag.reduce_sum(factors, axis)


def count_nonzero(x: TensorLike, axis: _Axes = None) -> Tensor:
    """How many elements are not 0.

    Args:
        x: a tensor.
        axis: the axes; None for all.

    Returns:
        A tensor of int32.

    >>> int(count_nonzero([0, 3, 4]))
    2
    """
    tensor = numbers(x)
    return ag.reduce_sum(ag.cast(ag.not_equal(tensor, ag.zeros_like(tensor)), "int32"), axis)


def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of a diagonal.

    Args:
        x: a tensor.
        offset: which diagonal: above the main one where it is positive.
        axis1: the axis of rows.
        axis2: the axis of columns.

    Returns:
        A tensor without both axes, of a dtype as that of `sum`.

    >>> int(trace([[1, 2], [3, 4]], 1))
    2
    """
    from agog_keras.ops.arrays import diagonal  # here, as that module stands above

    return sum(diagonal(x, offset, axis1, axis2), -1)


def angle(x: TensorLike) -> Tensor:
    """The angle of complex numbers; pi for negative ones.

    Args:
        x: a tensor.

    Returns:
        A tensor of floats of the same shape, in radians.

    >>> print(angle([-1.0, 2.0]))
    tf.Tensor([3.1415927 0.       ], shape=(2,), dtype=float32)
    """
    tensor = floats(x)
    return ag.angle(tensor) if tensor.dtype.is_complex else ag.atan2(ag.zeros_like(tensor), tensor)


def bincount(x: TensorLike, weights: TensorLike = None, minlength: int = 0, sparse: bool = False) -> Tensor:
    """How often each number from 0 on occurs, in each row.

    Args:
        x: integers, of shape (n,) or (rows, n).
        weights: what each counts, of the same shape; None for 1.
        minlength: the least size of the result.
        sparse: must be False.

    Returns:
        A tensor of shape (numbers,) or (rows, numbers): of int32, or of the weights' dtype.

    Raises:
        NotImplementedError: a sparse tensor is asked for.

    >>> bincount([[0, 1, 1], [3, 0, 0]]).numpy().tolist()
    [[1, 2, 0, 0], [2, 0, 0, 1]]
    """
    if sparse:
        raise NotImplementedError("bincount: sparse=True is not supported; leave it out.")
    places = ag.cast(x, "int32")
    count = whole(ag.reduce_max(places)) + 1 if places.shape.num_elements() else 0
    vectors = ag.one_hot(places, max(count, minlength), dtype="int32")
    if weights is not None:
        factors = convert_to_tensor(weights)
        vectors = ag.cast(vectors, factors.dtype) * ag.expand_dims(factors, -1)
    return ag.reduce_sum(vectors, -2)


def norm(x: TensorLike, ord: Any = None, axis: _Axes = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors or matrices.

    Args:
        x: a tensor.
        ord: for vectors a number, of which 0 counts what is not 0 and inf is the largest; for matrices ``"fro"``,
            ``"nuc"``, 1 and inf for the largest sum of a column or row, 2 for the largest singular value, and these
            numbers with a minus for the least. None is 2 for vectors, ``"fro"`` for matrices.
        axis: the axis of vectors, or the two axes of matrices; None for a tensor that is one vector or matrix, and
            without ``ord`` for all elements as a vector.
        keepdims: whether the axes stay, with size 1.

    Returns:
        A tensor of floats.

    Raises:
        ValueError: there is no such norm.

    >>> float(norm([[3, 4], [0, 0]], 1)), float(norm([[3, 4], [0, 0]], "nuc"))
    (4.0, 5.0)
    """
    tensor = floats(x)
    rank = tensor.ndim
    if axis is None and (ord is None or rank == 1):
        found = _of_vectors(ag.reshape(tensor, [-1]), 2 if ord is None else ord)
        return ag.reshape(found, [1] * rank) if keepdims else found
    axes = list(range(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [each % rank for each in axes]
    others = [each for each in range(rank) if each not in axes]
    moved = ag.transpose(tensor, [*others, *axes])
    if len(axes) == 1:
        found = _of_vectors(moved, 2 if ord is None else ord)
    elif len(axes) == 2:
        found = _of_matrices(moved, "fro" if ord is None else ord)
    else:
        raise ValueError(f"norm: axis must be one axis or two; got {axis!r} for x of shape {tensor.shape}.")
    return ag.reshape(found, [1 if n in axes else size for n, size in enumerate(tensor._shape)]) if keepdims else found


def _of_vectors(x: Tensor, order: Any) -> Tensor:
    if isinstance(order, str):
        raise ValueError(f"norm: ord must be a number for vectors; got {order!r}.")
    sizes = ag.abs(x)
    if order == 0:
        return ag.reduce_sum(ag.cast(ag.not_equal(sizes, 0), sizes.dtype), -1)
    if abs(order) == float("inf"):
        return (ag.reduce_max if order > 0 else ag.reduce_min)(sizes, -1)
    if order == 1:
        return ag.reduce_sum(sizes, -1)
    if order == 2:
        return ag.sqrt(ag.reduce_sum(ag.square(sizes), -1))
    return ag.pow(ag.reduce_sum(sizes ** float(order), -1), 1.0 / order)


def _of_matrices(x: Tensor, order: Any) -> Tensor:
    if order == "fro":
        return ag.sqrt(ag.reduce_sum(ag.square(ag.abs(x)), [-2, -1]))
    if order in (1, -1, float("inf"), -float("inf")):
        sums = ag.reduce_sum(ag.abs(x), -2 if abs(order) == 1 else -1)
        return (ag.reduce_max if order > 0 else ag.reduce_min)(sums, -1)
    if order not in ("nuc", 2, -2):
        raise ValueError(f"norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices; got {order!r}.")
    wide = ag.cast(x, "float32") if x.dtype.name in ("float16", "bfloat16") else x
    values = ag.svd(wide, compute_uv=False)
    if order == "nuc":
        return ag.cast(ag.reduce_sum(values, -1), x.dtype.real_dtype)
    return ag.cast((ag.reduce_max if order > 0 else ag.reduce_min)(values, -1), x.dtype.real_dtype)
