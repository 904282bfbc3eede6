"""Saved values: checked against the objects of a program, and assigned to them."""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from agog_checkpoint.graph import DTYPES, SavedVariable
from agog_checkpoint.matches import Matches
from agog_checkpoint.objects import WeakIdentityMap
from agog_checkpoint.python_state import ArrayPart
from agog_checkpoint.safetensors_file import Array
from agog_core import Checkpointable, DType, TensorShape, Variable
from agog_core.dispatch.devices.lookup import default_device
from agog_core.processes import share_of
from agog_core.random import Generator
from agog_core.tensors.convert import from_host
from agog_core.tracers import apart
from agog_core.variables.memory import lend

_LEAST_BORROWED = 16_384  # elements; smaller ones are copied, because they would keep a whole file mapped
_numbers = itertools.count(1)  # the next number of a restore, which orders those that wait
# The number of the latest restore that gave an object its state. An earlier restore that still waits must not undo it.
_restored_by: WeakIdentityMap[int] = WeakIdentityMap()


class SavedValues:
    """The values of one restore, and which of them were cast: see `Restore` for ``cast`` and ``borrow``."""

    def __init__(self, path: str, matches: Matches, arrays: Mapping[str, Array], cast: bool, borrow: bool) -> None:
        self.casts: list[str] = []
        self._path = path
        self._matches = matches
        self._arrays = arrays
        self._cast = cast
        self._borrow = borrow
        # A mapping may give one value to several variables, which must not share their memory.
        counts = Counter(variable.key for variable in matches.graph.variables())
        self._copied = {key for key, count in counts.items() if count > 1}
        self._number = next(_numbers)
        self._generators: list[weakref.ref[Generator]] = []

    def fault(self, number: int, value: Any) -> str | None:
        """Why an object does not fit its node."""
        saved = self._matches.graph.nodes[number].variable
        array = None if saved is None else self._arrays[saved.key]
        return misfit(self._matches.paths.get(number, ""), saved, array, value, self._cast)

    def is_superseded(self, value: Any) -> bool:
        """Whether a later restore has given an object its state."""
        return (_restored_by.get(value) or 0) > self._number

    def give(self, objects: Mapping[int, Any]) -> None:
        """Give objects their state, that of other objects first: they may refuse it, variables cannot."""
        nodes = self._matches.graph.nodes
        undo: list[tuple[Checkpointable, dict[str, Any]]] = []
        for number, value in objects.items():
            state = nodes[number].state
            if state is not None:
                undo.append((value, value.checkpoint_state()))
                try:
                    value.restore_checkpoint_state(state)
                except BaseException as error:
                    which = repr(self._matches.labels[number])
                    error.add_note(f"This happened while {which} was restored from checkpoint {self._path!r}.")
                    self._matches.rejected.add(number)
                    for other, before in reversed(undo):
                        with suppress(Exception):  # the one that has refused its state may be broken
                            other.restore_checkpoint_state(before)
                    raise
        with apart():  # a variable that a traced function makes is restored once, and not at each call
            for number, value in objects.items():
                saved = nodes[number].variable
                if saved is not None:
                    self._assign(value, saved)
                _restored_by.set(value, self._number)
                if isinstance(value, Generator):
                    value.spare_initial_values(True)
                    self._generators.append(weakref.ref(value))

    def _assign(self, value: Any, saved: SavedVariable) -> None:
        array = self._arrays[saved.key]
        if isinstance(value, ArrayPart):
            value.array = array.copy()
            return
        tensor = value._current()
        present = tensor._table
        share = share_of(value) if array.shape != tensor._shape else None
        if share is not None:
            array = array.reshape(-1)[share.begin : share.end].reshape(tensor._shape)
        if saved.dtype != present.dtype.name:
            array = array.astype(present.dtype.numpy_dtype)
            self.casts.append(f"{saved.key} from {saved.dtype} to {present.dtype.name}")
        if self._borrow and share is None and array.size >= _LEAST_BORROWED and saved.key not in self._copied:
            lend(from_host(array, present), value)
        else:  # assigning copies; making the tensor does not
            value.assign(from_host(array, default_device().table(present.dtype)))

    def end(self) -> None:
        """Let restored generators give initial values again: no variable waits for its value any more."""
        for reference in self._generators:
            # A later restore that waits for variables has said the same of it.
            if (generator := reference()) is not None and not self.is_superseded(generator):
                generator.spare_initial_values(False)


def obstacle(value: Array, saved: DType, dtype: DType) -> str | None:
    """Why a value cannot be cast from a saved dtype to a variable's: what would be lost; None if only precision is.

    >>> from agog_core import float32, int32, int8
    >>> obstacle(np.array([300], np.int32), int32, int8)
    'int8 does not hold all of its values'
    >>> obstacle(np.array([1.5], np.float32), float32, int32)
    'a cast from float32 to int32 loses more than precision'
    """
    if _rank(saved) > _rank(dtype):
        return f"a cast from {saved.name} to {dtype.name} loses more than precision"
    with np.errstate(over="ignore"):
        result = value.astype(dtype.numpy_dtype)
    held = np.isfinite(result) | ~np.isfinite(value) if _rank(dtype) > 1 else result == value
    return None if held.all() else f"{dtype.name} does not hold all of its values"


def misfit(path: str, saved: SavedVariable | None, array: Array | None, value: Any, cast: bool) -> str | None:
    """Why an object does not fit what was saved at a path: a variable with an array, or an object with parts."""
    if isinstance(value, ArrayPart) and saved is not None:
        return None
    if not isinstance(value, Variable):
        other = f"the checkpoint has a variable, the program an object of class {type(value).__name__}"
        return None if saved is None else f"{saved.key!r}: {other}"
    if saved is None or array is None:
        return f"{path!r}: the checkpoint has an object with parts, the program the variable {value.name!r}"
    present = value._current()
    share = share_of(value) if saved.shape != present._shape else None
    shape = present._shape if share is None else share.shape
    if saved.shape == shape and saved.dtype == present._table.dtype.name:
        return None
    which = f"are incompatible: variable {value.name!r} has the first, the checkpoint the second"
    if saved.shape != shape:
        return f"{saved.key!r}: Shapes {TensorShape(shape)} and {TensorShape(saved.shape)} {which}"
    why_not = obstacle(array, DTYPES[saved.dtype], value.dtype)
    if cast and why_not is None:
        return None
    help_text = f"; pass cast=True to restore it as {value.dtype.name}" if why_not is None else f"; {why_not}"
    return f"{saved.key!r}: Dtypes {value.dtype.name} and {saved.dtype} {which}{help_text}"


def _rank(dtype: DType) -> int:
    return 0 if dtype.is_bool else 1 if dtype.is_integer else 2 if dtype.is_floating else 3
