"""Graph: the object graph of a checkpoint of TensorFlow, as a graph of agog with its values."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from agog_checkpoint.graph import DTYPES, Graph, Node, SavedVariable
from agog_checkpoint.name_list import name_list
from agog_checkpoint.tensorflow import open_checkpoint
from agog_checkpoint.tensorflow.checkpoint import Array, TensorFlowCheckpoint
from agog_checkpoint.tensorflow.fitting import fitted
from agog_checkpoint.tensorflow.object_graph import SavedObject, parse_object_graph
from agog_checkpoint.tensorflow.optimizers import Optimizers
from agog_checkpoint.warning import CheckpointWarning
from agog_core.checkpointable import Checkpointable
from agog_core.errors import DataLossError

_VARIABLE = "VARIABLE_VALUE"
_ENDING = f"/.ATTRIBUTES/{_VARIABLE}"
# How Keras 2 describes a layer, which says nothing of its values.
_DESCRIPTIONS = {"OBJECT_CONFIG_JSON"}
# A model's way to itself, and the lists of its variables in a SavedModel.
_AROUND = {"root", "keras_api", "signatures"}


class Contents(NamedTuple):
    """The graph and the values by key; and the keys of what agog cannot take over, such as the state of iterators."""

    path: str
    graph: Graph
    arrays: dict[str, Array]
    left_out: list[str]
    is_by_name: bool

    def fitted(self, graph: Graph, root: Checkpointable) -> Graph:
        """The graph, whose parts may have got other places, with the names that the parts of a program have. A warning
        names what is left out."""
        if self.left_out:
            keys = name_list(map(repr, self.left_out))
            text = f"Checkpoint {self.path!r} has what agog cannot take over, and leaves out: {keys}."
            warnings.warn(text, CheckpointWarning, stacklevel=4)
        if self.is_by_name:
            from agog_checkpoint.tensorflow.by_names import fitted_by_names

            return fitted_by_names(graph, self.arrays, root)
        return fitted(graph, self.arrays, root)


def read(path: str) -> Contents:
    """Read a checkpoint of TensorFlow; where it has no object graph, its variables are parts of the root under their
    names.

    Raises what `open_checkpoint` and `TensorFlowCheckpoint.read` raise.
    """
    with open_checkpoint(path) as checkpoint:
        data = checkpoint.object_graph()
        if data is None:
            return _by_name(checkpoint)
        try:
            objects = parse_object_graph(data)
        except ValueError as error:
            raise DataLossError(f"TensorFlow checkpoint: {path!r} is damaged: {error}.") from error
        return _Reader(checkpoint, objects).contents()


def _by_name(checkpoint: TensorFlowCheckpoint) -> Contents:
    left_out = [name for name in checkpoint.names() if checkpoint.dtype(name).name not in DTYPES]
    names = [name for name in checkpoint.names() if name not in left_out]
    arrays = {name: checkpoint.read(name) for name in names}
    nodes = [Node({name: number for number, name in enumerate(names, start=1)})]
    nodes += [Node({}, SavedVariable(name, checkpoint.dtype(name).name, checkpoint.shape(name))) for name in names]
    return Contents(checkpoint.prefix, Graph(nodes, []), arrays, left_out, is_by_name=True)


class _Reader:
    """Makes the graph of one checkpoint."""

    def __init__(self, checkpoint: TensorFlowCheckpoint, objects: list[SavedObject]) -> None:
        self._checkpoint = checkpoint
        self._objects = objects
        self._arrays: dict[str, Array] = {}
        self._left_out: list[str] = []

    def contents(self) -> Contents:
        nodes = [self._node(each) for each in self._objects]
        optimizers = Optimizers(self._objects, nodes, self._arrays)
        slots = optimizers.slots()
        optimizers.cast_counts()
        path = self._checkpoint.prefix
        return Contents(path, Graph(nodes, slots), self._arrays, self._left_out, is_by_name=False)

    def _node(self, saved: SavedObject) -> Node:
        children = {name: child for name, child in saved.children.items() if name not in _AROUND}
        node = Node(children)
        for attribute, _, key in saved.tensors:
            if attribute in _DESCRIPTIONS:
                continue
            if attribute != _VARIABLE or node.children or key not in self._checkpoint or not self._is_number(key):
                self._left_out.append(key)
                continue
            name = key.removesuffix(_ENDING)
            if name not in self._arrays:
                self._arrays[name] = self._checkpoint.read(key)
            array = self._arrays[name]
            node.variable = SavedVariable(name, self._checkpoint.dtype(key).name, np.shape(array))
        return node

    def _is_number(self, key: str) -> bool:
        return self._checkpoint.dtype(key).name in DTYPES
