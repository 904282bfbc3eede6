"""Settings: layers' settings that differ from those in a file of Keras."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.warning import CheckpointWarning
from agog_core import nest
from agog_training.saving.keras.description import made_layer
from agog_training.saving.keras.files import HDF5, children_of, group_name
from agog_training.saving.keras.model import description_in
from agog_training.saving.keras.schema import is_object

__all__ = ["warn_of_settings"]

Description = Mapping[str, Any]

# Settings without influence on a layer's computation with its weights.
_NOT_COMPARED = {
    *("activity_regularizer", "batch_input_shape", "cell", "cells", "dropout", "dtype", "fused", "implementation"),
    *("layer", "layers", "momentum", "name", "recurrent_dropout", "stateful", "trainable", "unit_forget_bias"),
    *("unroll", "zero_output_for_mask"),
}
_NOT_COMPARED_ENDS = ("_constraint", "_initializer", "_regularizer")


def warn_of_settings(path: str, model: Any, by_name: bool, stacklevel: int) -> None:
    """Warn of each setting of a layer with weights that is another one than the file describes."""
    try:
        described = description_in("load_weights", path)
        if described is None:
            differences = [text for pair in _older_pairs(path, model, by_name) for text in _differing(path, *pair)]
        else:
            differences = list(_differing_inside(path, model, described))
    except Exception as error:  # whatever the description holds
        differences = [
            f"load_weights: the description of the model in {path!r} is damaged, so that settings of layers were not "
            f"compared: {type(error).__name__}: {error}."
        ]
    for difference in differences:
        warnings.warn(difference, CheckpointWarning, stacklevel=stacklevel)


def _older_pairs(path: str, model: Any, by_name: bool) -> list[tuple[Any, Description]]:
    """The layers with weights, and their descriptions in an older file."""
    import h5py

    with open_regular(path) as stream:
        if stream.read(len(HDF5)) != HDF5:
            return []
        with h5py.File(stream, "r") as file:
            text, group = file.attrs.get("model_config"), file.get("model_weights", file)
            if text is None or "layer_names" not in group.attrs:
                return []
            names = [name.decode() if isinstance(name, bytes) else str(name) for name in group.attrs["layer_names"]]
            saved = [name for name in names if len(group[name].attrs["weight_names"])]
    config = json.loads(text)["config"]
    entries = {
        entry["config"].get("name"): entry for entry in (config["layers"] if nest.is_mapping(config) else config)
    }
    layers = [layer for layer in model.layers if layer.weights]
    pairs = [(layer, layer.name) for layer in layers] if by_name else zip(layers, saved, strict=True)
    return [(layer, entries[name]) for layer, name in pairs if name in entries]


def _differing_inside(path: str, model: Any, description: Description) -> Iterator[str]:
    inside = dict(_children(description))
    for place, child in children_of(model):
        if place in inside and child.weights:
            yield from _differing(path, child, inside[place])
            yield from _differing_inside(path, child, inside[place])


def _children(description: Description) -> Iterator[tuple[str, Description]]:
    """The descriptions inside a description, with the paths of the groups with their weights."""
    config = description["config"]
    if not nest.is_mapping(config):
        return
    counts: dict[str, int] = {}
    for entry in config.get("layers") or ():
        name = group_name(str(entry["class_name"]))
        count = counts[name] = counts.get(name, -1) + 1
        yield f"layers/{name}_{count}" if count else f"layers/{name}", entry
    if is_object(config.get("layer")):
        directions = {"Bidirectional": ("forward_layer", "backward_layer")}
        for place in directions.get(description["class_name"], ("layer",)):
            yield place, config.get(place) or config["layer"]


def _differing(path: str, layer: Any, description: Description) -> Iterator[str]:
    if "layers" in description["config"]:
        return
    config = {name: value for name, value in description["config"].items() if _is_compared(name)}
    try:
        other = made_layer({**description, "config": config})
        theirs, ours = ({} if other is None else other.get_config()), layer.get_config()
    except Exception:  # a class of the program that has no description
        return
    for name in (name for name in ours if name in theirs and _is_compared(name)):
        if _alike(layer, ours[name]) == _alike(layer, theirs[name]):
            continue
        yield (
            f"load_weights: layer {layer.name!r} has {name}={ours[name]!r}, and its weights in {path!r} are those of "
            f"one with {name}={theirs[name]!r}."
        )


def _alike(layer: Any, value: Any) -> Any:
    """A value such that those of one meaning are equal: axes from the front, and one in place of a list of one."""
    if isinstance(value, list) and len(value) == 1:
        return _alike(layer, value[0])
    return value + layer._rank if isinstance(value, int) and value < 0 and hasattr(layer, "_rank") else value


def _is_compared(name: str) -> bool:
    return name not in _NOT_COMPARED and not name.endswith(_NOT_COMPARED_ENDS)
