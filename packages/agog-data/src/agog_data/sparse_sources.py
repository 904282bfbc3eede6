"""Sparse sources: elements in memory with a `SparseTensor`, the start of datasets of sparse tensors."""

from __future__ import annotations

from typing import Any

from agog_core import SparseTensor, SparseTensorValue, TensorShape, convert_to_tensor_or_sparse_tensor, dtypes
from agog_data.elements import ComponentSpec, SparseSpec, components, map_components
from agog_data.in_memory import InMemory
from agog_data.sparse_elements import unstack_sparse


def has_sparse(structure: Any) -> bool:
    """Whether a component is a `SparseTensor`, or the value of one."""
    return any(isinstance(part, (SparseTensor, SparseTensorValue)) for part in components(structure))


def single(structure: Any) -> InMemory:
    """One element of arrays, or what converts to them, and sparse tensors."""
    element = map_components(convert_to_tensor_or_sparse_tensor, structure)
    return InMemory([element], map_components(_spec, element))


def rows(sparse: Any) -> InMemory:
    """The rows of a `SparseTensor` with a first axis, or of the value of one, each as three tensors; anything else
    raises TypeError."""
    if isinstance(sparse, SparseTensorValue):
        sparse = SparseTensor.from_value(sparse)
    if not isinstance(sparse, SparseTensor):
        raise TypeError(
            f"from_sparse_tensor_slices: a SparseTensor is expected; got {sparse!r} of type {type(sparse).__name__}."
        )
    rank = sparse.dense_shape._shape[0] - 1
    shapes = [(dtypes.int64, [None, rank]), (sparse.dtype, [None]), (dtypes.int64, [rank])]
    spec = tuple([ComponentSpec(dtype, TensorShape(shape)) for dtype, shape in shapes])
    return InMemory([(row.indices, row.values, row.dense_shape) for row in unstack_sparse(sparse)], spec)


def _spec(component: Any) -> ComponentSpec:
    kind = SparseSpec if isinstance(component, SparseTensor) else ComponentSpec
    return kind(component.dtype, component.shape)
