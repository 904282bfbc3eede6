"""Columns of Arrow's tables, as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core import TensorShape, as_dtype, dtypes, errors
from agog_data.elements import ComponentSpec

Array = np.ndarray[Any, Any]

_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}


class Column:
    """Some rows of a column, as host arrays: an Arrow array, and an Arrow scalar that stands for nulls or None. File,
    name and the number of the first row are for errors."""

    def __init__(self, file: str, name: str, begin: int, values: Any, fill: Any) -> None:
        self._where = f"{file}: the column {name!r}"
        self._fill = fill
        self._limits: list[int] | None = None  # where the rows begin and end, in lists whose size varies
        if values.null_count and (fill is None or _is_list(values.type)):
            row = begin + values.is_null().to_pylist().index(True)
            advice = "" if _is_list(values.type) else "give ArrowDataset a value for it in fill, or "
            raise errors.InvalidArgumentError(f"{self._where}: row {row} is null; {advice}leave the column out.")
        if hasattr(values, "dictionary_decode"):
            values = values.dictionary_decode()
        if _is_list(values.type) and not _is_fixed(values.type):
            offsets = values.offsets.to_numpy()
            self._limits = (offsets - offsets[0]).tolist()
            values = values.flatten()
        self._rows = self._array(values)

    def row(self, number: int) -> Array:
        """One row, from 0: an array of its own, so that keeping a row does not keep the batch."""
        if self._limits is None:
            return np.array(self._rows[number, ...], order="C")
        return np.array(self._rows[self._limits[number] : self._limits[number + 1]])

    def rows(self, begin: int, end: int) -> Array:
        """Rows of one size, joined along a new first axis into an array of its own."""
        return self._rows[begin:end].copy()

    def _array(self, values: Any) -> Array:
        if values.null_count and (self._fill is None or _is_list(values.type)):
            raise errors.InvalidArgumentError(
                f"{self._where}: there is a null in a list; give ArrowDataset a value for it in fill, or leave the "
                "column out."
            )
        if _is_list(values.type):
            inner = self._array(values.flatten())
            return inner.reshape(len(values), values.type.list_size, *inner.shape[1:])
        if values.null_count:
            values = values.fill_null(self._fill)
        if _dtype(values.type) is not dtypes.string:
            return np.asarray(values.to_numpy(zero_copy_only=False))
        found = np.empty(len(values), object)
        found[:] = [text.encode() if isinstance(text, str) else text for text in values.to_pylist()]
        return found


def column_spec(file: str, schema: Any, name: str) -> ComponentSpec:
    """The spec of a column in an Arrow schema. Raises NotFoundError if there is none, and InvalidArgumentError if
    it has a type that no tensor has."""
    kind = _type(file, schema, name)
    shape: list[int | None] = []
    if _is_list(kind) and not _is_fixed(kind):
        shape.append(None)
        kind = kind.value_type
    while _is_fixed(kind):
        shape.append(kind.list_size)
        kind = kind.value_type
    dtype = None if _is_list(kind) else _dtype(kind)
    if dtype is None:
        raise errors.InvalidArgumentError(
            f"{file}: the column {name!r} has the type {_type(file, schema, name)}, which no tensor has; numbers, "
            "booleans, strings, binary data, and lists of those are read. Leave it out with columns=[...]."
        )
    return ComponentSpec(dtype, TensorShape(shape))


def same_spec(file: str, name: str, found: ComponentSpec, first: str, expected: ComponentSpec) -> None:
    """Raise InvalidArgumentError unless a file's column has the spec that it has in the first file."""
    if (found.dtype, found.shape.as_list()) != (expected.dtype, expected.shape.as_list()):
        raise errors.InvalidArgumentError(
            f"{file}: the column {name!r} has elements of dtype {found.dtype.name} and shape {found.shape}; in {first} "
            f"they have dtype {expected.dtype.name} and shape {expected.shape}."
        )


def filler(file: str, schema: Any, name: str, value: Any) -> Any:
    """An Arrow scalar that stands for nulls of a column. Raises InvalidArgumentError if the value has another type
    than the column."""
    import pyarrow

    kind = _type(file, schema, name)
    while _is_list(kind):
        kind = kind.value_type
    try:
        return pyarrow.scalar(value, kind)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise errors.InvalidArgumentError(
            f"ArrowDataset: fill has {value!r} for the column {name!r}, which has the type {kind}."
        ) from error


def _type(file: str, schema: Any, name: str) -> Any:
    if schema.names.count(name) != 1:
        raise errors.NotFoundError(
            f"{file}: there is no column {name!r}, or several; it has {', '.join(schema.names)}."
        )
    kind = schema.field(name).type
    return kind.value_type if hasattr(kind, "index_type") else kind  # a dictionary stands for its values


def _is_fixed(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_fixed_size_list(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow

    types = pyarrow.types
    return bool(types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind))


def _dtype(kind: Any) -> dtypes.DType | None:
    import pyarrow

    types = pyarrow.types
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return as_dtype(_FLOATS.get(str(kind), str(kind)))
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return dtypes.string if any(is_text(kind) for is_text in texts) else None
