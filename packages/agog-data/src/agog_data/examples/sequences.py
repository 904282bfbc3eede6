"""Parsing sequences: from serialized ``tf.train.SequenceExample`` messages to tensors."""

from __future__ import annotations

from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import at_each_run
from agog_core.tensors.tensor import TensorLike
from agog_data.examples.features import (
    Column,
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    Values,
    VarLenFeature,
    columns,
)
from agog_data.examples.parsing import assemble, checked, decode, host_strings, joined, place, rows_of, single, sparse

_CONTEXT_KINDS = (FixedLenFeature, VarLenFeature, SparseFeature)
_SEQUENCE_KINDS = (FixedLenSequenceFeature, VarLenFeature, SparseFeature)


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: dict[str, Any] | None = None,
    sequence_features: dict[str, Any] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make tensors of one serialized sequence example: features of the whole, and lists of features, one a step.

    Args:
        serialized: a scalar string, a serialized ``tf.train.SequenceExample``.
        context_features: for each key of the whole a `FixedLenFeature`, `VarLenFeature` or `SparseFeature`.
        sequence_features: for each key of the steps a `FixedLenSequenceFeature`, `VarLenFeature` or `SparseFeature`.
        example_name: a scalar string to name the example in errors.

    Returns:
        A dict for the whole, as of `parse_single_example`, and one for the steps: for each key a tensor of shape
        (steps, *shape) for a `FixedLenSequenceFeature`, or a `SparseTensor` of shape (steps, longest) or (steps, size).

    Raises:
        ValueError: there are no features, or one of them says too little.
        InvalidArgumentError: the bytes are no serialized message, a required feature is missing, or values are of
            another dtype or number; the text names the key and the step.
        ImportError: protobuf is not installed.

    >>> from agog_core import int64
    >>> from agog_data.examples.messages import SequenceExample
    >>> example = SequenceExample()
    >>> for word in (7, 9):
    ...     example.feature_lists.feature_list["words"].feature.add().int64_list.value.append(word)
    >>> features = {"words": FixedLenSequenceFeature([], int64)}
    >>> context, steps = parse_single_sequence_example(example.SerializeToString(), sequence_features=features)
    >>> steps["words"].numpy()
    array([7, 9])
    """
    return at_each_run(lambda given: _parsed(given, context_features, sequence_features, example_name), serialized)


def _parsed(
    serialized: TensorLike,
    context_features: dict[str, Any] | None,
    sequence_features: dict[str, Any] | None,
    example_name: TensorLike | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    from agog_data.examples.messages import SequenceExample  # here, because it needs a package that may be missing

    function = "parse_single_sequence_example"
    context_features, sequence_features = context_features or {}, sequence_features or {}
    if not context_features and not sequence_features:
        raise ValueError(f"{function}: context_features and sequence_features are both missing.")
    context = columns(function, context_features, _CONTEXT_KINDS)
    steps = columns(function, sequence_features, _SEQUENCE_KINDS)
    record = host_strings(function, "serialized", serialized, 0).item()
    label = "the example"
    if example_name is not None:
        label += f" {host_strings(function, 'example_name', example_name, 0).item().decode(errors='replace')!r}"
    message = decode(function, SequenceExample, record, label)
    found = {}
    for key, column in context.items():
        features = message.context.feature
        try:
            found[key] = single(column, checked(column, column.values(features.get(key))))
        except ValueError as error:
            raise InvalidArgumentError(f"{function}: {label}: context feature {key!r} {error}.") from None
    lists = message.feature_lists.feature_list
    listed = {}
    for key, column in steps.items():
        try:
            listed[key] = _steps(column, lists[key].feature if key in lists else None)
        except ValueError as error:
            raise InvalidArgumentError(f"{function}: {label}: feature list {key!r} {error}.") from None
    return assemble(function, context_features, found), assemble(function, sequence_features, listed)


def _steps(column: Column, features: Any) -> Any:
    if features is None and column.required:
        raise column.missing()
    rows: list[Values] = []
    for step, feature in enumerate(features or ()):
        try:
            rows.append(_step(column, column.values(feature)))
        except ValueError as error:
            raise ValueError(f"at step {step} {error}") from None
    dtype = column.dtype
    if column.kind == "variable":
        counts = [*map(len, rows)]
        return sparse(rows_of(counts), joined(rows, dtype), dtype, [len(rows), max(counts, default=0)])
    return place(joined(rows, dtype).reshape(len(rows), *column.shape), dtype)


def _step(column: Column, values: Values | None) -> Values:
    if values is None:
        if column.kind == "sequence":
            raise ValueError("has no values")
        return []
    if column.kind == "sequence" and len(values) != column.count:
        raise ValueError(f"has {len(values)} values; shape {column.shape} needs {column.count}")
    return values
