"""Activation functions, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import Tensor, TensorLike, sigmoid, tanh
from agog_core.ops.nn import relu, softmax

Activation = Callable[[Tensor], Tensor]


def linear(x: TensorLike) -> Any:
    """The identity.

    Args:
        x: anything.

    Returns:
        ``x`` itself.

    >>> linear(3.0)
    3.0
    """
    return x


_BY_NAME: dict[str, Activation] = {function.__name__: function for function in (linear, relu, sigmoid, softmax, tanh)}


def get(identifier: str | Activation | None) -> Activation:
    """The activation function that an argument stands for.

    Args:
        identifier: a name, a function, or None for `linear`.

    Returns:
        The function.

    Raises:
        ValueError: the name is unknown.
        TypeError: the argument is none of these.

    >>> print(get("relu")([-1.0, 2.0]))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        if identifier not in _BY_NAME:
            raise ValueError(
                f"Unknown activation {identifier!r}; the names are {', '.join(_BY_NAME)}, or pass a function."
            )
        return _BY_NAME[identifier]
    if not callable(identifier):
        raise TypeError(
            f"An activation is a name, a function or None; got {identifier!r} of type {type(identifier).__name__}."
        )
    return identifier
