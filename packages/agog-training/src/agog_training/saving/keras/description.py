"""Description: models from the descriptions in files of Keras 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core import nest
from agog_layers import Layer
from agog_layers.layer.function_layer import Called
from agog_layers.layer.operator_layer import Operation
from agog_layers.models.graph import connect
from agog_layers.serialization.custom_objects import custom_object
from agog_training.saving.keras import schema

__all__ = ["made", "made_layer", "made_model"]

Description = Mapping[str, Any]

# Activations with another formula in Keras 3 than under that name here.
_ACTIVATIONS = {"hard_sigmoid": "h_sigmoid"}
# What stands for an input of an operation among its arguments.
_INPUT = "<input>"


def made_model(description: Description) -> Any:
    """The model that a description says, with new weights. A ValueError names all that is not known here."""
    if unknown := list(dict.fromkeys(schema.unknown_in(description, "the model"))):
        raise ValueError(
            f"agog does not have {'; '.join(unknown)}. Classes and functions of the program go into custom_objects."
        )
    return made(description)


def made_layer(description: Description) -> Any:
    """The layer that a description says; None for one that is not known here."""
    return None if any(True for _ in schema.unknown_in(description, "")) else made(description)


def made(data: Any) -> Any:
    """The meaning of data: an object, a value, or a structure of those."""
    if isinstance(data, (list, tuple)):
        return [made(part) for part in data]
    if not nest.is_mapping(data):
        return data
    if not schema.is_object(data):
        return {name: made(part) for name, part in data.items()}
    name = data["class_name"]
    if name in schema.VALUES:
        return _value(data)
    if name == "function":
        return custom_object(data["config"]) or _ACTIVATIONS.get(data["config"], data["config"])
    if name in schema.MODELS and "layers" in data["config"]:
        return _sequential(data["config"]) if name == "Sequential" else _functional(data["config"])
    kind = schema.class_of(data)
    settings = {key: _setting(key, value) for key, value in schema.settings_of(data, kind)[0].items()}
    return kind.from_config(settings) if hasattr(kind, "from_config") else kind(**settings)


def _setting(name: str, value: Any) -> Any:
    own = custom_object(value) if isinstance(value, str) else None
    if name.endswith("activation") and isinstance(value, str) and own is None:
        return _ACTIVATIONS.get(value, value)
    return made(value)


def _value(data: Description) -> Any:
    name, config = data["class_name"], data.get("config")
    if name == "__keras_tensor__":
        return {"symbol": list(data["config"]["keras_history"])}
    if name == "__tuple__":
        return [made(part) for part in data["items"]]
    if name == "__ellipsis__":
        return ...
    if name == "__slice__":
        return slice(*(made(data["config"][part]) for part in ("start", "stop", "step")))
    assert config is not None
    return config["name" if name == "DTypePolicy" else "value"]


def _sequential(config: Description) -> Any:
    from agog_training import Sequential  # here, because models stand on this room

    model = Sequential([made(layer) for layer in config["layers"]], name=config["name"])
    if not model.built and config.get("build_input_shape") is not None:
        model.build(config["build_input_shape"])
    return model


def _functional(config: Description) -> Any:
    from agog_training import Model  # as above

    entries = config["layers"]
    layers = {entry["name"]: _operation(entry) if schema.is_operation(entry) else made(entry) for entry in entries}
    calls = [
        {"name": entry["name"], "inbound_nodes": [_call(entry, node) for node in entry["inbound_nodes"]]}
        for entry in entries
    ]
    ends = {name: _ends(config[name]) for name in ("input_layers", "output_layers")}
    inputs, outputs, _ = connect({"layers": calls, **ends}, layers)
    model = Model(inputs=inputs, outputs=outputs, name=config["name"])
    vars(model)["_layers_in_file"] = [layer for layer in layers.values() if isinstance(layer, Layer)]
    return model


def _ends(data: Any) -> Any:
    """The inputs or outputs of a model, which are named as [layer, call, output]."""
    if nest.is_mapping(data):
        return {name: _ends(part) for name, part in data.items()}
    return {"symbol": list(data)} if isinstance(data[0], str) else [_ends(part) for part in data]


def _call(entry: Description, node: Description) -> dict[str, Any]:
    """A call of a layer. Masks and the phase of training go from layer to layer by themselves here."""
    args, kwargs = made(node["args"]), made(node["kwargs"])
    if schema.is_operation(entry):
        symbols: list[Any] = []
        _marked([args, kwargs], symbols)
        return {"inputs": symbols[0] if len(symbols) == 1 else symbols, "args": [], "kwargs": {}}
    kwargs = {name: value for name, value in kwargs.items() if value is not None and name not in ("mask", "training")}
    inputs = args[0] if args else kwargs.pop(next(iter(kwargs)))
    while args and args[-1] is None:
        args.pop()
    return {"inputs": inputs, "args": args[1:], "kwargs": kwargs}


def _operation(entry: Description) -> Any:
    """A layer for a function of ``keras.ops``, with the constants among its arguments."""
    node, name = entry["inbound_nodes"][0], entry["name"]
    arguments, options = _marked([made(node["args"]), made(node["kwargs"])], [])
    operator = schema.OPERATORS.get(entry["class_name"])
    if operator is not None:
        return Operation(operator, [None if each == _INPUT else each for each in arguments], name=name)
    options |= {key: made(value) for key, value in entry["config"].items() if key != "name"}
    return Called(schema.snake_case(entry["class_name"]), arguments, options, name=name)


def _marked(data: Any, symbols: list[Any]) -> Any:
    """A structure with marks in place of symbolic values, which are added to a list."""
    if isinstance(data, list):
        return [_marked(part, symbols) for part in data]
    if not nest.is_mapping(data):
        return data
    if set(data) == {"symbol"}:
        symbols.append(data)
        return _INPUT
    return {name: _marked(part, symbols) for name, part in data.items()}
