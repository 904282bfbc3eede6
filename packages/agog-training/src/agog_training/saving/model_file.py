"""Model file: a whole model in one safetensors file, its description as data, never as code."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from agog_checkpoint import together
from agog_checkpoint.file import read_file
from agog_checkpoint.graph import Graph
from agog_checkpoint.objects import snapshot
from agog_checkpoint.restore import Restore
from agog_checkpoint.status import CheckpointLoadStatus, unfilled
from agog_core import Checkpointable, TensorShape, TensorSpec, nest, zeros
from agog_core.errors import AlreadyExistsError, DataLossError, NotFoundError
from agog_core.files import absolute, exists, file_path, is_file
from agog_core.random import Generator, generator, set_generator
from agog_layers.serialization.description import describe, revive
from agog_layers.serialization.memory_limit import allowance, allowance_of
from agog_training.saving.cloning import trained
from agog_training.saving.description import describe_training, revive_training
from agog_training.saving.keras.assets import load_vocabularies
from agog_training.saving.keras.contents import stored_numbers
from agog_training.saving.keras.description import made_model
from agog_training.saving.keras.files import is_keras_file, load_keras_weights
from agog_training.saving.keras.model import compile_as_described, description_in
from agog_training.saving.keras.optimizers import load_optimizer_state
from agog_training.saving.weights import Kept, Weights, tell_of_format

__all__ = ["load_model", "save_model"]

_FORMAT = "agog model, version 1"


class _File(Checkpointable):
    """The contents of a model file: the model as a checkpoint, and its description as this object's own state."""

    def __init__(self, content: Any, description: dict[str, Any]) -> None:
        self._content = content
        self._description = description

    def checkpoint_dependencies(self) -> dict[str, Any]:
        return {"model": self._content}

    def checkpoint_state(self) -> dict[str, Any]:
        return self._description

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        pass  # the model was made from it


