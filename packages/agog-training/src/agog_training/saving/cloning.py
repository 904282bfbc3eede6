"""Cloning: models from descriptions of other models, with new weights."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import agog_layers
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_layers.serialization.description import describe, revive

__all__ = ["clone_model", "model_from_config", "model_from_json"]


def trained(*objects: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Let descriptions make the models with `fit` under the names that agog-layers' models have too."""
    from agog_training import Model, Sequential  # here, because models stand on this room

    return custom_object_scope({"Model": Model, "Sequential": Sequential}, *objects)


def model_from_config(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Make a model or layer from a description; the models train.

    Args:
        config: a dict with ``class_name`` and ``config``.
        custom_objects: names to classes and functions of the program, which the description may name.

    Returns:
        The model; its weights are new.

    Raises:
        ValueError: the description names an unknown class.
    """
    with trained(custom_objects or {}):
        return agog_layers.model_from_config(config)


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Make a model from what `Model.to_json` returned; its weights are new.

    Args:
        json_string: the text.
        custom_objects: names to classes and functions of the program, which the description may name.

    Returns:
        The model, which trains.

    Raises:
        ValueError: the description names an unknown class.

    >>> from agog_layers import Dense
    >>> from agog_training import Sequential
    >>> model = model_from_json(Sequential([Dense(3, input_shape=(4,))], name="again").to_json())
    >>> model.compile("sgd", "mse")
    """
    with trained(custom_objects or {}):
        return agog_layers.model_from_json(json_string)


def clone_model(model: Any, input_tensors: None = None, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Make a model like another one, with new weights. It is not compiled.

    Args:
        model: a `Sequential` or functional model, or one of a class with ``get_config``.
        input_tensors: must be None.
        custom_objects: names to classes and functions of the program, which the model's description may name.

    Returns:
        The new model.

    Raises:
        NotImplementedError: the model is described by its class's code, not by data.
        ValueError: ``input_tensors`` is given, or a class of the program is not among the custom objects.

    >>> from agog_layers import Dense
    >>> from agog_training import Sequential
    >>> model = Sequential([Dense(3, input_shape=(4,))])
    >>> clone_model(model).get_weights()[0].shape
    (4, 3)
    """
    if input_tensors is not None:
        raise ValueError("clone_model: input_tensors is not supported; call the new model on the tensors instead.")
    own = {type(part).__name__: type(part) for part in model._walk(set()) if not _is_ours(type(part))}
    with trained(own, custom_objects or {}):
        return revive(describe(model))


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith("agog_")
