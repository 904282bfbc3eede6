"""Tensor util: functions of TensorFlow's ``python.framework.tensor_util`` that make sense without graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.shapes import TensorShape
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_core.tensors.tensor import Tensor
from agog_core.variables.variable import Variable

__all__ = ["constant_value", "constant_value_as_shape", "convert_n_to_tensor", "is_tensor"]


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor, which each has.

    Args:
        tensor: a tensor.

    Returns:
        An array.

    >>> constant_value(convert_to_tensor([1, 2])).tolist()
    [1, 2]
    """
    return convert_to_tensor(tensor).numpy()


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape in a vector of integers, with -1 for an unknown size.

    Args:
        tensor: a vector of integers.

    Returns:
        The shape.

    >>> constant_value_as_shape([2, -1])
    TensorShape([2, None])
    """
    return TensorShape([None if size == -1 else size for size in np.asarray(constant_value(tensor)).tolist()])


def convert_n_to_tensor(values: Any, dtype: Any = None, name: str | None = None) -> list[Tensor]:
    """Tensors of several values.

    Args:
        values: a list of what `convert_to_tensor` takes.
        dtype: the dtype that each must have.

    Returns:
        A list of tensors.

    >>> [each.numpy().tolist() for each in convert_n_to_tensor([[1], 2])]
    [[1], 2]
    """
    return [convert_to_tensor(value, dtype) for value in values]


def is_tensor(x: Any) -> bool:
    """Whether a value is a tensor, a variable or a sparse tensor.

    Args:
        x: anything.

    Returns:
        The answer.

    >>> is_tensor(convert_to_tensor(1.0)), is_tensor(1.0)
    (True, False)
    """
    return isinstance(x, (Tensor, Variable, SparseTensor))
