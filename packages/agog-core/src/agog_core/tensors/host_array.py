"""Host array: from Python and NumPy values to arrays on the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.dtypes import DType, as_dtype

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor: its rows differ in length."


def host_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """Copy a value into a new C-contiguous NumPy array of a dtype that agog has: the value's own, or the given one."""
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    python_made = not hasattr(value, "dtype")
    kinds = _leaf_types(value) if python_made else set()
    if len({kind for kind in map(_kind_of_leaf, kinds) if kind is not None}) > 1:
        raise ValueError(
            "Can't convert Python sequence with mixed types to Tensor: it holds "
            f"{', '.join(sorted(k.__name__ for k in kinds))}."
        )
    is_text = bool(kinds) and all(_kind_of_leaf(kind) is str for kind in kinds)
    is_number = bool(kinds) and all(_kind_of_leaf(kind) is int for kind in kinds)
    try:
        # Arrays of NumPy's own string dtypes would lose zero bytes at the end.
        host = np.array(value, object if is_text else None, order="C")
        if is_number and (host.dtype == object or (host.dtype.kind == "f" and kinds == {int})):
            host = _large_integers(value, dtype, kinds)
    except ValueError as error:
        if python_made and "inhomogeneous" in str(error):
            raise ValueError(_RAGGED) from None
        raise
    except OverflowError as error:
        why = str(error) if "out-of-range" in str(error) else f"out-of-range integer: {error}"
        raise ValueError(f"Cannot convert {value!r} to a Tensor: {why}.") from None
    if is_text and any(isinstance(item, (list, tuple)) for item in host.flat):
        raise ValueError(_RAGGED)
    if host.dtype.kind in "US" or is_text or (host.dtype == object and not python_made):
        return _strings(host, dtype)
    if host.dtype == object:
        shown = ", ".join(sorted(k.__name__ for k in kinds)) or "object"
        raise ValueError(f"Attempt to convert a value with an unsupported type ({shown}) to a Tensor.")
    given = as_dtype(host.dtype)
    wanted = dtype or (
        _python_dtype(host, given)
        if python_made and not any(issubclass(k, (np.generic, np.ndarray)) for k in kinds)
        else given
    )
    if not _may_convert(host, given, wanted, python_made):
        raise TypeError(
            f"Cannot convert a value of dtype {given.name} and shape {host.shape} to a Tensor of dtype {wanted.name} "
            "without losing "
            "something; convert it first."
        )
    return converted(host, wanted)


def _large_integers(value: Any, dtype: DType | None, kinds: set[type]) -> np.ndarray[Any, Any]:
    """An array of integers that fit no integer dtype together: floats where those are asked for, or beside floats."""
    if (dtype is None and kinds == {int}) or (dtype is not None and not dtype.is_differentiable):
        raise OverflowError("it holds an out-of-range integer, which fits neither int64 nor uint64")
    return np.array(value, complex if any(issubclass(kind, complex) for kind in kinds) else float)


def _may_convert(host: np.ndarray[Any, Any], given: DType, wanted: DType, python_made: bool) -> bool:
    if not host.size or keeps_values(host, given, wanted):
        return True
    if given.is_bool or wanted.is_bool or python_made:
        return False
    # TensorFlow converts arrays between kinds of numbers when a dtype is asked for, but never rounds floats to integers
    # silently.
    return not (given.is_differentiable and wanted.is_integer) and not (given.is_complex and not wanted.is_complex)


def _python_dtype(host: np.ndarray[Any, Any], given: DType) -> DType:
    if given is dtypes.float64:
        return dtypes.float32
    if given is dtypes.int64 and (not host.size or (host.min() >= INT32_MIN and host.max() <= INT32_MAX)):
        return dtypes.int32
    return given


def _strings(host: np.ndarray[Any, Any], dtype: DType | None) -> np.ndarray[Any, Any]:
    if dtype not in (None, dtypes.string):
        raise TypeError(
            f"Cannot convert strings of shape {host.shape} to a Tensor of dtype {dtype.name}; use tf.string_to_number."
        )
    encoded = np.empty(host.shape, object)
    for index, item in np.ndenumerate(host):
        if not isinstance(item, (str, bytes)):
            raise ValueError(_no_text(host))
        encoded[index] = item.encode() if isinstance(item, str) else bytes(item)
    return encoded


def _no_text(host: np.ndarray[Any, Any]) -> str:
    """Why an array of objects is no tensor: the first that is neither text nor a number, or that there are numbers."""
    start = f"Cannot convert an array of shape {host.shape} and dtype object to a Tensor: "
    for index, item in np.ndenumerate(host):
        if item is None:
            return f"{start}at {list(index)} it holds None. A number that is missing is np.nan in an array of floats."
        if _kind_of_leaf(type(item)) is None:
            return f"{start}at {list(index)} it holds a {type(item).__name__}."
    if len({_kind_of_leaf(type(item)) for item in host.flat}) > 1:
        return f"{start}it holds {', '.join(sorted({type(item).__name__ for item in host.flat}))}."
    return f"{start}it holds numbers. Say of which dtype, as in array.astype('float32')."


def _kind_of_leaf(kind: type) -> type | None:
    """Which of bool, str and int (for every number) a Python or NumPy type belongs to; None for other types."""
    if issubclass(kind, (bool, np.bool_)):
        return bool
    if issubclass(kind, (str, bytes)):
        return str
    return int if issubclass(kind, (int, float, complex, np.number)) else None


def _leaf_types(value: Any) -> set[type]:
    if not isinstance(value, (list, tuple)):
        return {type(value)}
    kinds = set(map(type, value))
    if list in kinds or tuple in kinds:
        nested: Iterable[set[type]] = (_leaf_types(part) for part in value)
        return set().union(*nested)
    return kinds


def converted(host: np.ndarray[Any, Any], wanted: DType) -> np.ndarray[Any, Any]:
    """A C-contiguous array in another dtype; what is too large for it becomes an infinity."""
    if host.dtype == wanted.numpy_dtype:
        return host
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(host, wanted.numpy_dtype).reshape(host.shape)


def keeps_values(host: np.ndarray[Any, Any], given: DType, wanted: DType) -> bool:
    if given is wanted or (not host.size and given is dtypes.float32):
        return True
    if given.is_integer and wanted.is_integer:
        return not host.size or bool(wanted.min <= host.min() and host.max() <= wanted.max)
    return (
        (given.is_integer and wanted.is_differentiable)
        or (given.is_floating and wanted.is_differentiable)
        or (given.is_complex and wanted.is_complex)
    )
