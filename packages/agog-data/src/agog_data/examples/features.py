"""Features of examples, and their specs: ``tf.FixedLenFeature``, ``tf.VarLenFeature`` and so on."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from agog_core import DType, Tensor, TensorShape, as_dtype, dtypes
from agog_core.errors import InvalidArgumentError

Array = np.ndarray[Any, Any]

Values = list[Any] | Array
_MANY = 16  # floats, from which on NumPy reads them sooner than Python

KINDS = {dtypes.string: "bytes_list", dtypes.float32: "float_list", dtypes.int64: "int64_list"}


class FixedLenFeature(NamedTuple):
    """A feature with as many values in each example: a tensor.

    Args:
        shape: the shape of the values of one example.
        dtype: float32, int64 or string.
        default_value: what stands in for a missing feature, with as many elements; None for an error.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values: a `SparseTensor`.

    Args:
        dtype: float32, int64 or string.
    """

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of entries of one shape: a tensor, padded in batches.

    Args:
        shape: the shape of an entry.
        dtype: float32, int64 or string.
        allow_missing: whether the feature may be missing, which means no entries; for `parse_example` it must.
        default_value: a scalar to pad with; None for zero or an empty string.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """Two or more features, one with the values and the others with their indices: a `SparseTensor`.

    Args:
        index_key: the key of the feature with the indices, or a list of keys, one for each axis.
        value_key: the key of the feature with the values.
        dtype: of the values: float32, int64 or string.
        size: the size of the axis, or a list of sizes.
        already_sorted: whether the indices are in order.
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class Column:
    """A feature that an example has under one key.

    ``kind`` is ``"fixed"``, ``"sequence"`` or ``"variable"``; ``shape`` that of the values, or of each entry;
    ``default`` the values of a missing feature, or the padding of a sequence.
    """

    def __init__(
        self,
        key: str,
        dtype: DType,
        kind: str,
        shape: tuple[int, ...] = (),
        default: list[Any] | None = None,
        required: bool = False,
    ) -> None:
        self.key = key
        self.dtype = dtype
        self.kind = kind
        self.shape = shape
        self.default = default
        self.required = required
        self.count = math.prod(shape)

    def values(self, feature: Any) -> Values | None:
        """The values of a ``tf.train.Feature``, or of None if the example has none under the key; None if none
        were set. Raises ValueError if they are of another dtype."""
        kind = None if feature is None else feature.WhichOneof("kind")
        if kind is None:
            return None
        if kind != KINDS[self.dtype]:
            raise ValueError(f"has values in {kind}; those of dtype {self.dtype.name} are in {KINDS[self.dtype]}")
        message = getattr(feature, kind)
        count = len(message.value)
        if self.dtype is dtypes.float32 and count > _MANY:
            message.DiscardUnknownFields()
            return np.frombuffer(message.SerializeToString()[-4 * count :], "<f4")  # as they are in the message
        found: list[Any] = message.value[:]
        return found

    def missing(self) -> ValueError:
        """What is raised where a required feature is not there."""
        return ValueError(f"of dtype {self.dtype.name} is required but could not be found")


def columns(function: str, features: dict[str, Any], allowed: tuple[Any, ...]) -> dict[str, Column]:
    """The columns that features need, by their keys; a `SparseFeature` needs several.

    Raises ValueError if a feature is not of an allowed kind, or says nothing, and InvalidArgumentError if a dtype
    or a default does not fit.
    """
    found: dict[str, Column] = {}
    for key, feature in features.items():
        if not isinstance(feature, allowed):
            names = ", ".join(each.__name__ for each in allowed)
            raise ValueError(f"{function}: feature {key!r} must be one of {names}; got {feature!r}.")
        dtype = _dtype(function, key, feature.dtype)
        if isinstance(feature, SparseFeature):
            for index_key in index_keys(feature):
                _add(function, found, Column(index_key, dtypes.int64, "variable"))
            _add(function, found, Column(feature.value_key, dtype, "variable"))
        elif isinstance(feature, VarLenFeature):
            _add(function, found, Column(key, dtype, "variable"))
        else:
            kind = "fixed" if isinstance(feature, FixedLenFeature) else "sequence"
            shape = _shape(function, key, feature)
            required = not getattr(feature, "allow_missing", False)
            default = _default(function, key, feature, dtype, math.prod(shape) if kind == "fixed" else 1)
            _add(function, found, Column(key, dtype, kind, shape, default, required))
    return found


def index_keys(feature: SparseFeature) -> list[str]:
    """The keys of the features with the indices."""
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def _add(function: str, found: dict[str, Column], column: Column) -> None:
    earlier = found.setdefault(column.key, column)
    if (earlier.dtype, earlier.kind) != (column.dtype, column.kind):
        raise ValueError(f"{function}: the features ask for {column.key!r} twice, in different ways.")


def _dtype(function: str, key: str, given: Any) -> DType:
    if not given:
        raise ValueError(f"{function}: feature {key!r} has no dtype.")
    dtype = as_dtype(given)
    if dtype not in KINDS:
        raise InvalidArgumentError(
            f"{function}: feature {key!r} must be of dtype float32, int64 or string; got {dtype.name}. "
            "Cast what was parsed."
        )
    return dtype


def _shape(function: str, key: str, feature: Any) -> tuple[int, ...]:
    if feature.shape is None:
        raise ValueError(f"{function}: feature {key!r} has no shape.")
    if type(feature.shape) in (list, tuple) and all(type(size) is int and size >= 0 for size in feature.shape):
        return tuple(feature.shape)
    shape = TensorShape(feature.shape)
    if not shape.is_fully_defined():
        hint = (
            " For one that varies use FixedLenSequenceFeature."
            if isinstance(feature, FixedLenFeature) and shape.ndims
            else ""
        )
        raise ValueError(f"{function}: feature {key!r} needs a shape that is fully known; got {shape}.{hint}")
    return tuple(int(size) for size in shape if size is not None)


def _default(function: str, key: str, feature: Any, dtype: DType, count: int) -> list[Any] | None:
    value = feature.default_value
    if value is None:
        return None
    from agog_core import convert_to_tensor

    tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else dtype)
    if tensor.dtype is not dtype or math.prod(tensor._shape) != count:
        raise InvalidArgumentError(
            f"{function}: feature {key!r}: the default must be of dtype {dtype.name} with {count} elements; got dtype "
            f"{tensor.dtype.name} and shape {tensor._shape}."
        )
    values: list[Any] = tensor._host().reshape(-1).tolist()
    return values
