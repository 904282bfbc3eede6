"""Manipulation: the standard's functions to reshape, join and index arrays.

https://data-apis.org/array-api/2025.12/API_specification/manipulation_functions.html
"""

from __future__ import annotations

import builtins
import functools
from typing import Any

from agog_core import shapes
from agog_core.array_api.promotion import promoted
from agog_core.calls import broadcasting
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import joining, reversing, tiling
from agog_core.ops.array import reshaping as ops
from agog_core.ops.array.casting import cast
from agog_core.ops.indexing import repeating
from agog_core.ops.indexing.gathering import gather
from agog_core.ops.indexing.take_along import take_along
from agog_core.ops.math.logic import where
from agog_core.shapes import Shape, normalize_axes, normalize_axis
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "unstack",
]

Axes = int | tuple[int, ...]


def _listed(axes: Axes) -> tuple[int, ...]:
    return tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)


def broadcast_shapes(*shapes_: Shape) -> Shape:
    """The shape that shapes broadcast to, or ValueError."""
    try:
        return functools.reduce(functools.partial(shapes.broadcast_shapes, "broadcast_shapes"), map(tuple, shapes_), ())
    except InvalidArgumentError as error:
        raise ValueError(str(error)) from None


def broadcast_to(x: TensorLike, /, shape: Shape) -> Tensor:
    """An array repeated to a shape."""
    return broadcasting.broadcast_to(x, tuple(shape))


def broadcast_arrays(*arrays: TensorLike) -> tuple[Tensor, ...]:
    """Arrays repeated to their common shape, each in its own dtype."""
    tensors = [convert_to_tensor(array) for array in arrays]
    shape = broadcast_shapes(*(tensor._shape for tensor in tensors))
    return tuple(broadcasting.broadcast_to(tensor, shape) for tensor in tensors)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Tensor:
    """Arrays joined along an axis, after promotion; with axis None, flattened first."""
    tensors = promoted(*arrays)
    if axis is None:
        return joining.concat([ops.reshape(tensor, (-1,)) for tensor in tensors], 0)
    return joining.concat(tensors, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    """Arrays laid side by side along a new axis, after promotion."""
    return joining.stack(promoted(*arrays), axis)


def unstack(x: TensorLike, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of an array along an axis."""
    return tuple(joining.unstack(x, axis=axis))


def expand_dims(x: TensorLike, /, axis: Axes) -> Tensor:
    """An array with new axes of size 1; one out of range raises IndexError."""
    tensor = convert_to_tensor(x)
    rank = len(tensor._shape) + len(_listed(axis))
    try:
        new = normalize_axes("expand_dims", _listed(axis), rank)
    except InvalidArgumentError as error:
        raise IndexError(str(error)) from None
    old = iter(tensor._shape)
    return ops.reshape(tensor, tuple(1 if position in new else next(old) for position in builtins.range(rank)))


def squeeze(x: TensorLike, /, axis: Axes) -> Tensor:
    """An array without some axes of size 1, of which one of another size raises ValueError."""
    tensor = convert_to_tensor(x)
    try:
        return ops.squeeze(tensor, _listed(axis)) if _listed(axis) else tensor
    except InvalidArgumentError as error:
        raise ValueError(str(error)) from None


def reshape(x: TensorLike, /, shape: Shape, *, copy: bool | None = None) -> Tensor:
    """The elements of an array in another shape. Memory is shared if possible, regardless of `copy`: nobody can write
    it.
    """
    return ops.reshape(x, tuple(shape))


def permute_dims(x: TensorLike, /, axes: tuple[int, ...]) -> Tensor:
    """The axes of an array in another order."""
    tensor = convert_to_tensor(x)
    return ops.transpose(tensor, [normalize_axis("permute_dims", axis, len(tensor._shape)) for axis in axes])


def moveaxis(x: TensorLike, source: Axes, destination: Axes, /) -> Tensor:
    """Some axes of an array put to other places."""
    tensor = convert_to_tensor(x)
    rank = len(tensor._shape)
    old, new = ([normalize_axis("moveaxis", axis, rank) for axis in _listed(axes)] for axes in (source, destination))
    order = [axis for axis in builtins.range(rank) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return ops.transpose(tensor, order)


def flip(x: TensorLike, /, *, axis: Axes | None = None) -> Tensor:
    """The elements of an array in reverse order along some axes, or all."""
    tensor = convert_to_tensor(x)
    return reversing.reverse(tensor, normalize_axes("flip", axis, len(tensor._shape))) if tensor._shape else tensor


def roll(x: TensorLike, /, shift: Axes, *, axis: Axes | None = None) -> Tensor:
    """The elements of an array shifted along some axes, or flattened; those that leave at one end come back at the
    other.
    """
    tensor = convert_to_tensor(x)
    if axis is None:
        return ops.reshape(reversing.roll(ops.reshape(tensor, (-1,)), shift, 0), tensor._shape)
    axes, shifts = _listed(axis), _listed(shift)
    return reversing.roll(tensor, shifts * len(axes) if len(shifts) == 1 else shifts, axes)


def tile(x: TensorLike, repetitions: tuple[int, ...], /) -> Tensor:
    """Copies of an array laid side by side; repetitions count from the last axis, and missing ones are 1."""
    tensor, counts = convert_to_tensor(x), tuple(repetitions)
    rank = builtins.max(len(tensor._shape), len(counts))
    padded = ops.reshape(tensor, (1,) * (rank - len(tensor._shape)) + tensor._shape)
    return tiling.tile(padded, (1,) * (rank - len(counts)) + counts) if rank else tensor


def repeat(x: TensorLike, repeats: TensorLike, /, *, axis: int | None = None) -> Tensor:
    """Each element of an array several times in a row, along an axis or flattened."""
    return repeating.repeat(x, repeats, axis)


def take(x: TensorLike, indices: TensorLike, /, *, axis: int | None = None) -> Tensor:
    """Parts of an array along an axis, by a vector of positions, of which negative ones count from the end."""
    tensor = convert_to_tensor(x)
    along = normalize_axis("take", 0 if axis is None else axis, len(tensor._shape))
    return gather(tensor, _from_front(indices, tensor._shape[along]), axis=along)


def take_along_axis(x: TensorLike, indices: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Elements along an axis, by positions that differ from row to row; negative ones count from the end."""
    tensor, positions = convert_to_tensor(x), convert_to_tensor(indices)
    along = normalize_axis("take_along_axis", axis, len(tensor._shape))
    rows, picks = moveaxis(tensor, along, -1), moveaxis(positions, along, -1)
    batch = broadcast_shapes(rows._shape[:-1], picks._shape[:-1])
    rows, picks = (broadcasting.broadcast_to(each, (*batch, each._shape[-1])) for each in (rows, picks))
    return moveaxis(take_along(rows, _from_front(picks, rows._shape[-1])), -1, along)


def _from_front(indices: TensorLike, length: int) -> Tensor:
    """Positions of int64 counted from the front, of which the negative ones counted from the end."""
    positions = cast(indices, "int64")
    return where(positions < 0, positions + length, positions)
