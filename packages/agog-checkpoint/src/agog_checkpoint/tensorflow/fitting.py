"""Fitting: the graph of a checkpoint of TensorFlow under the names that the parts of a program have."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_checkpoint.graph import Graph, Node, SavedVariable, escape, join
from agog_checkpoint.objects import parts
from agog_checkpoint.tensorflow.aliases import add_aliases
from agog_checkpoint.tensorflow.checkpoint import Array
from agog_checkpoint.tensorflow.layers import add_layers, paired, saved_layers
from agog_checkpoint.tensorflow.optimizers import POWERS, drop_lists, steps_of, take_hyperparameters
from agog_checkpoint.tensorflow.trained import Met, place_trained
from agog_core import Variable
from agog_core.checkpointable import Checkpointable

_COUNTER = "save_counter"
# The learning rate of an optimizer, in a checkpoint and, where that is a variable, in agog.
_RATE = ("learning_rate", "lr")


def fitted(graph: Graph, arrays: dict[str, Array], root: Checkpointable) -> Graph:
    """A graph with the names of agog: those of the parts that the root has now are looked at one by one, and others get
    names by rules. Values that follow from others are added to ``arrays``.
    """
    graph = Graph(_with_root(graph.nodes, root), graph.slots)
    add_aliases(graph.nodes)
    fitting = _Fitting(graph, arrays)
    fitting.walk(root)
    fitting.end()
    return graph


def _with_root(nodes: list[Node], root: Checkpointable) -> list[Node]:
    """The nodes with a new first one, where a checkpoint is of one object, and the program's of a group with that one
    alone: `save_weights` and SavedModels have the model at the root."""
    names = [name for name, _ in parts(root, "") if name != _COUNTER]
    first = nodes[0]
    if len(names) != 1 or names[0] in first.children:
        return nodes
    counter = first.children.pop(_COUNTER, None)
    for node in nodes:
        for name, child in node.children.items():
            node.children[name] = child or len(nodes)
    top = Node({names[0]: len(nodes)} | ({} if counter is None else {_COUNTER: counter}))
    return [top, *nodes[1:], first]


class _Fitting:
    """One walk over a program and a graph, side by side."""

    def __init__(self, graph: Graph, arrays: dict[str, Array]) -> None:
        self._graph = graph
        self._arrays = arrays
        valued = {number for number, node in enumerate(graph.nodes) if node.variable is not None}
        self._holding = graph.leading_to(valued)
        self._met: list[Met] = []
        self._variables: dict[int, int] = {}  # nodes, by the ids of the program's variables
        self._counting: list[Node] = []  # the optimizers of Keras
        self._optimizers: set[int] = set()
        self._models: set[int] = set()

    def walk(self, root: Checkpointable) -> None:
        """Look at all objects that the root has."""
        queue: list[tuple[int, Any, str]] = [(0, root, "")]
        seen = set()
        for number, value, path in queue:
            if (number, id(value)) in seen:
                continue
            seen.add((number, id(value)))
            own = dict(parts(value, path))
            if isinstance(value, Variable):
                self._variables.setdefault(id(value), number)
            elif isinstance(value, Checkpointable):
                self._met.append(Met(value, path))
                self._meet(number, value, path, own)
            children = self._graph.nodes[number].children
            # First, so that paths to what has several names are those of the program.
            common = {name: children.pop(name) for name in own if name in children}
            self._graph.nodes[number].children = common | children
            queue += [(child, own[name], join(path, escape(name))) for name, child in common.items()]

    def end(self) -> None:
        """Give names by rules to what no object of the program has met."""
        place_trained(self._graph, self._met, self._variables)
        for number, node in enumerate(list(self._graph.nodes)):
            if number not in self._optimizers:
                self._take_numbers(number, {})
            layers = saved_layers(self._graph, node)
            if layers and number not in self._models:
                add_layers(self._graph, node, layers, [str(place) for place in range(len(layers))])
        for optimizer in self._counting:
            drop_lists(optimizer)

    def _meet(self, number: int, value: Checkpointable, path: str, own: dict[str, Any]) -> None:
        node = self._graph.nodes[number]
        layers = saved_layers(self._graph, node)
        if layers and isinstance(own.get("layers"), list):
            self._models.add(number)
            add_layers(self._graph, node, *paired(layers, self._holding, own["layers"]))
        steps = steps_of(self._graph, self._arrays, node)
        if any(name in node.children for name in POWERS):
            value.values_after_steps(0)  # makes them
        elif steps is not None:
            self._optimizers.add(number)
            self._take_numbers(number, own)
            for name, result in value.values_after_steps(steps).items():
                self._add_number(node, name, join(path, name), np.float64(result))

    def _take_numbers(self, number: int, own: dict[str, Any]) -> None:
        node = self._graph.nodes[number]
        steps = steps_of(self._graph, self._arrays, node)
        if steps is None:
            return
        kept = {name for name in ("learning_rate", "_learning_rate") if "lr" in own or "learning_rate" in own}
        for name in kept & node.children.keys():
            node.children.setdefault("lr", node.children[name])
        take_hyperparameters(self._graph, self._arrays, node, steps, kept)
        self._counting.append(node)

    def _add_number(self, node: Node, name: str, key: str, value: np.float64) -> None:
        if name not in node.children:
            while key in self._arrays:
                key += "'"
            self._arrays[key] = np.asarray(value)
            node.children[name] = len(self._graph.nodes)
            self._graph.nodes.append(Node({}, SavedVariable(key, "float64", ())))
