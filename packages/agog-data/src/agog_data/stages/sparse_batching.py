"""Sparse batching: `dense_to_sparse_batch`, the stage that joins tensors of different sizes into sparse ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core import SparseTensor, Tensor, TensorShape, dtypes
from agog_core.errors import DataLossError, InvalidArgumentError
from agog_core.tensors.convert import from_host
from agog_data.elements import ComponentSpec, Element, SparseSpec
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.batching import BatchIterator, batches_of


class SparseBatch(UnaryStage):
    """Consecutive tensors, all of whose values are those of one sparse tensor. ``row_shape`` is the upper bound of
    shapes, with None for the largest size of each batch.
    """

    def __init__(self, stage: Stage, batch_size: int, row_shape: list[int | None]) -> None:
        super().__init__(stage)
        self._size = batch_size
        self._row_shape = row_shape

    def cardinality(self) -> int:
        return batches_of(self.input.cardinality(), self._size, False)

    def spec(self) -> Any:
        spec = self.input.spec()
        if type(spec) is not ComponentSpec:
            raise TypeError(_SINGLE)
        return SparseSpec(spec.dtype, TensorShape([None, *self._row_shape]))

    def sample(self, scope: Scope) -> Element:
        return self.join([self.input.sample(scope)], 0)

    def iterate(self, scope: Scope) -> ElementIterator:
        elements = self.input.iterate(scope)
        return BatchIterator("dense_to_sparse_batch", elements, self._size, False, self.join)

    def join(self, elements: Sequence[Element], batch: int) -> SparseTensor:
        """Join tensors into one of one rank more.

        Raises TypeError if an element is no single tensor, InvalidArgumentError if ranks or dtypes differ, and
        DataLossError if a tensor is larger than the row shape.
        """
        for number, element in enumerate(elements):
            if not isinstance(element, Tensor):
                raise TypeError(_SINGLE)
            self._check(element, elements[0].dtype.name, f"element {number} of batch {batch}")
        shapes = np.array([element._shape for element in elements], np.int64).reshape(len(elements), -1)
        sizes = [size if size is not None else shapes[:, axis].max() for axis, size in enumerate(self._row_shape)]
        indices = [
            np.insert(np.argwhere(np.ones(element._shape, bool)), 0, number, axis=1)
            for number, element in enumerate(elements)
        ]
        table = elements[0]._table
        numbers = table.device.table(dtypes.int64)
        return SparseTensor(
            from_host(np.concatenate(indices).astype(np.int64), numbers),
            from_host(np.concatenate([element._host().ravel() for element in elements]), table),
            from_host(np.array([len(elements), *sizes], np.int64), numbers),
        )

    def _check(self, tensor: Tensor, dtype: str, where: str) -> None:
        shape = f"dense_to_sparse_batch: {where} has shape {tensor._shape}"
        if len(tensor._shape) != len(self._row_shape):
            raise InvalidArgumentError(f"{shape}, which has another rank than the row shape {self._row_shape}.")
        if tensor.dtype.name != dtype:
            raise InvalidArgumentError(
                f"dense_to_sparse_batch: {where} has dtype {tensor.dtype.name}; that of element 0 is {dtype}."
            )
        for size, limit in zip(tensor._shape, self._row_shape, strict=True):
            if limit is not None and size > limit:
                raise DataLossError(f"{shape}, which is larger than the row shape {self._row_shape}.")


_SINGLE = "dense_to_sparse_batch: elements of one tensor each are expected; take one component with map() first."
