"""Casting: whether a value fits a variable, or can be cast to its dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_checkpoint.graph import DTYPES, SavedVariable
from agog_checkpoint.python_state import ArrayPart
from agog_core.dtypes import DType
from agog_core.shapes import TensorShape
from agog_core.variables.variable import Variable

Array = np.ndarray[Any, Any]


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
    if saved.shape == present._shape and saved.dtype == present._table.dtype.name:
        return None
    which = f"are incompatible: variable {value.name!r} has the first, the checkpoint the second"
    if saved.shape != present._shape:
        return f"{saved.key!r}: Shapes {value.shape} and {TensorShape(saved.shape)} {which}"
    why_not = obstacle(array, DTYPES[saved.dtype], value.dtype)
    if cast and why_not is None:
        return None
    help_text = f"; pass cast=True to restore it as {value.dtype.name}" if why_not is None else f"; {why_not}"
    return f"{saved.key!r}: Dtypes {value.dtype.name} and {saved.dtype} {which}{help_text}"


def _rank(dtype: DType) -> int:
    return 0 if dtype.is_bool else 1 if dtype.is_integer else 2 if dtype.is_floating else 3
