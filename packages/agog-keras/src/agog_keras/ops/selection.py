"""Selection: functions of ``tf.keras.ops`` that choose and move elements, with NumPy's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, array_api, convert_to_tensor
from agog_core.calls.docstrings import documented_like
from agog_core.ops.sorting.sorting import top_k as core_top_k
from agog_core.tensors.convert import fixed
from agog_keras.ops.dtypes import alike, numbers

__all__ = [
    "argsort",
    "clip",
    "cumprod",
    "cumsum",
    "expand_dims",
    "flip",
    "isin",
    "nonzero",
    "pad",
    "roll",
    "searchsorted",
    "take",
    "take_along_axis",
    "tile",
    "top_k",
    "tril",
    "triu",
    "where",
]


def argsort(x: TensorLike, axis: int | None = -1) -> Tensor:
    """The places of the elements, the smallest first.

    Args:
        x: a tensor.
        axis: the axis; None for all elements in a row.

    Returns:
        A tensor of int32.

    >>> argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    tensor = numbers(x)
    if axis is None or not tensor._shape:
        return ag.argsort(ag.reshape(tensor, [-1]), stable=True)
    return ag.argsort(tensor, axis, stable=True)


def clip(x: TensorLike, x_min: TensorLike, x_max: TensorLike) -> Tensor:
    """Numbers within bounds: those beyond are the bound.

    Args:
        x: a tensor.
        x_min: the least.
        x_max: the largest.

    Returns:
        A tensor of the dtype of ``x``, and of int32 for bools.

    >>> clip([1, 5], 0, 2.5).numpy().tolist()
    [1, 2]
    """
    tensor, low, high = map(numbers, alike(x, x_min, x_max))
    return ag.cast(ag.minimum(ag.maximum(tensor, low), high), numbers(x).dtype)


