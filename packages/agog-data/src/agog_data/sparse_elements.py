"""Sparse elements: joining and slicing of elements with a `SparseTensor` among their components."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from agog_core import SparseTensor, Tensor
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import from_host


def stack_sparse(column: Sequence[Any], component: int, batch: int) -> SparseTensor:
    """Join sparse tensors along a new first axis; the other axes are as long as the longest.

    Raises InvalidArgumentError, with the component's and the batch's number, where dtypes or ranks differ.

    >>> rows = [SparseTensor([[1]], [5.0], [2]), SparseTensor([[0], [3]], [6.0, 7.0], [4])]
    >>> joined = stack_sparse(rows, 0, 0)
    >>> joined.indices.numpy().tolist(), joined.values.numpy().tolist(), joined.shape
    ([[0, 1], [1, 0], [1, 3]], [5.0, 6.0, 7.0], TensorShape([2, 4]))
    """
    forms = [_form(part) for part in column]
    for number, form in enumerate(forms):
        if form != forms[0]:
            raise InvalidArgumentError(
                f"batch: component {component} of element {number} of batch {batch} is {form}; that of element 0 is "
                f"{forms[0]}. A batch needs equal dtypes and ranks; make them equal with map() first."
            )
    indices = [
        np.insert(part.indices._host(), 0, number, axis=1)  # the element's number is the first of each index
        for number, part in enumerate(column)
    ]
    longest = np.max([part.dense_shape._host() for part in column], axis=0)
    first = column[0]
    return SparseTensor(
        _like(first.indices, np.concatenate(indices)),
        _like(first.values, np.concatenate([part.values._host() for part in column])),
        _like(first.dense_shape, np.insert(longest, 0, len(column))),
    )


def unstack_sparse(sparse: SparseTensor) -> list[SparseTensor]:
    """Cut a sparse tensor into its rows, the opposite of `stack_sparse`.

    >>> rows = unstack_sparse(SparseTensor([[0, 1], [2, 0], [2, 3]], [5.0, 6.0, 7.0], [3, 4]))
    >>> [(row.indices.numpy().tolist(), row.values.numpy().tolist()) for row in rows]
    [([[1]], [5.0]), ([], []), ([[0], [3]], [6.0, 7.0])]
    """
    indices, values = sparse.indices._host(), sparse.values._host()
    shape = sparse.dense_shape._host()
    order = np.argsort(indices[:, 0], kind="stable")
    bounds = np.searchsorted(indices[order, 0], np.arange(shape[0] + 1))
    places = [order[begin:end] for begin, end in pairwise(bounds)]
    return [
        SparseTensor(
            _like(sparse.indices, indices[place, 1:]),
            _like(sparse.values, values[place]),
            _like(sparse.dense_shape, shape[1:]),
        )
        for place in places
    ]


def _form(component: Any) -> str:
    if isinstance(component, SparseTensor):
        return f"a SparseTensor of dtype {component.dtype.name} and rank {component.dense_shape._shape[0]}"
    return "no SparseTensor"


def _like(tensor: Tensor, host: np.ndarray[Any, Any]) -> Tensor:
    return from_host(np.ascontiguousarray(host), tensor._table)