def save_model(
    model: Any, filepath: str | os.PathLike[str], overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Save a whole model into one file: how it is made, its weights, and how it is trained, with the optimizer's state.

    The file is a safetensors file, so that other programs can read the weights.

    Args:
        model: a `Sequential` or functional model, or one of a class with ``get_config``.
        filepath: the file's name, such as ``"mnist.agog"``.
        overwrite: whether a file of that name may be replaced.
        include_optimizer: whether the optimizer, its state, the losses and the metrics are saved too.

    Raises:
        NotImplementedError: a part of the model, its optimizer, or a loss or metric cannot be described by data.
        ValueError: the model has no weights yet.
        AlreadyExistsError: there is such a file, and it may not be replaced.
        ResourceExhaustedError: the disk is full.
        PermissionDeniedError: the folder may not be written.

    >>> import tempfile
    >>> import numpy as np
    >>> from agog_layers import Dense
    >>> from agog_training import Sequential
    >>> model = Sequential([Dense(1, input_shape=(2,))])
    >>> model.compile("adam", "mse")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/line.agog")
    ...     again = load_model(f"{folder}/line.agog")
    >>> np.array_equal(again.get_weights()[0], model.get_weights()[0])
    True
    """
    path = absolute(file_path("Model.save", filepath))
    if not model.built:
        raise ValueError(
            f"Model {model.name!r} has no weights to save, since it was not built: call it on a batch, or call "
            "model.build(input_shape)."
        )
    if exists(path) and not overwrite:
        raise AlreadyExistsError(f"Model.save: {path} exists; pass overwrite=True to replace it.")
    with_training = include_optimizer and model.optimizer is not None
    description = {
        "format": _FORMAT,
        "model": describe(model),
        "inputs": _described_specs(model._built_on),
        "training": describe_training(model) if with_training else None,
    }
    content = model if with_training else Weights(model)
    together.save_file(together.all_processes("Model.save"), path, snapshot(_File(content, description)))
    if path.endswith((".h5", ".hdf5", ".keras")):
        tell_of_format(
            "Model.save",
            f"{os.fsdecode(filepath)!r} is written as a safetensors file all the same; load_model reads it under this "
            "name, and Keras does not.",
        )


def load_model(
    filepath: str | os.PathLike[str], custom_objects: Mapping[str, Any] | None = None, compile: bool = True
) -> Any:
    """Load a model that `Model.save` has saved, or Keras 3 in a ``.keras`` file. No code of the file is run.

    A model of Keras is made from its file's description, with all settings; this needs h5py.

    Args:
        filepath: the file's name.
        custom_objects: names to the classes and functions of the program that the model is made of.
        compile: whether the model is compiled as it was, and the optimizer gets its state.

    Returns:
        The model, with its weights.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: the file is damaged, or its description is none of a model.
        ValueError: it holds no whole model; or it names a class or function that is not known here and not among the
            custom objects.
        PermissionDeniedError: it may not be read.
        ImportError: it is a file of Keras, and h5py is not installed.
    """
    path = file_path("load_model", filepath)
    if os.path.isdir(path):
        _refuse_saved_model(path)
    if not is_file(path):
        raise NotFoundError(f"load_model: the file {path!r} does not exist.")
    if is_keras_file(path):
        return _load_keras_model(path, custom_objects or {}, compile)
    graph, arrays = read_file(path)
    description = _description(path, graph)
    training = description["training"] if compile else None
    stored = sum(math.prod(array.shape) for array in arrays.values())
    with trained(custom_objects or {}), _random_bits_of_its_own(), allowance_of(stored):
        model = _made(path, "model", lambda: revive(description["model"]))
        if training is not None:
            _made(path, "training", lambda: model.compile(**revive_training(training)))
        if not model.built:
            _made(path, "inputs", lambda: _build(model, description["inputs"]))
    root = _File(model if training is not None else Weights(model), description)
    status = CheckpointLoadStatus(Restore(path, graph, arrays, root, borrow=True), root)
    status.expect_partial()  # a model that is never trained makes no more state of its optimizer
    _check_filled(path, status, model)
    vars(model)["_loading"] = Kept(status)
    return model


def _refuse_saved_model(path: str) -> None:
    from agog_saved_model.loading import contains_saved_model  # here, because most programs do not need it

    if contains_saved_model(path):
        raise ValueError(
            f"load_model: the folder {path!r} holds functions and variables, and no description of a model; load it "
            "with tf.saved_model.load, or as a layer with tf.keras.layers.TFSMLayer."
        )


def _description(path: str, graph: Graph) -> dict[str, Any]:
    state = graph.nodes[0].state or {}
    if state.get("format") != _FORMAT:
        raise ValueError(
            f"load_model: {path!r} holds weights alone, and no description of a model; make the model in the program, "
            "and call its load_weights."
        )
    if not (state.keys() >= {"model", "inputs", "training"} and nest.is_mapping(state["model"])):
        raise DataLossError(f"load_model: the description of the model in {path!r} is damaged: it has {list(state)}.")
    return state


@contextmanager
def _random_bits_of_its_own() -> Iterator[None]:
    """Let initial values, which do not last, take no bits of the program's stream."""
    before = generator()
    set_generator(Generator(0))
    try:
        yield
    finally:
        set_generator(before)


def _made(path: str, part: str, make: Callable[[], Any]) -> Any:
    """The object of a description; the text of any error names the file."""
    try:
        made = make()
    except ValueError as error:  # an unknown class or function, which its text names
        raise ValueError(f"load_model: the description of the {part} in {path!r} cannot be used: {error}") from error
    except Exception as error:
        kind = "" if isinstance(error, DataLossError) else f"{type(error).__name__}: "
        raise DataLossError(
            f"load_model: the description of the {part} in {path!r} is damaged: {kind}{error}"
        ) from error
    if part == "model" and not hasattr(made, "fit"):
        raise DataLossError(f"load_model: {path!r} describes a {type(made).__name__}, which is no model.")
    return made


def _described_specs(specs: Any) -> Any:
    """Specs as data; None if the model's inputs are in its description."""
    if isinstance(specs, TensorSpec):
        return {"shape": specs.shape.as_list(), "dtype": specs.dtype.name}
    if isinstance(specs, (list, tuple)):
        return [_described_specs(spec) for spec in specs]
    if nest.is_mapping(specs):
        return {"parts": {name: _described_specs(spec) for name, spec in specs.items()}}
    return None


def _zeros(specs: Any) -> Any:
    if isinstance(specs, list):
        return [_zeros(spec) for spec in specs]
    if specs is None:
        return None
    if "parts" in specs:
        return {name: _zeros(spec) for name, spec in specs["parts"].items()}
    allowance.get().check("an input", lambda: [TensorShape(specs["shape"])])
    return zeros(specs["shape"], specs["dtype"])


def _build(model: Any, specs: Any) -> None:
    """Make the variables as the saved model did: by a call. One that needs more than inputs makes them when it is
    called first, and they get their values then."""
    if specs is not None:
        inputs = _zeros(specs)
        with suppress(TypeError):
            model(inputs)


def _check_filled(path: str, status: CheckpointLoadStatus, model: Any) -> None:
    if empty := unfilled(status, model.weights):
        raise DataLossError(
            f"load_model: {path!r} has no values for {', '.join(variable.name for variable in empty)} of the model "
            "that it describes."
        )


def _load_keras_model(path: str, custom_objects: Mapping[str, Any], compile: bool) -> Any:
    """The model in a file of Keras 3, as it is described there; older files have no description that is read."""
    description = description_in("load_model", path)
    if description is None:
        raise ValueError(
            f"load_model: {path!r} is a file of Keras without a description that agog reads, as .keras files of "
            "Keras 3 have it: make the model in the program, and call model.load_weights(path)."
        )
    with trained(custom_objects), _random_bits_of_its_own(), allowance_of(stored_numbers(path)):
        model = _made(path, "model", lambda: made_model(description))
        if compile:
            compile_as_described(model, path, description)
    if model.weights:
        load_keras_weights(model, path, by_name=False)
    load_vocabularies(model, path)
    if compile and model.optimizer is not None:
        load_optimizer_state(model, path, description)
    return model
