"""Writing: the weights of models as HDF5 files that Keras reads."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import numpy as np

from agog_checkpoint import together
from agog_checkpoint.commit import commit
from agog_core import Variable
from agog_core.errors import AlreadyExistsError
from agog_core.files import absolute, exists
from agog_layers import SpectralNormalization
from agog_training.saving.keras.files import children_of, parts_of, trained_first

__all__ = ["save_keras_weights"]


def save_keras_weights(model: Any, path: str, overwrite: bool) -> None:
    """Write the weights of a built model as Keras 3 does, under a name that ends with ``.weights.h5``, or as Keras 2
    does. A crash leaves the old file or the new one, whole.

    Raises ImportError if h5py is not installed, AlreadyExistsError if there is such a file and it may not be replaced,
    and ValueError if the format has no place for a weight.
    """
    try:
        import h5py
    except ImportError:
        raise ImportError(
            "save_weights: save_format='h5' is for Keras's files, in HDF5, for which h5py is needed: "
            'pip install "agog-training[h5]".'
        ) from None
    if exists(path) and not overwrite:
        raise AlreadyExistsError(f"save_weights: {path} exists; pass overwrite=True to replace it.")
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        if path.endswith(".weights.h5"):
            _write_by_place(model, file)
        else:
            _write_in_order(model, file)

    def write(stream: BinaryIO) -> None:
        stream.write(content.getbuffer())

    processes = together.all_processes("Model.save_weights")
    if processes is None or processes.rank == 0:
        commit(absolute(path), write)


def _write_by_place(part: Any, group: Any) -> None:
    """Write a part of a model as Keras 3 does: its own weights with numbers, and its layers in groups."""
    children = dict(children_of(part))
    inside = {id(variable) for child in children.values() for variable in child.weights}
    own = [variable for variable in part.weights if id(variable) not in inside]
    if own and isinstance(part, SpectralNormalization):
        raise ValueError(
            f"save_weights: Keras's files have no place for the vector of {part.name!r}; leave save_format out."
        )
    places = parts_of(part) or ("",)
    each = len(own) // len(places)
    for number, place in enumerate(places if own else ()):
        numbered = group.create_group(f"{place}/vars" if place else "vars")
        for index, variable in enumerate(own[number * each : (number + 1) * each]):
            numbered[str(index)] = _value(variable)
    for name, child in children.items():
        if child.weights:
            _write_by_place(child, group.create_group(name))


def _write_in_order(model: Any, file: Any) -> None:
    """Write the layers of a model as Keras 2 does: in an order, with the names of their weights."""
    inside = {id(variable) for layer in model.layers for variable in layer.weights}
    for variable in model.weights:
        if id(variable) not in inside:
            raise ValueError(
                f"save_weights: files of Keras 2 have no place for {variable.name!r}, which is in no layer of "
                f"{model.name!r}; take a name that ends with '.weights.h5'."
            )
    file.attrs["layer_names"] = _texts([layer.name for layer in model.layers])
    file.attrs["backend"], file.attrs["keras_version"] = "tensorflow", "2.1.6-tf"
    for layer in model.layers:
        group = file.create_group(layer.name)
        variables = trained_first(layer)
        names = [variable.name for variable in variables]
        names = [name if names.count(name) == 1 else f"{number}/{name}" for number, name in enumerate(names)]
        group.attrs["weight_names"] = _texts(names)
        for name, variable in zip(names, variables, strict=True):
            group[name] = _value(variable)


def _texts(texts: list[str]) -> Any:
    # As texts of any length: an attribute holds 64 KiB, which padded names of a large network exceed.
    return np.array(texts, dtype=object) if texts else np.zeros(0, "S1")


def _value(variable: Variable) -> Any:
    value = variable.numpy()
    return value if value.dtype.kind in "fiub" else value.astype("float32")  # HDF5 has no bfloat16
