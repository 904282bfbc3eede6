"""Keras model: a whole model out of a ``.keras`` file of Keras 3, as its description says, with its weights."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.warning import CheckpointWarning
from agog_core import nest
from agog_core.errors import DataLossError
from agog_layers.losses import named as losses
from agog_layers.metrics import named as metrics
from agog_training.saving.keras_classes import is_object
from agog_training.saving.keras_description import made, made_layer
from agog_training.saving.keras_files import HDF5, children_of, group_name
from agog_training.saving.keras_optimizers import made_optimizer

__all__ = ["compile_as_described", "description_in", "differing_settings"]

Description = Mapping[str, Any]

# How many bytes a description may have; those of large models have a hundredth.
_LONGEST = 1 << 24
# Settings that say nothing of what a layer computes with its weights.
_NOT_COMPARED = {
    *("activity_regularizer", "batch_input_shape", "cell", "cells", "dropout", "dtype", "fused", "implementation"),
    *("layer", "layers", "momentum", "name", "recurrent_dropout", "stateful", "trainable", "unit_forget_bias"),
    *("unroll", "zero_output_for_mask"),
}
_NOT_COMPARED_ENDS = ("_constraint", "_initializer", "_regularizer")


def description_in(what: str, path: str) -> Description | None:
    """The description in an archive of Keras 3; None in other files, which have weights alone."""
    try:
        with open_regular(path) as stream:
            if stream.read(len(HDF5)) == HDF5:
                return None
            archive = zipfile.ZipFile(stream)
            described = next((info for info in archive.infolist() if info.filename == "config.json"), None)
            if described is not None and described.file_size > _LONGEST:
                raise ValueError(f"its config.json has {described.file_size} bytes")
            description = None if described is None else json.loads(archive.read(described))
    except Exception as error:  # zipfile and json raise errors of many kinds on damaged files
        raise DataLossError(f"{what}: {path!r} is not a whole file of Keras: {error}.") from error
    return description if is_object(description) else None


# What it was compiled with.


def compile_as_described(model: Any, path: str, description: Description) -> None:
    """Compile a model as Keras has; where that is not known here, a warning says so."""
    config: Any = description.get("compile_config")
    if not (nest.is_mapping(config) and "optimizer" in config):
        return
    try:
        given = {
            "optimizer": made_optimizer(config["optimizer"]),
            "loss": _function(config.get("loss"), losses.get),
            "loss_weights": config.get("loss_weights"),
            "metrics": _function(config.get("metrics"), metrics.get),
            "weighted_metrics": _function(config.get("weighted_metrics"), metrics.get),
        }
        model.compile(**given)
    except Exception as error:  # whatever the file asks for
        warnings.warn(
            f"load_model: the model of {path!r} is not compiled, since what Keras compiled it with is not known here "
            f"({error}); call its compile before it is trained.",
            CheckpointWarning,
            stacklevel=3,
        )


def _function(data: Any, get: Any) -> Any:
    """A loss or metric, or a structure of them."""
    if is_object(data):
        if data["class_name"] == "function":
            return get(data["config"])
        settings = {
            name: made(value) for name, value in data["config"].items() if value is not None and name != "dtype"
        }
        return get({"class_name": data["class_name"], "config": settings})
    if isinstance(data, list):
        return [_function(part, get) for part in data]
    if nest.is_mapping(data):
        return {name: _function(part, get) for name, part in data.items()}
    return data


# What its layers do otherwise than those of another model.


def differing_settings(path: str, model: Any, description: Description) -> Iterator[str]:
    """A sentence for each setting of a layer with weights that is another one than the file says."""
    inside = dict(_children(description))
    for place, child in children_of(model):
        if place in inside and child.weights:
            yield from _differing(path, child, inside[place])
            yield from differing_settings(path, child, inside[place])


def _children(description: Description) -> Iterator[tuple[str, Description]]:
    """What is described inside of a description, with the places of the groups that have the weights."""
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
    try:
        other = made_layer(description)
        theirs, ours = ({} if other is None else other.get_config()), layer.get_config()
    except Exception:  # a class of the program that has no description
        return
    compared = [name for name in ours if name in theirs and name not in _NOT_COMPARED]
    for name in compared:
        if name.endswith(_NOT_COMPARED_ENDS) or _alike(layer, ours[name]) == _alike(layer, theirs[name]):
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
