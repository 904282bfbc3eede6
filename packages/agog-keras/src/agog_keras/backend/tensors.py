"""Tensors: functions of ``tf.keras.backend`` without an equivalent op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, Variable, as_dtype, convert_to_tensor
from agog_core.array_api import repeat
from agog_core.ops.nn.normalization import l2_normalize as unit_vectors
from agog_keras.settings import epsilon
from agog_layers.losses.formulas import binary_entropy

__all__ = [
    "arange",
    "batch_flatten",
    "batch_get_value",
    "batch_set_value",
    "binary_crossentropy",
    "cast_to_floatx",
    "count_params",
    "dot",
    "dtype",
    "flatten",
    "get_value",
    "int_shape",
    "is_keras_tensor",
    "l2_normalize",
    "ndim",
    "repeat_elements",
    "set_value",
    "update",
    "update_add",
    "update_sub",
    "variable",
]


def get_value(x: Any) -> Any:
    """The value of a variable, a tensor or a number.

    Args:
        x: the variable, tensor or number; also an optimizer's learning rate.

    Returns:
        An array, or a number.

    >>> get_value(Variable(2.0))
    np.float32(2.0)
    """
    return x.numpy() if hasattr(x, "numpy") else x


def set_value(x: Any, value: Any) -> None:
    """Give a variable another value.

    Args:
        x: the variable, or an optimizer's learning rate.
        value: the value.

    Raises:
        TypeError: it is neither.

    >>> v = Variable(2.0)
    >>> set_value(v, 3.0)
    >>> float(v)
    3.0
    """
    if not hasattr(x, "assign"):
        raise TypeError(f"set_value: x must be a variable; got {x!r} of type {type(x).__name__}.")
    x.assign(value)


def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """The values of several variables. See `get_value`."""
    return [get_value(each) for each in tensors]


def batch_set_value(tuples: Sequence[tuple[Any, Any]]) -> None:
    """Give several variables other values: pairs of a variable and a value. See `set_value`."""
    for x, value in tuples:
        set_value(x, value)


def update(x: Variable, new_x: TensorLike) -> Variable:
    """Assign a value to a variable. See `set_value`; it returns the variable."""
    return x.assign(new_x)


def update_add(x: Variable, increment: TensorLike) -> Variable:
    """Add to a variable. See `set_value`; it returns the variable."""
    return x.assign_add(increment)


def update_sub(x: Variable, decrement: TensorLike) -> Variable:
    """Subtract from a variable. See `set_value`; it returns the variable."""
    return x.assign_sub(decrement)


def variable(
    value: TensorLike, dtype: Any = None, name: str | None = None, constraint: Callable[[Tensor], Tensor] | None = None
) -> Any:
    """Make a variable.

    Args:
        value: its first value; of a sparse matrix of SciPy a `tf.SparseTensor` is made.
        dtype: its dtype; None for float32.
        name: its name.
        constraint: a function that optimizers apply to the value after each update.

    Returns:
        The variable.

    >>> variable([1, 2]).dtype.name
    'float32'
    """
    if hasattr(value, "tocoo"):  # a sparse matrix of SciPy
        matrix: Any = value.tocoo()
        return ag.SparseTensor(list(zip(matrix.row, matrix.col, strict=True)), matrix.data, matrix.shape)
    first = ag.cast(value, as_dtype(dtype or "float32")) if hasattr(value, "dtype") else value
    return Variable(convert_to_tensor(first, as_dtype(dtype or "float32")), name=name, constraint=constraint)


def int_shape(x: Any) -> tuple[int | None, ...]:
    """The shape of a tensor, a variable or what a layer made of a `tf.keras.Input`.

    Args:
        x: the tensor.

    Returns:
        A tuple of sizes, with None for unknown ones.

    >>> int_shape(ag.ones([2, 3]))
    (2, 3)
    """
    return tuple(ag.TensorShape(x.shape).as_list())


def ndim(x: Any) -> int:
    """The number of axes.

    Args:
        x: a tensor.

    Returns:
        An integer.

    >>> ndim(ag.ones([2, 3]))
    2
    """
    return len(int_shape(x))


def count_params(x: Any) -> int:
    """The number of elements.

    Args:
        x: a tensor or a variable.

    Returns:
        An integer.

    >>> count_params(ag.ones([2, 3]))
    6
    """
    return int(ag.TensorShape(x.shape).num_elements() or 0)


def dtype(x: Any) -> str:
    """The name of a tensor's dtype.

    Args:
        x: a tensor or a variable.

    Returns:
        The name.

    >>> dtype(ag.ones([2]))
    'float32'
    """
    name: str = as_dtype(x.dtype).name
    return name


def is_keras_tensor(x: Any) -> bool:
    """Whether a value comes of a `tf.keras.Input`.

    Args:
        x: anything.

    Returns:
        True or False.

    >>> is_keras_tensor(ag.ones([2]))
    False
    """
    return type(x).__name__ == "Symbolic"


def cast_to_floatx(x: TensorLike) -> Tensor:
    """Make floats of numbers.

    Args:
        x: a tensor, or what converts to one.

    Returns:
        A tensor of float32.

    >>> print(cast_to_floatx([1, 2]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    return ag.cast(x, "float32")


def flatten(x: TensorLike) -> Tensor:
    """Make a vector of a tensor.

    Args:
        x: a tensor.

    Returns:
        A tensor of rank 1.

    >>> print(flatten([[1, 2], [3, 4]]))
    tf.Tensor([1 2 3 4], shape=(4,), dtype=int32)
    """
    return ag.reshape(x, [-1])


def batch_flatten(x: TensorLike) -> Tensor:
    """Make a vector of each example.

    Args:
        x: a tensor of shape (batch, ...).

    Returns:
        A tensor of shape (batch, n).

    >>> batch_flatten(ag.ones([2, 3, 4])).shape
    TensorShape([2, 12])
    """
    tensor = convert_to_tensor(x)
    return ag.reshape(tensor, [tensor.shape[0], -1])


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Tensor:
    """Evenly spaced numbers.

    Args:
        start: the first number; or where they end, if ``stop`` is None.
        stop: where they end, without it.
        step: the distance.
        dtype: the dtype.

    Returns:
        A vector.

    >>> print(arange(3))
    tf.Tensor([0 1 2], shape=(3,), dtype=int32)
    """
    first, last = (0, start) if stop is None else (start, stop)
    return ag.cast(ag.range(first, last, step), dtype)


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """The product over the last axis of the first tensor and the last but one of the second.

    Args:
        x: a tensor of shape (..., n).
        y: a tensor of shape (..., n, m), or (n,).

    Returns:
        A tensor of shape (..., ..., m).

    >>> dot(ag.ones([2, 3, 4]), ag.ones([4, 5])).shape
    TensorShape([2, 3, 5])
    """
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    return ag.tensordot(a, b, [[len(a.shape) - 1], [max(0, len(b.shape) - 2)]])


def repeat_elements(x: TensorLike, rep: int, axis: int) -> Tensor:
    """Repeat each element several times in a row. See `tf.repeat`."""
    return repeat(x, rep, axis=axis)


def l2_normalize(x: TensorLike, axis: int | None = None) -> Tensor:
    """Divide by the Euclidean norm along an axis. See `tf.nn.l2_normalize`."""
    return unit_vectors(x, axis)


def binary_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False) -> Tensor:
    """The cross entropy of each element.

    Args:
        target: labels, from 0 to 1.
        output: predictions of the same shape: probabilities, or logits.
        from_logits: whether the predictions are logits.

    Returns:
        A tensor of that shape.

    >>> print(f"{binary_crossentropy([1.0], [0.5]).numpy()[0]:.4f}")
    0.6931
    """
    return binary_entropy(convert_to_tensor(target), convert_to_tensor(output), from_logits, epsilon())
