"""Gradient check: Jacobians from the tape beside those from small differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core import GradientTape, Tensor, convert_to_tensor

__all__ = ["compute_gradient", "compute_gradient_error"]

_Jacobian = np.ndarray[Any, Any]


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Callable[..., Any],
    y_shape: Any = None,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> Any:
    """The Jacobian of a function, from the tape and from differences of its values.

    Args:
        x: a tensor of float32 or float64, at which the Jacobian is taken, or a list of tensors.
        x_shape: the shape of ``x``, or a list of shapes; None for what they are.
        y: a function of ``x``, of as many arguments as there are tensors, that returns a tensor. Ops run as they are
            called, so the tensor that TensorFlow takes here would not do.
        y_shape: the shape of the function's result; None for what it is.
        x_init_value: an array in place of the value of ``x``, or a list of them.
        delta: the step of the differences.

    Returns:
        Two matrices, from the tape and from differences, with a row for each element of ``x`` and a column for each of
        the result; or a list of such pairs.

    Raises:
        TypeError: ``y`` is no function, or ``x`` is of integers.
        ValueError: a shape is another.

    >>> theoretical, numeric = compute_gradient(np.float64([1.0, 2.0]), [2], lambda x: x * x, [2])
    >>> theoretical.tolist(), numeric.round(6).tolist()
    ([[2.0, 0.0], [0.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]])
    """
    if not callable(y):
        raise TypeError(
            "compute_gradient: y must be a function of x, because ops run as they are called; got "
            f"{type(y).__name__}. Write lambda x: ... around what computes it."
        )
    is_list = isinstance(x, (list, tuple))
    given = (
        list(x if x_init_value is None else x_init_value) if is_list else [x if x_init_value is None else x_init_value]
    )
    tensors = [convert_to_tensor(value) for value in given]
    for tensor, shape in zip(tensors, (x_shape or [None] * len(tensors)) if is_list else [x_shape], strict=True):
        _check("x", tensor, shape)
        if not tensor.dtype.is_floating:
            raise TypeError(f"compute_gradient: x must be floating-point; got {tensor.dtype.name}.")
    _check("y", convert_to_tensor(y(*tensors)), y_shape)
    pairs = [(_by_tape(y, tensors, place), _by_differences(y, tensors, place, delta)) for place in range(len(tensors))]
    return pairs if is_list else pairs[0]


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Callable[..., Any],
    y_shape: Any = None,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> float:
    """How much the Jacobian from the tape differs from that of differences.

    Args:
        x: a tensor at which the Jacobian is taken, or a list of tensors.
        x_shape: the shape of ``x``, or a list of shapes; None for what they are.
        y: a function of ``x`` that returns a tensor.
        y_shape: the shape of the function's result; None for what it is.
        x_init_value: an array in place of the value of ``x``, or a list of them.
        delta: the step of the differences.

    Returns:
        The greatest difference of two elements.

    >>> compute_gradient_error(np.float64([1.0, 2.0]), [2], lambda x: x * x, [2]) < 1e-6
    True
    """
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta)
    pairs: Sequence[tuple[_Jacobian, _Jacobian]] = found if isinstance(found, list) else [found]
    return max(float(np.abs(one - other).max(initial=0.0)) for one, other in pairs)


def _by_tape(y: Callable[..., Any], tensors: list[Tensor], place: int) -> _Jacobian:
    with GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        result = convert_to_tensor(y(*tensors))
    size = result.numpy().size
    jacobian = np.zeros((tensors[place].numpy().size, size))
    units: list[_Jacobian] = list(np.eye(size, dtype=result.dtype.as_numpy_dtype))
    for column, unit in enumerate(units):
        seed = convert_to_tensor(unit.reshape(result.numpy().shape))
        gradient = tape.gradient(result, tensors[place], output_gradients=seed)
        if gradient is not None:
            jacobian[:, column] = convert_to_tensor(gradient).numpy().ravel()
    return jacobian


def _by_differences(y: Callable[..., Any], tensors: list[Tensor], place: int, delta: float) -> _Jacobian:
    value = tensors[place].numpy()

    def moved(row: int, by: float) -> _Jacobian:
        array = value.copy().reshape(-1)
        array[row] += by
        inputs = [*tensors[:place], convert_to_tensor(array.reshape(value.shape)), *tensors[place + 1 :]]
        return np.asarray(convert_to_tensor(y(*inputs)).numpy(), np.float64).ravel()

    rows = [(moved(row, delta) - moved(row, -delta)) / (2 * delta) for row in range(value.size)]
    return np.array(rows).reshape(value.size, -1)


def _check(which: str, tensor: Tensor, shape: Any) -> None:
    if shape is not None and tuple(tensor.shape.as_list()) != tuple(shape):
        raise ValueError(f"compute_gradient: {which}_shape is {list(shape)}, but {which} has shape {tensor.shape}.")
