"""Parsing examples: from serialized ``tf.train.Example`` messages to tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from agog_core import DType, SparseTensor, Tensor, TensorLike, constant, dtypes
from agog_core.dispatch.devices.lookup import current_device
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import at_each_run, from_host
from agog_data.examples.features import (
    Column,
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    Values,
    VarLenFeature,
    columns,
    index_keys,
)

Array = np.ndarray[Any, Any]

_KINDS = (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, SparseFeature)


def parse_example(
    serialized: TensorLike, features: dict[str, Any], name: str | None = None, example_names: TensorLike | None = None
) -> dict[str, Any]:
    """Make tensors of a batch of serialized examples.

    Args:
        serialized: strings of shape (n,), each a serialized ``tf.train.Example``.
        features: for each key what shall become of it: a `FixedLenFeature`, `VarLenFeature`, `FixedLenSequenceFeature`
            or `SparseFeature`.
        example_names: strings of shape (n,) to name the examples in errors.

    Returns:
        For each key a tensor or `SparseTensor`: of shape (n, *shape) for a `FixedLenFeature`; (n, longest) for a
        `VarLenFeature`; (n, longest, *shape) for a `FixedLenSequenceFeature`; (n, size) for a `SparseFeature`.

    Raises:
        ValueError: there are no features, or one of them says too little.
        InvalidArgumentError: an example is no serialized message, a feature without a default is missing, or its values
            are of another dtype or number; the text names the example and the key.
        ImportError: protobuf is not installed.

    >>> from agog_data.examples.messages import Example
    >>> examples = [Example(), Example()]
    >>> examples[1].features.feature["age"].int64_list.value.append(4)
    >>> features = {"age": FixedLenFeature([], dtypes.int64, default_value=-1)}
    >>> parse_example([example.SerializeToString() for example in examples], features)["age"].numpy()
    array([-1,  4])
    """
    return at_each_run(lambda given: _parsed_batch(given, features, example_names), serialized)


def _parsed_batch(serialized: Tensor, features: dict[str, Any], example_names: TensorLike | None) -> dict[str, Any]:
    wanted = _columns("parse_example", features)
    records = host_strings("parse_example", "serialized", serialized, 1)
    name_of = _names("parse_example", example_names, len(records))
    found = _parse("parse_example", records, wanted, name_of)
    parsed = {key: _batched(column, found[key]) for key, column in wanted.items()}
    return assemble("parse_example", features, parsed)


def parse_single_example(
    serialized: TensorLike, features: dict[str, Any], name: str | None = None, example_names: TensorLike | None = None
) -> dict[str, Any]:
    """Make tensors of one serialized example.

    Args:
        serialized: a scalar string, a serialized ``tf.train.Example``.
        features: see `parse_example`.
        example_names: a scalar string to name the example in errors.

    Returns:
        What `parse_example` returns, without the first axis.

    Raises:
        ValueError: there are no features, or one of them says too little.
        InvalidArgumentError: see `parse_example`.
        ImportError: protobuf is not installed.

    >>> from agog_data.examples.messages import Example
    >>> example = Example()
    >>> example.features.feature["point"].float_list.value.extend([1.0, 2.0])
    >>> point = parse_single_example(example.SerializeToString(), {"point": FixedLenFeature([2], dtypes.float32)})
    >>> point["point"].numpy()
    array([1., 2.], dtype=float32)
    """
    return at_each_run(lambda given: _parsed(given, features, example_names), serialized)


def _parsed(serialized: Tensor, features: dict[str, Any], example_names: TensorLike | None) -> dict[str, Any]:
    wanted = _columns("parse_single_example", features)
    records = host_strings("parse_single_example", "serialized", serialized, 0).reshape(1)
    names = None if example_names is None else [host_strings("parse_single_example", "name", example_names, 0).item()]
    label = "" if names is None else f" {names[0].decode(errors='replace')!r}"
    found = _parse("parse_single_example", records, wanted, lambda number: f"the example{label}")
    parsed = {key: single(column, found[key][0]) for key, column in wanted.items()}
    return assemble("parse_single_example", features, parsed)


def parse_example_dataset(features: dict[str, Any], num_parallel_calls: Any = 1) -> Callable[[Any], Any]:
    """A transformation of batches of serialized examples to dicts of tensors.

    Args:
        features: see `parse_example`.
        num_parallel_calls: see `Dataset.map`.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: there are no features, or one of them says too little.

    >>> from agog_data import Dataset
    >>> parse = parse_example_dataset({"age": FixedLenFeature([], dtypes.int64, default_value=-1)})
    >>> for batch in parse(Dataset.from_tensor_slices([b"", b"", b""]).batch(2)):
    ...     print(batch["age"].numpy())
    [-1 -1]
    [-1]
    """
    _columns("parse_example_dataset", features)

    def apply(dataset: Any) -> Any:
        return dataset.map(lambda serialized: parse_example(serialized, features), num_parallel_calls)

    return apply


def host_strings(function: str, name: str, value: TensorLike, rank: int) -> Array:
    """The array of bytes of an argument, which must be a tensor of strings of this rank; else an
    InvalidArgumentError."""
    tensor = value if type(value) is Tensor else constant(value)
    if tensor.dtype is not dtypes.string and tensor._shape != (0,):
        raise InvalidArgumentError(f"{function}: {name} must hold strings; got dtype {tensor.dtype.name}.")
    if len(tensor._shape) != rank:
        wanted = "a scalar" if rank == 0 else "a vector"
        raise InvalidArgumentError(f"{function}: {name} must be {wanted}; got shape {tensor._shape}.")
    return tensor._host()


def place(values: Array, dtype: DType) -> Tensor:
    """A tensor of values, on the current device."""
    return from_host(np.asarray(values, order="C"), current_device().table(dtype))


def sparse(indices: Array, values: Array, dtype: DType, dense_shape: list[int]) -> SparseTensor:
    """A sparse tensor, on the current device."""
    shape = np.array(dense_shape, np.int64)
    return SparseTensor(place(indices, dtypes.int64), place(values, dtype), place(shape, dtypes.int64))


def rows_of(counts: list[int]) -> Array:
    """The indices of the values of a `SparseTensor` whose rows have these numbers of values, from the left.

    >>> rows_of([2, 0, 1]).tolist()
    [[0, 0], [0, 1], [2, 0]]
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    begins = np.repeat(np.cumsum([0, *counts])[:-1], counts)
    return np.stack([rows, np.arange(len(rows)) - begins], axis=1)


