"""Indexing: NumPy's indexing, by basic slices, ``take`` and ``where``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agog_kernels_xp.standard.array import Array


def known(size: int, shape: Sequence[int]) -> tuple[int, ...]:
    """A shape whose -1 is replaced by what is left of the size."""
    given = math.prod([int(n) for n in shape if n != -1])
    return tuple([int(n) if n != -1 else size // max(given, 1) for n in shape])


def get(x: Array, key: Any) -> Array:
    """Part of an array: a view for integers, slices, None and Ellipsis; rows for masks and arrays of positions."""
    basic, chosen, axis = _split(x, key)
    part = _viewed(x, basic)
    if not chosen:
        return part
    numbers, shape, rows = _rows(part, chosen, axis)
    taken: Array = x.face.wrapped(x.face.xp.take(rows.native, numbers.native, axis=axis))
    return taken.reshape(*part.shape[:axis], *shape, *rows.shape[axis + 1 :])


def put(x: Array, key: Any, value: Any) -> None:
    """Write to part of an array; of several values for one place the last one stays."""
    face = x.face
    basic, chosen, axis = _split(x, key)
    part, value = _viewed(x, basic), face.asarray(value, x.dtype)
    if not chosen:
        place, backwards = _forwards(face, tuple([entry for entry in basic if entry is not None]))
        # A copy, for it may share memory with the target, as in ``x[key] += value``.
        value = face.broadcast_to(value, part.shape).reshape(*x.native[place].shape).copy()
        x.write(place, _flipped(value, backwards).native)
        return
    if axis:
        raise TypeError(f"{face.__name__}: by positions, only the first axes can be written")
    numbers, shape, rows = _rows(part, chosen, axis)
    values = face.broadcast_to(value, (*shape, *rows.shape[1:])).reshape(numbers.size, *rows.shape[1:])
    if values.size:
        key, backwards = _forwards(face, basic)
        x.write(key, _flipped(_with_rows(rows, numbers, values).reshape(part.shape), backwards).native)


def _viewed(x: Array, basic: tuple[Any, ...]) -> Array:
    """A view of an array by integers and slices. One element is read as a slice, which libraries do not copy."""
    if not basic:
        return x
    if all(isinstance(entry, int) for entry in basic):
        element = tuple([slice(entry, entry + 1) for entry in basic])
        return _sliced(x, element).reshape(())
    key, backwards = _forwards(x.face, basic)
    return _flipped(_sliced(x, key), backwards)


def _sliced(x: Array, key: tuple[Any, ...]) -> Array:
    """A view by integers and slices, which a library that cannot write reads anew."""
    place = tuple([entry for entry in key if entry is not None])

    def write(whole: Any, new: Any) -> Any:
        return whole.at[place].set(x.face.xp.reshape(new, whole[place].shape))

    return x.part(lambda whole: whole[key], write)


def _forwards(face: Any, basic: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """A key without steps backwards where the library has none, and the result's axes that are to be turned instead."""
    if face.steps_back:
        return basic, ()
    key: list[Any] = []
    backwards: list[int] = []
    axis = 0
    for entry in basic:
        if isinstance(entry, slice) and entry.step is not None and entry.step < 0:
            count = len(range(entry.start, -1 if entry.stop is None else entry.stop, entry.step))
            backwards.append(axis)
            entry = slice(entry.start + (count - 1) * entry.step, entry.start + 1, -entry.step)
        key.append(entry)
        axis += not isinstance(entry, int)
    return tuple(key), tuple(backwards)


def _flipped(x: Array, axes: tuple[int, ...]) -> Array:
    return x.face.flip(x, axes) if axes else x


def _with_rows(target: Array, positions: Array, values: Array) -> Any:
    """The rows of an array, or for those whose number is among the positions the last value that is meant for them."""
    face = target.face
    numbers = face.arange(len(target))
    order = face.argsort(positions, kind="stable")
    ordered = face.take(positions, order, 0)
    last = face.maximum(face.searchsorted(ordered, numbers, "right") - 1, 0)
    is_named = (face.take(ordered, last, 0) == numbers).reshape(-1, *(1,) * (target.ndim - 1))
    return face.where(is_named, face.take(values, face.take(order, last, 0), 0), target)


def _split(x: Array, key: Any) -> tuple[tuple[Any, ...], list[Array], int]:
    """A key's integers and slices, which give a view; its masks and positions, and the first of the view's axes that
    they are for.
    """
    entries = [_entry(x, entry) for entry in (key if isinstance(key, tuple) else (key,))]
    used = sum(map(_axes, entries))
    if not any(entry is Ellipsis for entry in entries):
        entries.append(Ellipsis)
    basic: list[Any] = []
    chosen: list[Array] = []
    axis = kept = first = 0
    for entry in entries:
        if entry is None:
            basic.append(None)
            kept += 1
            continue
        if isinstance(entry, int | slice):
            basic.append(_within(entry, x.shape[axis]))
            axis, kept = axis + 1, kept + isinstance(entry, slice)
            continue
        width = x.ndim - used if entry is Ellipsis else _axes(entry)
        if entry is not Ellipsis:
            first = first if chosen else kept
            chosen.append(entry)
        basic += [slice(None)] * width
        axis, kept = axis + width, kept + width
    return tuple(basic), chosen, first


def _rows(x: Array, chosen: list[Array], axis: int) -> tuple[Array, tuple[int, ...], Array]:
    """The axes from one on for which there are masks or positions as one: the numbers of what is chosen among its
    elements, the shape in which they were given, and the array with that axis.
    """
    face = x.face
    sizes = x.shape[axis : axis + sum(map(_axes, chosen))]
    rows = x.reshape(*x.shape[:axis], math.prod(sizes), *x.shape[axis + len(sizes) :])
    if chosen[0].dtype.kind == "b":
        (numbers,) = face.nonzero(chosen[0].reshape(-1))
        return numbers, numbers.shape, rows
    total = face.asarray(0, "int64")
    for positions, size in zip(chosen, sizes, strict=True):
        total = total * size + face.where(positions < 0, positions + size, positions)
    return total.reshape(-1), total.shape, rows


def _entry(x: Array, entry: Any) -> Any:
    """An entry of a key: integers as Python's, lists as arrays."""
    if isinstance(entry, list):
        return x.face.asarray(entry, "int64")
    if hasattr(entry, "face"):
        return entry if entry.ndim or entry.dtype.kind == "b" else int(entry)
    return entry if entry is None or entry is Ellipsis or isinstance(entry, slice) else int(entry)


def _axes(entry: Any) -> int:
    """How many axes of the array an entry of a key is for."""
    if entry is None or entry is Ellipsis:
        return 0
    return int(entry.ndim) if hasattr(entry, "face") and entry.dtype.kind == "b" else 1


def _within(entry: Any, size: int) -> Any:
    """An integer or a slice inside of an axis: the standard leaves open what others mean."""
    if isinstance(entry, int):
        return entry + size if entry < 0 else entry
    start, stop, step = entry.indices(size)
    if len(range(start, stop, step)) == 0:
        return slice(0, 0)
    return slice(start, None if stop < 0 else stop, step)