def cumsum(x: TensorLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sums of the elements so far.

    Args:
        x: a tensor.
        axis: the axis; None for all elements in a row.
        dtype: the dtype; None for the tensor's, and int32 for bools.

    Returns:
        A tensor.

    >>> cumsum([[1, 2], [3, 4]]).numpy().tolist()
    [1, 3, 6, 10]
    """
    return _scan(ag.cumsum, x, axis, dtype)


@documented_like(cumsum)
def cumprod(x: TensorLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The products of the elements so far. See `cumsum`."""
    return _scan(ag.cumprod, x, axis, dtype)


def _scan(function: Any, x: TensorLike, axis: int | None, dtype: Any) -> Tensor:
    tensor = numbers(x) if dtype is None else ag.cast(x, dtype)
    found: Tensor = function(ag.reshape(tensor, [-1]) if axis is None else tensor, axis or 0)
    return found


def expand_dims(x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """Put in axes of size 1.

    Args:
        x: a tensor.
        axis: where the result has them.

    Returns:
        A tensor.

    >>> expand_dims([1, 2], (0, 2)).shape
    TensorShape([1, 2, 1])
    """
    tensor = convert_to_tensor(x)
    places = [axis] if isinstance(axis, int) else list(axis)
    rank = tensor.ndim + len(places)
    for place in sorted(place % rank for place in places):
        tensor = ag.expand_dims(tensor, place)
    return tensor


def flip(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """Turn axes round.

    Args:
        x: a tensor.
        axis: the axes; None for all.

    Returns:
        A tensor of the same shape.

    >>> flip([1, 2]).numpy().tolist()
    [2, 1]
    """
    tensor = convert_to_tensor(x)
    axes = range(tensor.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return ag.reverse(tensor, list(axes)) if tensor.ndim else tensor


def isin(x1: TensorLike, x2: TensorLike, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether elements are among others.

    Args:
        x1: a tensor.
        x2: the others.
        invert: whether to ask for those that are not.

    Returns:
        A tensor of bools, of the shape of ``x1``.

    >>> isin([1, 2], [2, 5]).numpy().tolist()
    [False, True]
    """
    return array_api.isin(*map(numbers, alike(x1, x2)), invert=invert)


def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """The places of what is not 0.

    Args:
        x: a tensor.

    Returns:
        For each axis a tensor of int32.

    >>> [places.numpy().tolist() for places in nonzero([[0, 1], [2, 0]])]
    [[0, 1], [1, 0]]
    """
    return tuple(ag.cast(places, "int32") for places in array_api.nonzero(numbers(x)))


def pad(x: TensorLike, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Tensor:
    """Put a margin around a tensor.

    Args:
        x: a tensor.
        pad_width: how many elements: a number, two for before and behind, or two for each axis.
        mode: ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.
        constant_values: the margin's value; None for 0.

    Returns:
        A tensor.

    Raises:
        NotImplementedError: the mode is another.

    >>> pad([1, 2], 1, constant_values=7).numpy().tolist()
    [7, 1, 2, 7]
    """
    tensor = convert_to_tensor(x)
    given = [pad_width] if isinstance(pad_width, int) else list(pad_width)
    pairs = [[part, part] if isinstance(part, int) else list(part) * (2 // len(part)) for part in given]
    if len(given) == 2 and all(isinstance(part, int) for part in given):
        pairs = [given]
    pairs = pairs * tensor.ndim if len(pairs) == 1 else pairs
    if mode == "edge":
        for axis, (before, behind) in enumerate(pairs):
            size = tensor._shape[axis]
            places = [0] * before + list(range(size)) + [size - 1] * behind
            tensor = ag.gather(tensor, places, axis=axis)
        return tensor
    if mode not in ("constant", "reflect", "symmetric"):
        raise NotImplementedError(f"pad: mode must be 'constant', 'edge', 'reflect' or 'symmetric'; got {mode!r}.")
    value = 0 if constant_values is None else constant_values
    if mode == "constant" and tensor.dtype.is_bool:
        return ag.cast(ag.pad(ag.cast(tensor, "uint8"), pairs, constant_values=int(bool(value))), "bool")
    return ag.pad(tensor, pairs, mode.upper(), constant_values=value)


def roll(x: TensorLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
    """Move elements along axes; those that leave at an end come in at the other.

    Args:
        x: a tensor.
        shift: how far.
        axis: the axes; None for all elements in a row.

    Returns:
        A tensor of the same shape.

    >>> roll([[1, 2], [3, 4]], 1).numpy().tolist()
    [[4, 1], [2, 3]]
    """
    tensor = convert_to_tensor(x)
    if axis is None:
        return ag.reshape(ag.roll(ag.reshape(tensor, [-1]), shift, 0), tensor._shape)
    return ag.roll(tensor, shift, axis)


def searchsorted(sorted_sequence: TensorLike, values: TensorLike, side: str = "left") -> Tensor:
    """Where values would have to be put in for a sequence to stay in order.

    Args:
        sorted_sequence: the sequence, the smallest element first.
        values: the values.
        side: ``"left"`` or ``"right"``: before or behind those of one size.

    Returns:
        A tensor of int32.

    >>> searchsorted([1, 3, 5], [3, 4]).numpy().tolist()
    [1, 2]
    """
    sequence, each = map(numbers, alike(sorted_sequence, values))
    return ag.searchsorted(sequence, each, side)


def take(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """The elements at some places.

    Args:
        x: a tensor.
        indices: integers; negative ones count from the end.
        axis: the axis; None for all elements in a row.

    Returns:
        A tensor.

    >>> take([[1, 2], [3, 4]], [-1], axis=1).numpy().tolist()
    [[2], [4]]
    """
    tensor, places = convert_to_tensor(x), convert_to_tensor(indices)
    flat = ag.reshape(tensor, [-1]) if axis is None else tensor
    if not places.dtype.is_unsigned:
        size = flat._shape[axis or 0]
        places = ag.where(places < 0, places + size, places)
    return ag.gather(flat, places, axis=axis or 0)


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """The elements at places of their own for each vector along an axis.

    Args:
        x: a tensor.
        indices: integers, of the shape of ``x`` but for the axis.
        axis: the axis; None for all elements in a row.

    Returns:
        A tensor of the shape of ``indices``.

    >>> take_along_axis([[1, 2], [3, 4]], [[1], [0]], 1).numpy().tolist()
    [[2], [3]]
    """
    tensor = convert_to_tensor(x)
    return array_api.take_along_axis(
        ag.reshape(tensor, [-1]) if axis is None else tensor, convert_to_tensor(indices), axis=axis or 0
    )


def tile(x: TensorLike, repeats: int | Sequence[int]) -> Tensor:
    """Repeat a tensor along its axes.

    Args:
        x: a tensor.
        repeats: how often, along the last axes.

    Returns:
        A tensor.

    >>> tile([1, 2], 2).numpy().tolist()
    [1, 2, 1, 2]
    """
    tensor = convert_to_tensor(x)
    times = [repeats] if isinstance(repeats, int) else [int(each) for each in fixed(convert_to_tensor(repeats))]
    rank = max(tensor.ndim, len(times))
    sizes = [1] * (rank - tensor.ndim) + list(tensor._shape)
    return ag.tile(ag.reshape(tensor, sizes), [1] * (rank - len(times)) + times)


def top_k(x: TensorLike, k: int, sorted: bool = True) -> Any:
    """The largest elements of the last axis, and their places.

    Args:
        x: a tensor.
        k: how many.
        sorted: whether the largest is first.

    Returns:
        The elements, and a tensor of int32.

    >>> [part.numpy().tolist() for part in top_k([1, 3, 2], 2)]
    [[3, 2], [1, 2]]
    """
    tensor = convert_to_tensor(x)
    values, places = core_top_k(numbers(tensor), k, sorted)
    return ag.cast(values, tensor.dtype), places


def tril(x: TensorLike, k: int = 0) -> Tensor:
    """Matrices with zeros above a diagonal.

    Args:
        x: matrices, or a vector that is each row of one.
        k: the diagonal: above the main one where it is positive.

    Returns:
        A tensor.

    >>> tril([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 0], [3, 4]]
    """
    return array_api.tril(_rows(x), k=k)


@documented_like(tril)
def triu(x: TensorLike, k: int = 0) -> Tensor:
    """Matrices with zeros below a diagonal. See `tril`.

    Args:
        k: the diagonal.
    """
    return array_api.triu(_rows(x), k=k)


def _rows(x: TensorLike) -> Tensor:
    tensor = convert_to_tensor(x)
    return ag.broadcast_to(tensor, [tensor._shape[0]] * 2) if tensor.ndim == 1 else tensor


def where(condition: TensorLike, x1: TensorLike = None, x2: TensorLike = None) -> Any:
    """Elements of one tensor or of another.

    Args:
        condition: which: of the first where it is not 0.
        x1: the first tensor; without both, the places where the condition is not 0 are meant.
        x2: the other tensor.

    Returns:
        A tensor, of the dtype that holds both; or the places, see `nonzero`.

    >>> where([True, False], [1, 2], 0.5).numpy().tolist()
    [1.0, 0.5]
    """
    if x1 is None and x2 is None:
        return nonzero(condition)
    first, second = alike(x1, x2)
    return ag.where(ag.cast(condition, "bool"), first, second)
