"""Cloning: a model like another one, with weights of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_layers.base.configured import custom_object_scope, describe, revive

__all__ = ["clone_model"]


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
    with custom_object_scope(own, custom_objects or {}):
        return revive(describe(model))


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith("agog_")
