"""Operand: conversion of numbers and arrays to the dtype of a tensor, and the check for a common one."""

from __future__ import annotations

from collections.abc import Iterable

from agog_core import dtypes
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import from_host
from agog_core.tensors.host_array import converted, host_array, keeps_values
from agog_core.tensors.tensor import Tensor, TensorLike, shared

_PYTHON_NUMBERS = (int, float, bool)


def operand(op: str, value: TensorLike, table: KernelTable, name: str, like: str) -> Tensor:
    """Convert an operand that is no tensor to the dtype of the other operand.

    Tensors of Python numbers are shared between calls, so they must not be handed to anybody outside the op.
    """
    if type(value) not in _PYTHON_NUMBERS:
        return _cast_operand(op, value, table, name, like)
    # repr tells 0.0 from -0.0, and finds NaN again, which is not equal to itself.
    key = type(value), value if value and value == value else repr(value)
    found: Tensor | None = table.scalars.get(key)
    if found is None:
        found = _cast_operand(op, value, table, name, like)
        if len(table.scalars) > 1000:
            table.scalars.clear()
        shared(found._array)
        table.scalars[key] = found
    return found


def _cast_operand(op: str, value: TensorLike, table: KernelTable, name: str, like: str) -> Tensor:
    wanted = table.dtype
    if type(value) is int and wanted.is_integer and not wanted.min <= value <= wanted.max:
        raise TypeError(
            f"{op}: {name} is {value}, which does not fit {like} of dtype {wanted.name}; its integers go from "
            f"{wanted.min} to {wanted.max}."
        )
    host = host_array(value, wanted if type(value) is int and wanted.is_differentiable else None)
    given = as_dtype(host.dtype)
    if not keeps_values(host, given, wanted):
        is_python = type(value) in (*_PYTHON_NUMBERS, complex)
        shown = repr(value) if is_python else f"a value of dtype {given.name} and shape {host.shape}"
        if given in dtypes.NUMERIC and wanted is not dtypes.string and like.isidentifier():
            advice = f"cast {like}, such as tf.cast({like}, tf.{'float32' if given.is_floating else given.name})"
        else:
            advice = "convert it first"
        raise TypeError(f"{op}: {name} is {shown}, which does not fit {like} of dtype {wanted.name}; {advice}.")
    if given is dtypes.float32 and wanted is not given and not hasattr(value, "dtype"):
        host = host_array(value, wanted)  # a Python float is as precise as float64
    return from_host(converted(host, wanted), table)


def check_same_dtype(op: str, names: Iterable[str], tensors: Iterable[Tensor]) -> None:
    """Raise when tensors that must be of one dtype are not."""
    given = list(zip(names, tensors, strict=False))
    (first_name, first), *others = given
    for name, tensor in others:
        if tensor.dtype is not first.dtype:
            raise InvalidArgumentError(
                f"{op}: {first_name} has dtype {first.dtype.name} and {name} has dtype {tensor.dtype.name} (shapes "
                f"{first._shape} and "
                f"{tensor._shape}), but they must be of one dtype; cast one of them, such as tf.cast({name}, "
                f"tf.{first.dtype.name})."
            )