def joined(rows: Sequence[Values], dtype: DType) -> Array:
    """The values of several examples, one after the other, as a vector."""
    if any(type(row) is not list for row in rows):
        return np.concatenate([np.asarray(row, dtype.numpy_dtype) for row in rows])
    flat = rows[0] if len(rows) == 1 else [*chain.from_iterable(rows)]
    if dtype is not dtypes.string:
        return np.array(flat, dtype.numpy_dtype)
    host = np.empty(len(flat), object)
    host[:] = flat
    return host


def _columns(function: str, features: Any) -> dict[str, Column]:
    if not features:
        raise ValueError(f"{function}: features are missing; got {features!r}.")
    found = columns(function, features, _KINDS)
    for column in found.values():
        if column.kind == "sequence" and column.required:
            raise ValueError(
                f"{function}: the FixedLenSequenceFeature {column.key!r} must have allow_missing=True; only sequence "
                "examples can require it."
            )
    return found


def _names(function: str, example_names: TensorLike | None, count: int) -> Callable[[int], str]:
    if example_names is None:
        return lambda number: f"example {number}"
    names = host_strings(function, "example_names", example_names, 1)
    if len(names) != count:
        raise InvalidArgumentError(f"{function}: there are {count} examples and {len(names)} example_names.")
    return lambda number: f"example {number} {names[number].decode(errors='replace')!r}"


def _parse(
    function: str, records: Array, wanted: dict[str, Column], name_of: Callable[[int], str]
) -> dict[str, list[Values | None]]:
    """For each column the values of all examples."""
    from agog_data.examples.messages import Example  # here, because it needs a package that may be missing

    found: dict[str, list[Values | None]] = {key: [] for key in wanted}
    for number, record in enumerate(records.tolist()):
        features = decode(function, Example, record, name_of(number)).features.feature
        for key, column in wanted.items():
            try:
                found[key].append(checked(column, column.values(features.get(key))))
            except ValueError as error:
                raise InvalidArgumentError(f"{function}: {name_of(number)}: feature {key!r} {error}.") from None
    return found


