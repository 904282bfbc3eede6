"""Elements with a `SparseTensor` among their components, joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core.convert import from_host
from agog_core.errors import InvalidArgumentError
from agog_core.sparse_tensor import SparseTensor
from agog_core.tensor import Tensor


def stack_sparse(column: Sequence[Any], component: int, batch: int) -> SparseTensor:
    """Join sparse tensors along a new first axis; the other axes are as long as the longest.

    Args:
        column: a `SparseTensor` of each element.
        component: the component's number, for the error.
        batch: the batch's number, for the error.

    Returns:
        One `SparseTensor`, of one rank more.

    Raises:
        InvalidArgumentError: dtypes or ranks differ, or not all are sparse.

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


def _form(component: Any) -> str:
    if isinstance(component, SparseTensor):
        return f"a SparseTensor of dtype {component.dtype.name} and rank {component.dense_shape._shape[0]}"
    return "no SparseTensor"


def _like(tensor: Tensor, host: np.ndarray[Any, Any]) -> Tensor:
    return from_host(host, tensor._table)
