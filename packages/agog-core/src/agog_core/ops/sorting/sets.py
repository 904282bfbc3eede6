"""Sets: the numbers or strings on the last axis, each once. They are computed on the host and have no gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.calls.docstrings import documented
from agog_core.errors import InvalidArgumentError
from agog_core.tensors import SparseTensor, Tensor, TensorLike, constant
from agog_core.tensors.convert import at_each_run, convert_to_tensor

__all__ = ["set_difference", "set_intersection", "set_size", "set_union"]

SetOfSets = TensorLike | SparseTensor
Rows = dict[tuple[int, ...], set[Any]]

_SECTIONS = """
    Args:
        a: integers or strings of shape (..., n), a tensor or a `SparseTensor`.
        b: the same, of the same dtype and of shape (..., m).

    Returns:
        A `SparseTensor` with the sorted values of each row.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes before the last axis.
"""


def set_size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """The sizes of sets.

    Args:
        a: a `SparseTensor` with a set on each row of the last axis.

    Returns:
        An int32 tensor of the shape without the last axis.

    Raises:
        InvalidArgumentError: the rank is 0.

    >>> print(set_size(SparseTensor([[0, 0], [0, 1], [0, 2]], [5, 6, 5], [2, 3])))
    tf.Tensor([2 0], shape=(2,), dtype=int32)
    """
    return at_each_run(_sizes, a)


def _sizes(a: SparseTensor) -> Tensor:
    rows, shape, _ = _rows("set_size", a)
    sizes = np.zeros(shape, np.int32)
    for place, values in rows.items():
        sizes[place] = len(values)
    return constant(sizes)


@documented(_SECTIONS)
def set_intersection(a: SetOfSets, b: SetOfSets, validate_indices: bool = True) -> SparseTensor:
    """The elements of both sets.

    >>> print(set_intersection([[1, 2, 3]], [[3, 1]]).values)
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    """
    return _combine("set_intersection", a, b, set.intersection)


@documented(_SECTIONS)
def set_union(a: SetOfSets, b: SetOfSets, validate_indices: bool = True) -> SparseTensor:
    """The elements of either of two sets.

    >>> print(set_union([[1, 2, 3]], [[3, 7]]).values)
    tf.Tensor([1 2 3 7], shape=(4,), dtype=int32)
    """
    return _combine("set_union", a, b, set.union)


def set_difference(a: SetOfSets, b: SetOfSets, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of one set that are not in the other.

    Args:
        aminusb: whether it is what is in ``a`` and not in ``b``; else the other way round.
        Other arguments: see `set_union`.

    Returns:
        A `SparseTensor` with the sorted values of each row.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes before the last axis.

    >>> print(set_difference([[1, 2, 3]], [[3, 7]]).values)
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """
    first, second = (a, b) if aminusb else (b, a)
    return _combine("set_difference", first, second, set.difference)


def _combine(op: str, a: SetOfSets, b: SetOfSets, combine: Callable[[set[Any], set[Any]], set[Any]]) -> SparseTensor:
    return at_each_run(lambda a, b: _combined(op, a, b, combine), a, b)


def _combined(op: str, a: SetOfSets, b: SetOfSets, combine: Callable[[set[Any], set[Any]], set[Any]]) -> SparseTensor:
    first, shape, dtype = _rows(op, a)
    second, other_shape, other_dtype = _rows(op, b)
    if shape != other_shape or dtype is not other_dtype:
        raise InvalidArgumentError(
            f"{op}: the sets must be of one dtype and as many; got {dtype.name} in rows of shape {shape} and "
            f"{other_dtype.name} in rows of shape {other_shape}."
        )
    empty: set[Any] = set()
    found = {
        place: sorted(combine(first.get(place, empty), second.get(place, empty)))
        for place in sorted(first.keys() | second.keys())
    }
    places = [(*place, n) for place, values in found.items() for n in range(len(values))]
    values = constant([value for row in found.values() for value in row], dtype)
    longest = max(map(len, found.values()), default=0)
    return SparseTensor(
        np.array(places, np.int64).reshape(-1, len(shape) + 1), values, np.array([*shape, longest], np.int64)
    )


def _rows(op: str, a: SetOfSets) -> tuple[Rows, tuple[int, ...], Any]:
    """The sets by their places, the shape of the places, and the dtype."""
    rows: Rows = {}
    if isinstance(a, SparseTensor):
        shape = tuple(a.dense_shape.numpy().tolist())
        places, values, dtype = a.indices.numpy().tolist(), a.values.numpy().tolist(), a.dtype
    else:
        dense = convert_to_tensor(a)
        host = dense._host()
        shape, dtype = dense._shape, dense.dtype
        places, values = list(np.ndindex(shape)), host.reshape(-1).tolist()
    if not shape:
        raise InvalidArgumentError(f"{op}: sets are on the last axis; got a scalar.")
    for place, value in zip(places, values, strict=True):
        rows.setdefault(tuple(place[:-1]), set()).add(value)
    return rows, shape[:-1], dtype