def decode(function: str, message: Any, record: bytes, name: str) -> Any:
    """A message of this class from its bytes; InvalidArgumentError, with the ``name`` of the record, where they are
    none."""
    from google.protobuf.message import DecodeError

    try:
        return message.FromString(record)
    except DecodeError as error:
        raise InvalidArgumentError(
            f"{function}: {name}: its {len(record)} bytes are no serialized tf.train.{message.DESCRIPTOR.name}: "
            f"{error}."
        ) from error


def checked(column: Column, values: Values | None) -> Values | None:
    if values is None:
        if column.kind == "fixed" and column.default is None:
            raise column.missing()
        return column.default if column.kind == "fixed" else None
    if column.kind == "fixed" and len(values) != column.count:
        raise ValueError(f"has {len(values)} values; shape {column.shape} needs {column.count}")
    if column.kind == "sequence" and (len(values) % column.count if column.count else len(values)):
        raise ValueError(f"has {len(values)} values; entries of shape {column.shape} need a multiple of {column.count}")
    return values


def _batched(column: Column, rows: list[Values | None]) -> Any:
    dtype, count = column.dtype, len(rows)
    if column.kind == "fixed":
        return place(joined([row for row in rows if row is not None], dtype).reshape(count, *column.shape), dtype)
    present = [[] if row is None else row for row in rows]
    longest = max(map(len, present), default=0)
    if column.kind == "variable":
        return sparse(rows_of([*map(len, present)]), joined(present, dtype), dtype, [count, longest])
    empty = b"" if dtype is dtypes.string else 0
    padded = np.full((count, longest), empty if column.default is None else column.default[0], dtype.numpy_dtype)
    for row, values in zip(padded, present, strict=True):
        row[: len(values)] = values
    return place(padded.reshape(count, longest // max(column.count, 1), *column.shape), dtype)


def single(column: Column, values: Values | None) -> Any:
    array = joined([[] if values is None else values], column.dtype)
    if column.kind == "fixed":
        return place(array.reshape(column.shape), column.dtype)
    if column.kind == "variable":
        return sparse(np.arange(len(array)).reshape(-1, 1), array, column.dtype, [len(array)])
    return place(array.reshape(len(array) // max(column.count, 1), *column.shape), column.dtype)


def assemble(function: str, features: dict[str, Any], parsed: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, of a tensor for each column that was parsed: a `SparseFeature` is made of several.

    Raises InvalidArgumentError if a `SparseFeature` has not as many indices as values.
    """
    return {
        key: _merged(function, key, feature, parsed) if isinstance(feature, SparseFeature) else parsed[key]
        for key, feature in features.items()
    }


def _merged(function: str, key: str, feature: SparseFeature, parsed: dict[str, Any]) -> SparseTensor:
    axes, values = [parsed[index_key] for index_key in index_keys(feature)], parsed[feature.value_key]
    before = axes[0].indices._host()[:, :-1]
    for index_key, axis in zip(index_keys(feature), axes, strict=True):
        own = values.indices._host()
        if not np.array_equal(axis.indices._host(), own):
            raise InvalidArgumentError(
                f"{function}: feature {key!r} needs an index in {index_key!r} for each value in {feature.value_key!r}; "
                f"there are {len(axis.indices._host())} indices and {len(own)} values, or they are in other examples."
            )
    indices = np.concatenate([before, *[axis.values._host()[:, np.newaxis] for axis in axes]], axis=1)
    sizes = [feature.size] if np.ndim(feature.size) == 0 else list(feature.size)
    order = np.arange(len(indices)) if feature.already_sorted else np.lexsort(indices.T[::-1])
    dense_shape = [*axes[0].dense_shape._host()[:-1].tolist(), *map(int, sizes)]
    return sparse(indices[order], values.values._host()[order], values.dtype, dense_shape)
