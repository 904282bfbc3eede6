"""Deserialization: models from descriptions, with new weights."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

from agog_core import nest
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_layers.serialization.description import revive

__all__ = ["model_from_config", "model_from_json"]


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Make a model from what `Model.to_json` returned; its weights are new.

    Args:
        json_string: the text.
        custom_objects: names to classes and functions of the program, which the description may name.

    Returns:
        The model.

    Raises:
        ValueError: the description names an unknown class, or the text is none.

    >>> from agog_layers import Dense, Sequential
    >>> text = Sequential([Dense(3, input_shape=(4,))], name="again").to_json()
    >>> model_from_json(text).name
    'again'
    """
    import json

    try:
        config = json.loads(json_string)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"model_from_json: the text is no description of a model: {type(error).__name__}: {error}"
        ) from error
    return model_from_config(config, custom_objects)


def model_from_config(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Make a model or layer from a description.

    Args:
        config: a dict with ``class_name`` and ``config``.
        custom_objects: names to classes and functions of the program, which the description may name.

    Returns:
        The model; its weights are new.

    Raises:
        ValueError: the description names an unknown class, or is none.
    """
    if not (nest.is_mapping(config) and "config" in config and isinstance(config.get("class_name"), str)):
        raise ValueError(
            f"model_from_config: a description is a dict with 'class_name' and 'config'; got {reprlib.repr(config)}."
        )
    with custom_object_scope(custom_objects or {}):
        try:
            return revive({"class_name": config["class_name"], "config": config["config"]}, "layer")
        except (AttributeError, LookupError, RecursionError, TypeError) as error:
            raise ValueError(
                f"model_from_config: the description of a {config['class_name']} is damaged: {type(error).__name__}: "
                f"{error}"
            ) from error
