"""Indexing, as in NumPy: positions, slices, new axes, arrays of positions, and masks between brackets.

The rules are those of https://numpy.org/doc/stable/user/basics.indexing.html.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype, int64
from agog_core.errors import InvalidArgumentError
from agog_core.named_tuple import Named
from agog_core.ops.array.reshaping import reshape, transpose
from agog_core.ops.array.slicing import check_entries, cut, out_of_bounds
from agog_core.ops.indexing.gathering import gather_nd
from agog_core.shapes import Shape
from agog_core.tensors.convert import convert_to_tensor, from_host, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["boolean_mask"]

Array = np.ndarray[Any, Any]

_BASIC = frozenset({int, builtins.slice, type(None), type(...)})
_WHOLE = builtins.slice(None)


def getitem(tensor: TensorLike, key: Any) -> Tensor:
    """What ``tensor[key]`` gives: the key is an int, a slice, ``...``, None, a scalar of integers, positions along an
    axis (integers), a mask of one or several axes (bools), or a tuple of those.

    >>> print(getitem([[1, 2], [3, 4]], (..., 0)))
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    >>> print(getitem([10, 20, 30], [2, 0]), getitem([10, 20, 30], [True, False, True]))
    tf.Tensor([30 10], shape=(2,), dtype=int32) tf.Tensor([10 30], shape=(2,), dtype=int32)
    """
    x = tensor if type(tensor) is Tensor else convert_to_tensor(tensor)
    entries = key if type(key) is tuple else (key,)
    if _BASIC.issuperset(map(type, entries)):
        return cut(x, entries)
    picks = [is_advanced(entry) for entry in entries]
    return _pick(x, entries, picks) if True in picks else cut(x, entries)


def boolean_mask(tensor: TensorLike, mask: TensorLike, name: str | None = "boolean_mask", axis: Any = None) -> Tensor:
    """Pick the elements or slices of a tensor for which a mask holds.

    Args:
        tensor: a tensor.
        mask: a bool tensor, of rank at least 1 and of the shape of the tensor's axes that begin with ``axis``.
        axis: where the mask's axes begin; 0 by default.

    Returns:
        A tensor in which one axis stands for the mask's.

    Raises:
        ValueError: the mask is a scalar, or the shapes do not fit.

    >>> print(boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]))
    tf.Tensor(
    [[1 2]
     [5 6]], shape=(2, 2), dtype=int32)
    """
    x, start = convert_to_tensor(tensor), 0 if axis is None else int(convert_to_tensor(axis))
    if type(mask) is Tensor and mask._table.traces and mask._shape and x._shape[start:][: mask.ndim] == mask._shape:
        return _masked(x, mask, start)
    chosen = host_value(mask) != 0
    if not chosen.ndim:
        raise ValueError("boolean_mask: mask must not be a scalar; give one element for each slice.")
    if not 0 <= start <= len(x._shape) - chosen.ndim or x._shape[start : start + chosen.ndim] != chosen.shape:
        raise ValueError(
            f"boolean_mask: a mask of shape {chosen.shape} does not fit a tensor of shape {x._shape} from axis {start} "
            "on."
        )
    return getitem(x, (*[builtins.slice(None)] * start, chosen))


def _masked(x: Tensor, mask: Tensor, start: int) -> Tensor:
    """`boolean_mask` by ops, of which only the number of elements depends on the mask's values."""
    from agog_core.ops.indexing.gathering import gather  # here, because most masks are on the host
    from agog_core.ops.math.logic import where

    flat = reshape(x, (*x._shape[:start], mask.size, *x._shape[start + mask.ndim :]))
    return gather(flat, reshape(where(reshape(mask, (mask.size,))), (-1,)), axis=start)


def is_advanced(entry: Any) -> bool:
    """Whether an entry is a mask or an array of positions, which picks elements one by one; a scalar of integers is
    neither.

    >>> is_advanced([0, 1]), is_advanced(True), is_advanced(np.int32(1))
    (True, True, False)
    """
    if isinstance(entry, (bool, list, tuple, range)):
        return True
    if type(entry) is Tensor:
        return bool(entry._shape) or entry._table.dtype.is_bool
    if not hasattr(entry, "shape") or not hasattr(entry, "dtype"):
        return False
    return len(tuple(entry.shape)) > 0 or as_dtype(entry.dtype).is_bool


class _Picks(Named):
    """Arrays of positions, and the axes of the sliced tensor that they are for."""

    arrays: list[Array]
    axes: list[int]
    shape: Shape  # of all the arrays together


