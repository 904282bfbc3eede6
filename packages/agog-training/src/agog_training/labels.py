"""Labels: integers, where a function of labels and predictions multiplies them with floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import cast
from agog_core.errors import InvalidArgumentError

__all__ = ["compared_with"]


def compared_with(function: Callable[..., Any], y: Any, output: Any, *rest: Any) -> Any:
    """What a function of labels and predictions returns; it gets integer labels as floats where it does not take them
    as they are. Keras of TensorFlow 1 made floats of all labels, later ones leave integers alone.

    >>> from agog_core import constant
    >>> print(compared_with(lambda y, p: y * p, constant([1, 0]), constant([0.5, 0.5])))
    tf.Tensor([0.5 0. ], shape=(2,), dtype=float32)
    """
    try:
        return function(y, output, *rest)
    except (InvalidArgumentError, TypeError, ValueError):
        if y is None or not (y.dtype.is_integer or y.dtype.is_bool) or not output.dtype.is_floating:
            raise
        try:
            return function(cast(y, output.dtype), output, *rest)
        except (InvalidArgumentError, TypeError, ValueError):
            pass  # the first error tells of the labels that the program gave
        raise
