"""Saving: writes an object with its variables, functions and files into a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from agog_core import Variable
from agog_core.checkpointable import Checkpointable
from agog_core.files import file_path
from agog_core.tracing.programs.recording import Kept
from agog_saved_model.document import write_folder
from agog_saved_model.function_data import Saved, data_of
from agog_saved_model.object_nodes import Nodes
from agog_saved_model.signatures import signatures_of

__all__ = ["save"]


class _Kept(Kept):
    """Arrays of which those that hold the path of an asset are the asset."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: dict[bytes, int] = {}

    def array(self, array: np.ndarray[Any, Any]) -> str:
        if array.dtype == object and array.shape == () and (place := self.paths.get(array.item())) is not None:
            return f"assets/{place}"
        return super().array(array)


def save(obj: Any, export_dir: str | os.PathLike[str], signatures: Any = None, options: Any = None) -> None:
    """Save an object so that programs without its class can call its functions and go on training its variables.

    Args:
        obj: a model, a `Module` or another `Checkpointable`. Its traced functions are kept for their input signatures,
            or else for the kinds of arguments that they were traced for; of other attributes those with variables.
        export_dir: the folder. A model that it holds is replaced at once, whole.
        signatures: a traced function, or a dict of names to such functions, to call by name; None for the model's call,
            or the only function.
        options: accepted.

    Raises:
        TypeError: the object cannot have variables, or a signature is no traced function.
        TracingError: a function does what data cannot say, such as calling Python at each run; its line is named.
        NotFoundError: an asset is no file.
        OpError: the folder cannot be written; what was there before is as it was.

    >>> import tempfile
    >>> import agog_core as ag
    >>> module = ag.Module()
    >>> module.square = ag.function(lambda x: x * x, input_signature=[ag.TensorSpec([])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(module, folder)
    """
    if not isinstance(obj, Checkpointable):
        raise TypeError(
            "saved_model.save: the object must be a model, a tf.Module or a tf.train.Checkpoint; got a "
            f"{type(obj).__name__}."
        )
    save_with(obj, file_path("saved_model.save", export_dir), signatures, {})


def save_with(obj: Any, folder: str, signatures: Any, others: Mapping[str, Saved]) -> None:
    """Save an object, with other functions among its parts; see `save`."""
    kept = _Kept()
    by_name = signatures_of(signatures, obj)
    nodes = Nodes(obj, kept)
    nodes.add(others)
    kept.paths = {asset.path.encode(): place for place, asset in enumerate(nodes.assets)}
    places = {name: nodes.function(found) for name, found in by_name.items()}
    functions = [data_of(found, kept) for found in nodes.functions]
    named = _names(kept.variables, nodes.names)
    document = {
        "nodes": nodes.data,
        "functions": functions,
        "signatures": places,
        "variables": [
            {"key": key, "name": variable.name.removesuffix(":0"), "trainable": variable.trainable}
            for key, variable in named.items()
        ],
    }
    write_folder(folder, document, named, kept.arrays, nodes.assets)


def _names(variables: dict[Variable, int], paths: dict[Variable, str]) -> dict[str, Variable]:
    """Variables by the names that they have in the file: their paths, and numbers for those of functions alone."""
    return {
        f"variables/{paths[variable] or 'self'}" if variable in paths else f"captured/{place}": variable
        for variable, place in variables.items()
    }
