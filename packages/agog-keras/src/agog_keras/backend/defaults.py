"""Defaults: functions of ``tf.keras.backend`` with other arguments or defaults than their ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, Variable, as_dtype, convert_to_tensor

__all__ = [
    *("argmax", "argmin", "clip", "concatenate", "constant", "expand_dims", "mean", "one_hot", "ones"),
    *("permute_dimensions", "pow", "reverse", "switch", "tile", "zeros"),
]


def argmax(x: TensorLike, axis: int = -1) -> Tensor:
    """The place of the largest element along an axis, by default the last one. See `tf.argmax`."""
    return ag.argmax(x, axis)


def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    """The place of the smallest element along an axis, by default the last one. See `tf.argmin`."""
    return ag.argmin(x, axis)


def clip(x: TensorLike, min_value: Any, max_value: Any) -> Tensor:
    """Limit the elements; a limit of None is none.

    Args:
        x: a tensor.
        min_value: the smallest value.
        max_value: the largest one; it counts as ``min_value`` where it is smaller.

    Returns:
        A tensor of the same shape.

    >>> clip([-1.0, 0.5, 3.0], 0, 1).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    values = convert_to_tensor(x)
    if min_value is not None and max_value is not None and max_value < min_value:
        max_value = min_value
    above = values if min_value is None else ag.maximum(values, ag.cast(min_value, values.dtype))
    return above if max_value is None else ag.minimum(above, ag.cast(max_value, values.dtype))


def concatenate(tensors: Sequence[TensorLike], axis: int = -1) -> Tensor:
    """Join tensors along an axis, by default the last one. See `tf.concat`."""
    return ag.concat(tensors, axis)


def constant(value: TensorLike, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """Make a tensor, of float32 where nothing else is said. See `tf.constant`."""
    return ag.constant(convert_to_tensor(value).numpy(), as_dtype(dtype or "float32"), shape)


def expand_dims(x: TensorLike, axis: int = -1) -> Tensor:
    """Add an axis of size 1, by default the last one. See `tf.expand_dims`."""
    return ag.expand_dims(x, axis)


def mean(x: TensorLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along axes; of booleans it is the share of those that are true. See `tf.reduce_mean`."""
    values = convert_to_tensor(x)
    return ag.reduce_mean(ag.cast(values, "float32") if values.dtype.is_bool else values, axis, keepdims)


def one_hot(indices: TensorLike, num_classes: int) -> Tensor:
    """A one in the place of each class, and zeros elsewhere. See `tf.one_hot`."""
    return ag.one_hot(indices, num_classes)


def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor:
    """Order the axes in another way. See `tf.transpose`."""
    return ag.transpose(x, pattern)


def pow(x: TensorLike, a: Any) -> Tensor:
    """Raise to a power. See `tf.pow`."""
    return ag.pow(x, a)


def reverse(x: TensorLike, axes: int | Sequence[int]) -> Tensor:
    """Reverse the order along an axis, or several. See `tf.reverse`."""
    return ag.reverse(x, [axes] if isinstance(axes, int) else list(axes))


def tile(x: TensorLike, n: int | Sequence[int]) -> Tensor:
    """Repeat a tensor along each axis. See `tf.tile`."""
    return ag.tile(x, [n] if isinstance(n, int) else n)


def switch(condition: TensorLike, then_expression: Any, else_expression: Any) -> Any:
    """One of two values, or of their elements.

    Args:
        condition: a boolean: one for all, or a tensor of them, whose shape is a beginning of that of the values.
        then_expression: a tensor, or a function without arguments that returns it.
        else_expression: the other one.

    Returns:
        A tensor.

    Raises:
        ValueError: the condition has more axes than the values.

    >>> switch([True, False], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]).numpy().tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    chosen = ag.cast(condition, "bool")
    if chosen.ndim == 0:
        return _value(then_expression if bool(chosen) else else_expression)
    one, other = _value(then_expression), _value(else_expression)
    if chosen.ndim > one.ndim:
        raise ValueError(
            f"switch: the condition must not have more axes than the values; got shapes {chosen.shape} and {one.shape}."
        )
    shape = [*chosen.shape.as_list(), *[1] * (one.ndim - chosen.ndim)]
    return ag.where(ag.logical_and(ag.reshape(chosen, shape), ag.ones_like(one, "bool")), one, other)


def _value(expression: Any) -> Tensor:
    return convert_to_tensor(expression() if callable(expression) else expression)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Variable:
    """Make a variable of ones. See `zeros`."""
    return _filled(ag.ones, shape, dtype, name)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Variable:
    """Make a variable of zeros.

    Args:
        shape: its shape.
        dtype: its dtype; None for float32.
        name: its name.

    Returns:
        The variable.

    >>> zeros((2, 3)).shape
    TensorShape([2, 3])
    """
    return _filled(ag.zeros, shape, dtype, name)


def _filled(make: Callable[..., Tensor], shape: Any, dtype: Any, name: str | None) -> Variable:
    return Variable(make(shape, as_dtype(dtype or "float32")), name=name)
