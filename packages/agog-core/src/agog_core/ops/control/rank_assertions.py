"""Rank assertions, assertions about dtypes, and what is a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from agog_core.calls.docstrings import documented, documented_like
from agog_core.dtypes import FLOATING, DType, as_dtype, float32, int32
from agog_core.ops.control.assertions import fail
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.indexed_slices import IndexedSlices
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_core.tensors.tensor import Tensor, TensorLike
from agog_core.variables.variable import Variable

__all__ = [
    "assert_integer",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_type",
    "is_numeric_tensor",
    "is_tensor",
]

_SECTIONS = """
    Args:
        x: a tensor.
        {rank}: {meaning}.
        data: what the error shows besides.
        summarize: how many elements of each tensor of ``data`` it shows at either end; None for 3, -1 for all.
        message: what the error begins with.

    Raises:
        ValueError: its rank is {fault}, or what is asked for is no scalar.
        TypeError: what is asked for is no integer.
"""


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raise unless a tensor holds integers.

    Args:
        x: a tensor.
        message: what the error begins with.

    Raises:
        TypeError: its dtype is another.

    >>> assert_integer([1, 2])
    """
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_integer:
        fail(
            TypeError,
            f"assert_integer: Expected x to be of integer type; got dtype {tensor.dtype.name} and shape "
            f"{tensor._shape}.",
            message,
        )


@documented_like(assert_integer)
def assert_type(tensor: TensorLike, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise unless a tensor is of a dtype.

    Args:
        tensor: a tensor.
        tf_type: the dtype.

    >>> assert_type([1, 2], "int32")
    """
    x, wanted = convert_to_tensor(tensor), as_dtype(tf_type)
    if x.dtype is not wanted:
        fail(
            TypeError,
            f"assert_type: the tensor must be of type {wanted.name}; got dtype {x.dtype.name} and shape {x._shape}.",
            message,
        )


def assert_scalar(tensor: TensorLike, name: str | None = None, message: str | None = None) -> Tensor:
    """Raise unless a tensor is a scalar.

    Args:
        tensor: a tensor.
        message: what the error begins with.

    Returns:
        The tensor.

    Raises:
        ValueError: its rank is not 0.

    >>> print(assert_scalar(1))
    tf.Tensor(1, shape=(), dtype=int32)
    """
    x = convert_to_tensor(tensor)
    if x._shape:
        fail(ValueError, f"assert_scalar: Expected scalar; got a tensor of shape {x._shape}.", message)
    return x


@documented(_SECTIONS, rank="rank", meaning="the rank", fault="another")
def assert_rank(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[TensorLike] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless a tensor is of a rank.

    >>> assert_rank([1, 2], 1)
    """
    shape, wanted = convert_to_tensor(x)._shape, _rank("assert_rank", rank)
    if len(shape) != wanted:
        text = f"assert_rank: x must have rank {wanted}; got rank {len(shape)} (shape {shape})."
        fail(ValueError, text, message, data, summarize)


@documented(_SECTIONS, rank="rank", meaning="the least rank", fault="lower")
def assert_rank_at_least(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[TensorLike] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless a tensor has at least so many axes.

    >>> assert_rank_at_least([[1, 2]], 1)
    """
    shape, least = convert_to_tensor(x)._shape, _rank("assert_rank_at_least", rank)
    if len(shape) < least:
        text = f"assert_rank_at_least: x must have rank at least {least}; got rank {len(shape)} (shape {shape})."
        fail(ValueError, text, message, data, summarize)


@documented(_SECTIONS, rank="ranks", meaning="the ranks", fault="another")
def assert_rank_in(
    x: TensorLike,
    ranks: Iterable[TensorLike],
    data: Sequence[TensorLike] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless a tensor is of one of several ranks.

    >>> assert_rank_in([[1, 2]], (1, 2))
    """
    shape, allowed = convert_to_tensor(x)._shape, [_rank("assert_rank_in", rank) for rank in ranks]
    if len(shape) not in allowed:
        text = f"assert_rank_in: x must have rank in {allowed}; got rank {len(shape)} (shape {shape})."
        fail(ValueError, text, message, data, summarize)


def _rank(op: str, rank: TensorLike) -> int:
    value = host_value(rank)
    if value.shape:
        raise ValueError(f"{op}: Rank must be a scalar; got {rank!r} of shape {value.shape}.")
    if value.dtype.kind not in "iu":
        kind = as_dtype(value.dtype).name
        raise TypeError(f"{op}: the rank must be of type {int32}, or another integer; got {rank!r} of dtype {kind}.")
    return int(value)


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> DType:
    """Raise unless all tensors are of one floating-point dtype.

    Args:
        tensors: tensors; None among them are passed over.
        dtype: the dtype; None for that of the tensors.

    Returns:
        The dtype; float32 where nothing says which.

    Raises:
        ValueError: they are not.

    >>> assert_same_float_dtype([convert_to_tensor(1.0)])
    tf.float32
    """
    given = [getattr(x, "dtype", None) or convert_to_tensor(x).dtype for x in tensors or () if x is not None]
    wanted = as_dtype(dtype) if dtype is not None else given[0] if given else float32
    if wanted not in FLOATING or any(each is not wanted for each in given):
        which = "" if dtype is None else f", {wanted.name}"
        got = ", ".join(each.name for each in given) or wanted.name
        raise ValueError(f"assert_same_float_dtype: the tensors must be of one floating-point dtype{which}; got {got}.")
    return wanted


def assert_proper_iterable(values: Any) -> None:
    """Raise unless a value is a collection of values, and not a tensor, an array or a string.

    Args:
        values: anything.

    Raises:
        TypeError: it is none.

    >>> assert_proper_iterable([1, 2])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            "assert_proper_iterable: expected values to be iterable, in a collection such as a list; got a "
            f"{type(values).__name__}."
        )


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether a value is a tensor of numbers.

    Args:
        tensor: anything.

    Returns:
        True for tensors of numbers only.

    >>> is_numeric_tensor(convert_to_tensor(1)), is_numeric_tensor(1)
    (True, False)
    """
    return isinstance(tensor, Tensor) and (tensor.dtype.is_differentiable or tensor.dtype.is_integer)


def is_tensor(x: Any) -> bool:
    """Whether a value is a tensor, a variable, a `SparseTensor` or `IndexedSlices`.

    Args:
        x: anything.

    Returns:
        True or False; False for arrays and numbers.

    >>> is_tensor(Variable(1.0)), is_tensor([1.0])
    (True, False)
    """
    return isinstance(x, (Tensor, Variable, SparseTensor, IndexedSlices))
