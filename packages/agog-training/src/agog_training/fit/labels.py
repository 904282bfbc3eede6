"""Labels: conversion of labels to the dtype and shape of the compared output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import Tensor, cast
from agog_core.errors import InvalidArgumentError
from agog_layers.losses.arguments import check_alike
from agog_layers.metrics import correctness
from agog_layers.metrics import lookup as keras_metrics

__all__ = ["check_shapes", "compared", "compared_with"]

_SPARSE = "sparse_"
# What makes its own choice by the shapes.
_CHOOSING = ("accuracy", "acc", "crossentropy", "ce")
_names = {function: name for name, function in reversed(keras_metrics.by_name.items()) if name not in _CHOOSING}
_names[correctness.categorical_in_top] = "top_k_categorical_accuracy"
_names[correctness.sparse_in_top] = "sparse_top_k_categorical_accuracy"


def compared(identifier: Any) -> str | None:
    """The name of a loss or metric with a shape rule for labels; None of others, such as a program's own.

    >>> compared("mse"), compared("acc")
    ('mean_squared_error', None)
    """
    if identifier is None or (isinstance(identifier, str) and identifier in _CHOOSING):
        return None
    found = keras_metrics.get(identifier) if isinstance(identifier, str) else identifier
    function = getattr(type(found), "function", found)
    return _names.get(function) if callable(function) and getattr(function, "__hash__", None) else None


def check_shapes(model: str, function: str, labels: Tensor, output: Tensor) -> None:
    """Raise a ValueError with a remedy if labels do not have the shape for a loss or metric; see `check_alike`."""
    is_sparse = function.startswith(_SPARSE)
    if not is_sparse:
        if labels._shape == output._shape:  # the most frequent case
            return
        sparse = _SPARSE + function
        fits = sparse if sparse in keras_metrics.by_name else "sparse_categorical_crossentropy"
        check_alike(f"Model {model!r}: {function}", labels, output, fits)
    elif labels._shape == output._shape and len(output._shape) > 1 and output._shape[-1] != 1:
        raise ValueError(
            f"Model {model!r}: {function} takes class numbers; got labels of shape {labels.shape} for an output of "
            f"shape {output.shape}. One-hot labels go with {function.removeprefix(_SPARSE)}."
        )


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