def _pick(x: Tensor, entries: tuple[Any, ...], picks: list[bool]) -> Tensor:
    """Slice by the basic entries, then pick by the others."""
    listed = [_array(e) if is_pick else _scalar(e) for e, is_pick in zip(entries, picks, strict=True)]
    named = sum(map(_width, listed))
    check_entries(x._shape, listed, named)
    shape = _common_shape([_picked_shape(entry) for entry in listed if isinstance(entry, np.ndarray)])
    slices: list[Any] = []
    arrays: list[Array] = []
    axes: list[int] = []
    picking: list[int] = []  # which entries pick; beside arrays, ints do
    place = axis = out = 0
    for number, entry in enumerate(listed):
        width = len(x._shape) - named if entry is Ellipsis else _width(entry)
        if not _slices(entry):
            place = place if picking else out
            picking.append(number)
        if isinstance(entry, np.ndarray):
            # NumPy does not look at positions of which it picks none.
            arrays += _positions(entry, x._shape, axis, checks=0 not in shape)
            axes += range(out, out + width)
            slices += [_WHOLE] * width
            out += width
        else:
            slices.append(entry)
            out += width if entry is Ellipsis else _slices(entry)
        axis += width
    is_together = picking[-1] - picking[0] + 1 == len(picking)
    part = x if all(entry is _WHOLE for entry in slices) else cut(x, tuple(slices))
    return _gathered(part, _Picks(arrays, axes, shape), place if is_together else 0)


def _gathered(part: Tensor, picks: _Picks, place: int) -> Tensor:
    """Bring the axes to the front, gather, and put the axes of the arrays of positions at a place of the result."""
    rest = [axis for axis in range(len(part._shape)) if axis not in picks.axes]
    positions = np.empty((*picks.shape, len(picks.arrays)), np.int64)
    for number, array in enumerate(picks.arrays):
        positions[..., number] = array
    at = from_host(positions, part._table.device.table(int64))
    found = gather_nd(_ordered(part, (*picks.axes, *rest)), at)
    new = len(picks.shape)
    back = (*range(new, new + place), *range(new), *range(new + place, new + len(rest)))
    return _ordered(found, back)


def _ordered(x: Tensor, axes: Shape) -> Tensor:
    return x if axes == tuple(range(len(axes))) else transpose(x, axes)


def _array(entry: Any) -> Array:
    """A mask or an array of positions on the host."""
    host = np.asarray(entry) if isinstance(entry, range) else host_value(entry)
    if not host.size and not hasattr(entry, "dtype"):
        return host.astype(np.int64)  # an empty list would be one of floats
    if host.dtype.kind not in "biu":
        raise TypeError(
            "Tensor indices are ints, slices, ..., None, and tensors of integers or bools; got a value of dtype "
            f"{as_dtype(host.dtype).name} and shape {host.shape}."
        )
    return host


def _scalar(entry: Any) -> Any:
    """What is no array, also where it looks like one."""
    return entry[()] if isinstance(entry, np.ndarray) else entry


def _width(entry: Any) -> int:
    """How many axes an entry is for; an ellipsis is for those that are left."""
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if isinstance(entry, np.ndarray) and entry.dtype.kind == "b" else 1


def _slices(entry: Any) -> bool:
    """Whether an entry keeps axes, or makes a new one."""
    return entry is None or entry is Ellipsis or isinstance(entry, builtins.slice)


def _positions(entry: Array, shape: Shape, axis: int, *, checks: bool) -> list[Array]:
    """The positions that a mask or an array stands for, an array for each axis, counted from the front."""
    if entry.dtype.kind == "b":
        lengths = shape[axis : axis + entry.ndim]
        # To NumPy, a mask that is empty along an axis fits any.
        if any(size not in (0, length) for size, length in zip(entry.shape, lengths, strict=True)):
            raise InvalidArgumentError(
                f"strided_slice: a mask of shape {entry.shape} does not fit axes {axis} to {axis + entry.ndim - 1} of "
                f"a tensor of shape {shape}."
            )
        return list(np.nonzero(entry)) if entry.ndim else []
    length = shape[axis]
    lowest = int(entry.min()) if entry.size else 0
    if checks and entry.size and not (-length <= lowest and int(entry.max()) < length):
        raise out_of_bounds(int(entry[(entry < -length) | (entry >= length)][0]), axis, length)
    positions = entry.astype(np.int64, copy=False)
    return [np.where(positions < 0, positions + length, positions) if lowest < 0 else positions]


def _picked_shape(entry: Array) -> Shape:
    return (int(np.count_nonzero(entry)),) if entry.dtype.kind == "b" else entry.shape


def _common_shape(shapes: list[Shape]) -> Shape:
    if len(shapes) == 1:
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise InvalidArgumentError(
            f"strided_slice: masks and arrays of positions must broadcast; theirs are shapes {listed}."
        ) from None
