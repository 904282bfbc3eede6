"""Numeric: columns of numbers, and of their buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import Tensor, as_dtype
from agog_data.examples.features import FixedLenFeature, VarLenFeature
from agog_keras.feature_columns.column import CategoricalColumn, Categories, DenseColumn, checked_key
from agog_keras.feature_columns.features import Features

__all__ = ["bucketized_column", "numeric_column"]


def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = "float32",
    normalizer_fn: Callable[[Tensor], Tensor] | None = None,
) -> NumericColumn:
    """Make a column of a feature that is a number, or an array of numbers.

    Args:
        key: the feature's key; also the column's name.
        shape: the shape of the numbers of an example.
        default_value: what stands in for a missing feature when examples are parsed: a number, or one for each element;
            None for an error.
        dtype: the dtype of parsed examples.
        normalizer_fn: a function of the feature's tensor, such as ``lambda x: (x - 3.0) / 4.2``.

    Returns:
        A dense column.

    Raises:
        ValueError: the key is no string, a size is not positive, the dtype is not of numbers, or the default value
            does not fit the shape.
        TypeError: the function is none, or a size is no integer.

    >>> from agog_keras.feature_columns import DenseFeatures
    >>> layer = DenseFeatures([numeric_column("price", normalizer_fn=lambda x: x / 10.0)])
    >>> print(layer({"price": [[20.0], [40.0]]}))
    tf.Tensor(
    [[2.]
     [4.]], shape=(2, 1), dtype=float32)
    """
    checked_key("numeric_column", key)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"numeric_column {key!r}: shape must hold integers; got {shape!r}.")
        if size < 1:
            raise ValueError(f"numeric_column {key!r}: shape must hold positive sizes; got {shape!r}.")
    kind = as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"numeric_column {key!r}: dtype must be of floats or integers; got {kind.name}.")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"numeric_column {key!r}: normalizer_fn must be a function; got {normalizer_fn!r}.")
    return NumericColumn(
        key, sizes, _default(f"numeric_column {key!r}", sizes, kind, default_value), kind, normalizer_fn
    )


def _default(what: str, sizes: tuple[int, ...], dtype: ag.DType, value: Any) -> Any:
    """The default value as nested tuples of the shape; None for None."""
    if value is None:
        return None
    given = np.asarray(value)
    if given.ndim and given.shape != sizes:
        raise ValueError(f"{what}: default_value must be one number, or of shape {sizes}; got shape {given.shape}.")
    if given.dtype.kind not in ("iub" if dtype.is_integer else "iubf"):
        raise TypeError(f"{what}: default_value must be of dtype {dtype.name}; got {value!r}.")
    return _tuples(np.broadcast_to(given, sizes).astype(dtype.name).tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class NumericColumn(DenseColumn):
    """See `numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: ag.DType
    normalizer_fn: Callable[[Tensor], Tensor] | None

    @property
    def name(self) -> str:  # type: ignore[override]  # what others keep is told here
        """The column's name."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> ag.TensorShape:
        return ag.TensorShape(self.shape)

    def transform(self, features: Features) -> Tensor:
        """The numbers as floats."""
        tensor = features.tensor(self.key)
        if tensor.dtype.name == "string":
            raise ValueError(f"Feature {self.key!r} of a numeric_column must be of numbers; got dtype string.")
        given = tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)
        batch, count = given._shape[0], ag.TensorShape(given._shape[1:]).num_elements()
        if count != self.variable_shape.num_elements():
            raise ValueError(
                f"Feature {self.key!r} must have shape (batch, {', '.join(map(str, self.shape))}) as its "
                f"numeric_column says; got {tensor.shape}."
            )
        return ag.cast(ag.reshape(given, [batch, *self.shape]), "float32")

    def dense(self, features: Features, weights: ag.Variable | None) -> Tensor:
        found: Tensor = features.of(self)
        return found


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> BucketizedColumn:
    """Make a column of the intervals that numbers lie in: with n boundaries there are n + 1, each with its lower end.

    Args:
        source_column: a `numeric_column` of one number or a vector of numbers.
        boundaries: the ends of the intervals, in order.

    Returns:
        A column that is dense, with a 1 for the interval, and categorical.

    Raises:
        ValueError: the source is another column, has more axes, or the boundaries are not in order.

    >>> from agog_keras.feature_columns import DenseFeatures
    >>> ages = bucketized_column(numeric_column("age"), [18.0, 65.0])
    >>> print(DenseFeatures([ages])({"age": [[3.0], [18.0]]}))
    tf.Tensor(
    [[1. 0. 0.]
     [0. 1. 0.]], shape=(2, 3), dtype=float32)
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"bucketized_column: source_column must be a numeric_column; got {source_column!r}.")
    if len(source_column.shape) > 1:
        raise ValueError(
            f"bucketized_column: source_column must have one axis; that of {source_column.name!r} has shape "
            f"{source_column.shape}."
        )
    is_list = isinstance(boundaries, (list, tuple)) or hasattr(boundaries, "tolist")
    if not is_list or not len(boundaries) or any(low >= high for low, high in pairwise(boundaries)):
        raise ValueError(f"bucketized_column: boundaries must be a list of ascending numbers; got {boundaries!r}.")
    return BucketizedColumn(source_column, tuple(float(each) for each in boundaries))


@dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
    """See `bucketized_column`."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The column's name."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, FixedLenFeature | VarLenFeature]:
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> ag.TensorShape:
        return ag.TensorShape([*self.source_column.shape, len(self.boundaries) + 1])

    @property
    def num_buckets(self) -> int:
        return (len(self.boundaries) + 1) * (self.source_column.shape or (1,))[0]

    def transform(self, features: Features) -> Tensor:
        """The number of the interval of each number, of shape (batch, n)."""
        numbers: Tensor = features.of(self.source_column)
        flat = ag.reshape(numbers, [-1])
        found = ag.searchsorted(ag.constant(self.boundaries, "float32"), flat, side="right")
        return ag.reshape(found, [numbers._shape[0], self.source_column.variable_shape.num_elements()])

    def dense(self, features: Features, weights: ag.Variable | None) -> Tensor:
        return ag.reshape(ag.one_hot(features.of(self), len(self.boundaries) + 1), [-1, *self.variable_shape.as_list()])

    def categories(self, features: Features) -> Categories:
        """The intervals of the first number come first, then those of the second, and so on."""
        intervals: Tensor = ag.cast(features.of(self), "int64")
        first = ag.range(0, self.num_buckets, len(self.boundaries) + 1, dtype="int64")
        return Categories(intervals + first, ag.ones(intervals._shape, "bool"))
