"""Weights: checkpoints of a model by the paths and names of its layers."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from agog_checkpoint import Checkpoint, together
from agog_checkpoint.file import file_name, main_file
from agog_checkpoint.formats import is_of_tensorflow, read
from agog_checkpoint.graph import Graph, Node
from agog_checkpoint.name_list import name_list
from agog_checkpoint.objects import snapshot, walk
from agog_checkpoint.pointer import point_to, read_kept
from agog_checkpoint.status import unfilled
from agog_checkpoint.warning import CheckpointWarning
from agog_core import Checkpointable, Variable
from agog_core.checkpointable import listeners
from agog_core.errors import AlreadyExistsError
from agog_core.files import absolute, folder_of
from agog_layers.models.model import Model
from agog_training.optimizers.keras_optimizer import KerasOptimizer
from agog_training.saving.keras.files import is_keras_file, load_keras_weights
from agog_training.saving.keras.settings import warn_of_settings

# The ends of names by which Keras writes HDF5.
_HDF5 = (".h5", ".hdf5", ".keras")
# The beginning of the keys of a model's parts.
_OF_MODEL = "model/"
# The functions that have warned of the names of their files.
_warned: set[str] = set()


class Weights(Checkpointable):
    """The weights of a model, with the state of its optimizer or without."""

    def __init__(self, model: Any, with_optimizer: bool = False) -> None:
        self._model = model
        self._without = None if with_optimizer else model.optimizer

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """See `Checkpointable.checkpoint_dependencies`; the optimizer may be left out."""
        parts: dict[str, Any] = self._model.checkpoint_dependencies()
        return {name: part for name, part in parts.items() if part is not self._without or part is None}


def save_weights(model: Any, path: str, overwrite: bool, save_format: str | None = None) -> None:
    """See `Model.save_weights`."""
    with_optimizer = save_format is not None or not isinstance(model.optimizer, KerasOptimizer)
    _check_built(model)
    existing = main_file(path)
    if existing is not None and not overwrite:
        raise AlreadyExistsError(f"save_weights: {existing} exists; pass overwrite=True to replace it.")
    root = Checkpoint(model=Weights(model, with_optimizer))
    saved = snapshot(root)
    # Beside their paths, which are the keys, layers have their names.
    numbers = {id(part.value): number for number, part in enumerate(walk(root)[0])}
    names = {name: numbers[id(layer)] for name, layer in _named(model).items()}
    if names:
        saved.graph.nodes[0].children["names"] = len(saved.graph.nodes)
        saved.graph.nodes.append(Node(names))
    whole_path = absolute(path)

    def point() -> None:
        if read_kept(folder_of(whole_path)) is None:  # the list of a manager stays as it is
            point_to(whole_path.removesuffix(".safetensors"))

    together.save(together.all_processes("Model.save_weights"), whole_path, saved, then=point)


def save_keras(model: Any, path: str, overwrite: bool) -> None:
    """See `Model.save_weights` with the format ``"h5"``."""
    from agog_training.saving.keras.writing import save_keras_weights  # here, because most programs do not need it

    _check_built(model)
    save_keras_weights(model, path, overwrite)


def _check_built(model: Any) -> None:
    if not (model.built or _is_whole(model)):
        raise ValueError(
            f"Model {model.name!r} has no weights to save, since it was not built: call it on a batch, or call "
            "model.build(input_shape)."
        )


def load_weights(model: Any, path: str, by_name: bool) -> Any:
    """See `Model.load_weights`."""
    in_keras_file = is_keras_file(path)
    if (by_name or in_keras_file or path.endswith(_HDF5)) and not model.built:
        what = "to find by name" if by_name else "to find in a file of Keras"
        raise ValueError(
            f"Model {model.name!r} has no weights {what}, since it was not built: call it on a batch, or call "
            "model.build(input_shape)."
        )
    if in_keras_file:
        load_keras_weights(model, path, by_name)
        warn_of_settings(path, model, by_name, stacklevel=4)
        return None
    vars(model).pop("_loading", None)
    if by_name and is_of_tensorflow(path):
        raise NotImplementedError(
            f"load_weights: {path!r} is a checkpoint of TensorFlow, which has layers by their places in the model, so "
            "that by_name must be False; got by_name=True. A file that TensorFlow writes as HDF5 has their names."
        )
    if by_name:
        status: Any = Checkpoint(names=_named(model)).restore(path).expect_partial()
    else:
        graph, arrays, fit = read(path)
        saved = _node(graph, "model").children
        if fit is not None:  # the model may be the root
            saved = saved | graph.nodes[0].children
        root = Checkpoint(model=Weights(model, with_optimizer="optimizer" in saved))
        moved = _moved(model, graph) if fit is None else None
        status = root._restore(path, graph, arrays, moved, None, (), cast=False, borrow=True, fit=fit)
        _check_match(model, status, _OF_MODEL if fit is None else "")
    _warn_of(path, unfilled(status, model.weights), stacklevel=4)
    waits_for_optimizer = model.optimizer is None and any(
        key.startswith(("model/optimizer/", "optimizer/")) for key in status._restore.report()[1]
    )
    if not model.built and not _is_whole(model):
        _Later(status, model, path, waits_for_optimizer)
    elif waits_for_optimizer:
        vars(model)["_loading"] = Kept(status.expect_partial())
    return status


def _node(graph: Graph, *names: str) -> Node:
    """The node at a path; an empty one if there is none."""
    node = graph.nodes[0]
    for name in names:
        number = node.children.get(name)
        node = Node({}) if number is None else graph.nodes[number]
    return node


def _moved(model: Any, graph: Graph) -> dict[str, str]:
    """Where layers are in the file, of a model of a list of layers: the first layer with weights matches the first one
    there, and so on; layers without weights are skipped.
    """
    layers = model.checkpoint_dependencies().get("layers")
    if not isinstance(layers, list) or not model.built:
        return {}
    whole = graph.leading_to({number for number, node in enumerate(graph.nodes) if node.variable is not None})
    saved = _node(graph, "model", "layers").children
    places = [place for place, number in saved.items() if number in whole and place.isdigit()]
    ours = [str(place) for place, layer in enumerate(layers) if layer.weights]
    pairs = zip(ours, sorted(places, key=int), strict=False)
    return {f"model/layers/{here}": f"model/layers/{there}" for here, there in pairs if here != there}


def _check_match(model: Any, status: Any, begin: str) -> None:
    """Raise AssertionError if nothing of the file has found its place in the model, or waits for it, among the keys
    with a beginning."""
    matched, deferred, unmatched = status._restore.report()
    has_nothing = not (matched or deferred or unmatched or model.weights) and _is_whole(model)
    if has_nothing or any(key.startswith(begin) for key in (*matched, *deferred)):
        return
    status.expect_partial()
    if not model.checkpoint_dependencies():
        raise AssertionError(f"load_weights: Nothing to load: model {model.name!r} has no layers and no variables yet.")
    raise AssertionError(
        f"load_weights: Nothing except the root object matched: the file {status._restore.path!r} has "
        f"{name_list([*deferred, *unmatched]) or 'no values'}; those of model {model.name!r} begin with 'model/'."
    )


def _warn_of(path: str, left: list[Variable], stacklevel: int) -> None:
    if left:
        names = name_list(variable.name for variable in left)
        warnings.warn(
            f"load_weights: {path!r} has no values for {names}; they keep those that they have.",
            CheckpointWarning,
            stacklevel=stacklevel,
        )


class Kept:
    """A status, which keeps the model's stand-in of a restore alive while it waits for layers."""

    def __init__(self, status: Any) -> None:
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a copy of the model waits for nothing


