"""Model: a whole model from a ``.keras`` file of Keras 3, with its weights."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Mapping
from typing import Any

from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.warning import CheckpointWarning
from agog_core import nest
from agog_core.errors import DataLossError
from agog_layers.losses import lookup as losses
from agog_layers.metrics import lookup as metrics
from agog_training.saving.keras.description import made
from agog_training.saving.keras.files import HDF5
from agog_training.saving.keras.optimizers import made_optimizer
from agog_training.saving.keras.schema import is_object

__all__ = ["compile_as_described", "description_in"]

Description = Mapping[str, Any]

# How many bytes a description may have; those of large models have a hundredth.
_LONGEST = 1 << 24


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
    """Compile a model as Keras has; if that is not known here, a warning says so."""
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
