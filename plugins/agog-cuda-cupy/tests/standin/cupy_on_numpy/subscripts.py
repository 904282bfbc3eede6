"""Subscripts: elements of arrays by indices. CuPy checks none on the device: those out of range wrap around."""

from __future__ import annotations

from typing import Any

import numpy as np
from cupy_on_numpy.arrays import ndarray, owner, wrapped
from cupy_on_numpy.counting import launch, upload, wait


def getitem(self: ndarray, key: Any) -> Any:
    """A view for slices and numbers, a copy for arrays of indices."""
    parts, is_advanced = _parts(key, waits_for_masks=True)
    if is_advanced:
        launch("getitem")
        return wrapped(np.array(self._memory[_around(self, parts)], order="C"))
    return wrapped(self._memory[parts if any(part is Ellipsis for part in parts) else (*parts, ...)], owner(self))


def setitem(self: ndarray, key: Any, value: Any) -> None:
    """Write elements. Of several updates to one place any may win on a device; here it is the first, not the last."""
    launch("setitem")
    memory = value._memory if isinstance(value, ndarray) else value
    if isinstance(value, np.ndarray) and value.ndim:
        upload("host array assigned")
    parts, is_advanced = _parts(key, waits_for_masks=bool(np.ndim(memory)))
    if is_advanced and len(parts) == 1 and parts[0].dtype.kind in "iu":
        (at,) = _around(self, parts)
        values = np.broadcast_to(np.asarray(memory, self.dtype), (*at.shape, *self.shape[1:]))
        self._memory[at.reshape(-1)[::-1]] = values.reshape(at.size, *self.shape[1:])[::-1]
        return
    with np.errstate(all="ignore"):
        self._memory[_around(self, parts) if is_advanced else parts] = (
            np.asarray(memory).astype(self.dtype) if isinstance(memory, np.ndarray) else memory
        )


def _parts(key: Any, waits_for_masks: bool) -> tuple[tuple[Any, ...], bool]:
    """The parts of a key for NumPy, and whether there are arrays among them."""
    parts = [_part(part) for part in (key if isinstance(key, tuple) else (key,))]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    for array in arrays:
        if array.dtype.kind == "b" and waits_for_masks:
            wait("boolean mask")
        elif array.dtype.kind not in "biu":
            raise IndexError("arrays used as indices must be of integer or boolean type.")
    return tuple(parts), bool(arrays)


def _part(part: Any) -> Any:
    if isinstance(part, ndarray):
        return part._memory
    if isinstance(part, (list, np.ndarray)):
        upload("indices of the host")
        return np.asarray(part)
    if isinstance(part, (bool, np.bool_)):
        return np.asarray(part)
    if isinstance(part, np.integer):
        return int(part)
    if part is None or part is Ellipsis or isinstance(part, (int, slice)):
        return part
    raise IndexError(f"only ints, slices, ..., newaxis and arrays are valid indices, not {type(part)}")


def _around(self: ndarray, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts of a key, with indices in arrays taken modulo the sizes of their axes."""
    taken = sum(_axes(part) for part in parts)
    out, axis = [], 0
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype.kind in "iu" and self.shape[axis]:
            part = part.astype(np.int64) % self.shape[axis]
        out.append(part)
        axis += self.ndim - taken if part is Ellipsis else _axes(part)
    return tuple(out)


def _axes(part: Any) -> int:
    """How many axes a part of a key takes; the dots take what is left."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1


ndarray.__getitem__ = getitem  # type: ignore[attr-defined]
ndarray.__setitem__ = setitem  # type: ignore[attr-defined]