class _Later:
    """Warns at the first call of an unbuilt model of its new weights without values in the loaded file."""

    def __init__(self, status: Any, model: Any, path: str, waits_for_optimizer: bool) -> None:
        vars(model)["_loading"] = Kept(status)
        self._waits_for_optimizer = waits_for_optimizer
        self._has_value = status._restore.has_restored
        self._path = path
        self._warned = {id(variable) for variable in model.weights}
        self._model = weakref.ref(model, self._end)
        listeners.append(self._look)  # behind the restore, which fills what is new

    def _look(self, owner: Any = None, name: str = "", part: Any = None) -> None:
        model: Any = self._model()
        if model is not None and owner is model and model._called_shape is not None:
            self._end()
            kept = vars(model).pop("_loading", None)
            if self._waits_for_optimizer and kept is not None:
                vars(model)["_loading"] = Kept(kept.status.expect_partial())
            new = [variable for variable in model.weights if id(variable) not in self._warned]
            _warn_of(self._path, [variable for variable in new if not self._has_value(variable)], stacklevel=3)

    def _end(self, reference: Any = None) -> None:
        if self._look in listeners:
            listeners.remove(self._look)


def told_of_format(what: str, path: str) -> str:
    """The path of a checkpoint; where it looks like that of an HDF5 file, the file's, and a warning tells of it.

    >>> told_of_format("save_weights", "folder/weights")
    'folder/weights'
    """
    if not path.endswith(_HDF5):
        return path
    tell_of_format(
        what,
        f"weights are written as safetensors, so that {path!r} becomes {file_name(path)!r}; load_weights finds it "
        "under both names.",
    )
    return file_name(path)


def tell_of_format(function: str, text: str) -> None:
    """Warn of what a function writes under a name of another format, unless it has; in the line that calls it."""
    if function not in _warned:
        _warned.add(function)
        warnings.warn(f"{function}: {text} Further files are not told of.", CheckpointWarning, stacklevel=4)


def _is_whole(model: Any) -> bool:
    """Whether a model that was not built has all its weights: variables in attributes, and no layers to be built, or
    nothing that it could compute."""
    inside = [module for module in model._walk(set()) if module is not model]
    computes = getattr(type(model), "call", None) is not Model.call
    return bool(model.weights or not computes) and all(getattr(module, "built", True) for module in inside)


def _named(model: Any) -> dict[str, Any]:
    """The layers that have weights, by name; of several with one name, none."""
    layers = [layer for layer in model.layers if layer.weights]
    names = [layer.name for layer in layers]
    return {layer.name: layer for layer in layers if names.count(layer.name) == 1}
