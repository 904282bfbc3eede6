"""Features: the features of a batch by key, and the results of columns on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import agog_core as ag
from agog_core import Tensor

if TYPE_CHECKING:
    from agog_keras.feature_columns.column import FeatureColumn

Array = np.ndarray[Any, Any]


class Entries(NamedTuple):
    """The values of a feature, of shape (batch, n), and which of them are there."""

    values: Tensor
    present: Tensor


class Features:
    """The features of a batch, each looked at once.

    A ValueError says that the features are no dict, or that one is missing.
    """

    def __init__(self, what: str, features: Any) -> None:
        if not isinstance(features, Mapping):
            raise ValueError(
                f"{what}: features must be a dict of tensors by their keys; got {features!r} of type "
                f"{type(features).__name__}."
            )
        self._features = features
        self._made: dict[int, Any] = {}

    def of(self, column: FeatureColumn) -> Any:
        """A column's result for the features, memoized."""
        if id(column) not in self._made:
            self._made[id(column)] = column.transform(self)
        return self._made[id(column)]

    def is_sparse(self, key: str) -> bool:
        """Whether a feature is a `SparseTensor`."""
        return isinstance(self._value(key), ag.SparseTensor)

    def tensor(self, key: str) -> Tensor:
        """A feature as a tensor of rank 2 or more."""
        value = self._value(key)
        if isinstance(value, ag.SparseTensor):
            raise ValueError(
                f"Feature {key!r} must be a tensor; got a SparseTensor. Convert it with tf.sparse.to_dense."
            )
        tensor = ag.convert_to_tensor(value)
        if not tensor._shape:
            raise ValueError(f"Feature {key!r} must have one value or more for each example; got shape ().")
        return ag.expand_dims(tensor, -1) if len(tensor._shape) == 1 else tensor

    def entries(self, key: str, ignores: bool = True) -> Entries:
        """The values of a feature, a row for each example.

        Those of tensors that are -1 or an empty string are not there, unless nothing is ignored.
        """
        value = self._value(key)
        if isinstance(value, ag.SparseTensor):
            return _rows(value)
        tensor = self.tensor(key)
        flat = ag.reshape(tensor, [tensor._shape[0], ag.TensorShape(tensor._shape[1:]).num_elements()])
        if not ignores:
            return Entries(flat, ag.ones(flat._shape, "bool"))
        return Entries(flat, ag.not_equal(flat, ag.convert_to_tensor(_nothing(flat), flat.dtype)))

    def _value(self, key: str) -> Any:
        if key not in self._features:
            known = ", ".join(repr(name) for name in sorted(self._features))
            raise ValueError(f"Feature {key!r} is not among the features; there are {known or 'none'}.")
        return self._features[key]


def _nothing(values: Tensor) -> Any:
    return "" if values.dtype.name == "string" else -1


def _rows(sparse: ag.SparseTensor) -> Entries:
    """The elements of each row of a sparse tensor, from the left on."""
    shape: list[int] = sparse.dense_shape.numpy().tolist()
    rows: Array = sparse.indices.numpy()[:, 0]
    counts = np.bincount(rows, minlength=shape[0])
    starts = np.cumsum(counts) - counts
    order = np.argsort(rows, kind="stable")
    places = np.empty_like(rows)
    places[order] = np.arange(len(rows)) - starts[rows[order]]
    width = int(counts.max(initial=1))
    present = np.arange(width) < counts[:, None]
    filler = np.full((shape[0], width), _filler(sparse), sparse.values.numpy().dtype)
    filler[rows, places] = sparse.values.numpy()
    return Entries(ag.constant(filler, sparse.dtype), ag.constant(present))


def _filler(sparse: ag.SparseTensor) -> Any:
    return b"" if sparse.dtype.name == "string" else 0
