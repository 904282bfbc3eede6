"""Inputs: conversion of a model's inputs to tensors of its dtypes."""

from __future__ import annotations

from typing import Any

from agog_core import cast, convert_to_tensor, nest
from agog_layers import Layer, Sequential
from agog_layers.arguments.signature import takes_training
from agog_layers.calls.learning_phase import learning_phase_scope
from agog_training.fit.trainable import Trainable


def outputs_of(model: Trainable, x: Any, training: bool = False) -> Any:
    """Call a model on inputs, whose floats take its dtype; its layers learn of training, by its ``call`` or not."""
    inputs = inputs_of(model, x)
    with learning_phase_scope(training):
        return model(inputs, training=training) if takes_training(model.call) else model(inputs)


def inputs_of(model: Trainable, x: Any) -> Any:
    """Inputs as tensors. Floats take the model's dtype, and integers too if it takes floats."""
    x = _listed(model, x)
    symbols = model._input_symbols or ()
    if nest.is_mapping(x) and set(x) == {symbol.name for symbol in symbols}:
        return {s.name: _of_precision(x[s.name], s.dtype, s.dtype.is_floating) for s in symbols}
    dtypes = [symbol.dtype for symbol in symbols]
    leaves = nest.flatten(x)
    if len(dtypes) != len(leaves):
        return nest.map_structure(lambda leaf: _of_precision(leaf, _float_dtype(model), _takes_floats(model)), x)
    every = zip(leaves, dtypes, strict=True)
    return nest.pack(x, [_of_precision(leaf, dtype, dtype.is_floating) for leaf, dtype in every])


def _listed(model: Trainable, x: Any) -> Any:
    """A list of a dict's values under ``input_1``, ``input_2`` and so on, Keras's names of unnamed inputs; anything
    else as it is.
    """
    if nest.is_mapping(x) and not model._input_symbols and set(x) == {f"input_{n + 1}" for n in range(len(x))}:
        return [x[f"input_{n + 1}"] for n in range(len(x))]
    return x


def _takes_floats(model: Trainable) -> bool:
    """Whether the first layer with weights of a model that names no inputs takes floats alone."""
    for layer in model.layers if isinstance(model, Sequential) else ():
        inner = getattr(layer, "layer", layer)  # that of a wrapper
        if inner.needs_floats or type(inner).build is not Layer.build:
            return bool(inner.needs_floats)
    return False


def _float_dtype(model: Trainable) -> Any:
    """The dtype of the model's first variable of floats."""
    # Layer by layer, since the first one that has any tells: a deep model is looked through at each step.
    first = model.layers if isinstance(model, Sequential) and not model._own_weights else ()
    each = (variable.dtype for part in (*first, model) for variable in part.variables)
    return next((dtype for dtype in each if dtype.is_floating), "float32")


def _of_precision(value: Any, dtype: Any, takes_floats: bool) -> Any:
    tensor = convert_to_tensor(value)
    is_number = tensor.dtype.is_integer or tensor.dtype.is_bool
    return cast(tensor, dtype) if tensor.dtype.is_floating or (takes_floats and is_number) else tensor
