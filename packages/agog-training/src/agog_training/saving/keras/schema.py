"""Schema: agog's counterparts of the classes and settings in files of Keras 3."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, TypeGuard

import agog_layers
from agog_core import nest
from agog_layers import activations
from agog_layers.layer.function_layer import can_call
from agog_layers.serialization.custom_objects import custom_object
from agog_layers.serialization.description import constructor_arguments
from agog_layers.serialization.registry import classes
from agog_layers.weights import constraints, initializers, regularizers

__all__ = [
    "MODELS",
    "OPERATORS",
    "VALUES",
    "class_of",
    "is_object",
    "is_operation",
    "settings_of",
    "snake_case",
    "unknown_in",
]

Description = Mapping[str, Any]

# The models that Keras describes by their layers.
MODELS = {"Functional", "Model", "Sequential"}
# Keras's operators of symbolic values, by their classes in files.
OPERATORS = {
    "Absolute": "abs",
    "Add": "add",
    "FloorDivide": "floordiv",
    "Matmul": "matmul",
    "Mod": "mod",
    "Multiply": "mul",
    "Negative": "neg",
    "Power": "pow",
    "Subtract": "sub",
    "TrueDivide": "truediv",
}
# What stands for values and not for objects.
VALUES = {"__ellipsis__", "__keras_tensor__", "__numpy__", "__slice__", "__tensor__", "__tuple__", "DTypePolicy"}
# Settings that agog's layers lack, with their neutral value; for any setting None and False do.
_WITHOUT_EFFECT: Mapping[str, Any] = {
    "attention_axes": [1],
    "autocast": True,
    "data_format": "channels_last",
    "ema_momentum": 0.99,
    "encoding": "utf-8",
    "fill_mode": "constant",
    "fill_value": 0.0,
    "score_mode": "dot",
    "value_range": [0, 255],
    "vocabulary_dtype": "int64",
}
# Settings of random numbers, and what Keras derives of another layer or a vocabulary.
_NOT_ASKED = {"backward_layer", "seed", "vocabulary_size"}
_ROOMS: Mapping[str, Any] = {
    "keras.constraints": constraints,
    "keras.initializers": initializers,
    "keras.regularizers": regularizers,
}
_RENAMED = {"IdentityInitializer": "Identity", "L1": "L1L2", "L2": "L1L2", "OrthogonalInitializer": "Orthogonal"}
_ALSO = {"batch_shape": "batch_input_shape"}


def is_object(data: Any) -> TypeGuard[Description]:
    """Whether data describe an object, a function or a value that JSON does not have."""
    return nest.is_mapping(data) and "class_name" in data and bool({"config", "items"} & set(data))


def is_operation(data: Description) -> bool:
    """Whether data describe a call of a function of ``keras.ops``."""
    return str(data.get("module") or "").startswith("keras.src.ops")


def class_of(data: Description) -> Any:
    """The class that a description means, of the program or of these packages; None if there is none."""
    name, module = str(data["class_name"]), str(data.get("module") or "")
    for own in (data.get("registered_name"), name):
        if own and not module.startswith("keras.") and (found := custom_object(str(own))) is not None:
            return found
    if module in _ROOMS:
        name = _RENAMED.get(name, name)
        return getattr(_ROOMS[module], name, None) or getattr(_ROOMS[module], snake_case(name), None)
    found = getattr(agog_layers, name, None) or classes["layer"].get(name)
    return found if isinstance(found, type) and issubclass(found, agog_layers.Layer) else None


def snake_case(name: str) -> str:
    """The name of a function, of a class's.

    >>> snake_case("TrueDivide"), snake_case("L2")
    ('true_divide', 'l2')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def settings_of(data: Description, kind: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of a class, and unknown ones with an effect."""
    config = {_ALSO.get(name, name): value for name, value in data["config"].items()}
    if not kind.__module__.startswith("agog_"):
        return config, {}
    taken = set(constructor_arguments(kind) if isinstance(kind, type) else signature(kind).parameters)
    rest = {name: value for name, value in config.items() if name not in taken}
    unknown = {name: value for name, value in rest.items() if not _says_nothing(name, value)}
    return {name: value for name, value in config.items() if name in taken}, unknown


def _says_nothing(name: str, value: Any) -> bool:
    default = _WITHOUT_EFFECT.get(name)
    return name in _NOT_ASKED or value is None or value is False or (name in _WITHOUT_EFFECT and value == default)


def unknown_in(data: Any, where: str) -> Iterator[str]:
    """The unknown names in a description, each with its layer."""
    if is_object(data):
        if data["class_name"] not in VALUES:
            yield from _unknown_object(data, where)
        return
    parts = data.values() if nest.is_mapping(data) else data if isinstance(data, (list, tuple)) else ()
    for part in parts:
        yield from unknown_in(part, where)


def _unknown_object(data: Description, where: str) -> Iterator[str]:
    name, config = str(data["class_name"]), data.get("config", {})
    if name == "function":
        if custom_object(str(config)) is None and not _is_activation(str(config)):
            yield f"the function {config!r} of {where}"
    elif name == "__lambda__":
        yield f"the code of a lambda of {where}"
    elif not nest.is_mapping(config):
        yield f"the {name} of {where}, which is described by {config!r}"
    elif is_operation(data):
        if name not in OPERATORS and not can_call(snake_case(name)):
            yield f"the operation {name} of {where} (import agog.keras.ops for those that it has)"
    elif name in MODELS and "layers" in config:
        for layer in config["layers"]:
            yield from unknown_in(layer, where)
    else:
        where = f"layer {config['name']!r}" if "name" in config else where
        kind = class_of(data)
        if kind is None:
            yield f"the class {name} of {where}"
            return
        settings, unknown = settings_of(data, kind)
        for setting, value in unknown.items():
            yield f"{setting}={value!r} of {name} {where}"
        yield from unknown_in(settings, where)
        if is_object(backward := config.get("backward_layer")) and _both_ways(backward) != _both_ways(config["layer"]):
            yield f"a backward_layer that is no copy of the other, of {where}"
        for setting, value in settings.items():
            if setting.endswith("activation") and isinstance(value, str) and not _is_activation(value):
                yield f"the activation {value!r} of {where}"


def _both_ways(data: Any) -> Any:
    """The settings of a recurrent layer in both directions."""
    if nest.is_mapping(data):
        without = ("build_config", "go_backwards", "name", "shared_object_id")
        return {name: _both_ways(value) for name, value in data.items() if name not in without}
    return data


def _is_activation(name: str) -> bool:
    try:
        activations.get(name)
    except ValueError:
        return False
    return True
