"""Layers: which of the layers in a model of a checkpoint is which of a model's in the program."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Any

from agog_checkpoint.graph import Graph, Node
from agog_checkpoint.objects import walk
from agog_core import Variable

_NUMBERED = re.compile("layer-([0-9]+)")


def saved_layers(graph: Graph, node: Node) -> list[int]:
    """The nodes of a model's layers, in order: ``layer-0``, ``layer-1`` ... of Keras 2, or the list of Keras 3."""
    numbered = {int(found[1]): child for name, child in node.children.items() if (found := _NUMBERED.fullmatch(name))}
    if not numbered:
        inner = node.children.get("_functional")
        holder = node if inner is None else graph.nodes[inner]
        place = holder.children.get("_operations")
        operations = {} if place is None else graph.nodes[place].children
        numbered = {int(name): child for name, child in operations.items() if name.isdigit()}
    return [numbered[place] for place in sorted(numbered)]


def add_layers(graph: Graph, node: Node, layers: Sequence[int], names: Sequence[str]) -> None:
    """Make layers the parts of a list that agog's models have, under their places there alone."""
    for name in [name for name, child in node.children.items() if name.startswith("layer") and child in set(layers)]:
        del node.children[name]
    node.children["layers"] = len(graph.nodes)
    graph.nodes.append(Node(dict(zip(names, layers, strict=True))))


def paired(layers: Sequence[int], holding: Container[int], own: Sequence[Any]) -> tuple[list[int], list[str]]:
    """Pair the layers of a checkpoint with those of a model: by their order among those with weights; where the model
    is not built, or the checkpoint lacks some of them, by their places.

    ``holding`` are the nodes that lead to values. Returns nodes, and the places of their layers in the model.
    """
    full = [layer for layer in layers if layer in holding]
    places = [place for place, layer in enumerate(own) if _has_weights(layer)]
    if len(places) < len(full):
        rest = list(layers)
        while len(rest) > len(own) and rest[0] not in holding:  # an input
            del rest[0]
        if len(rest) == len(own):
            full, places = rest, list(range(len(own)))
    count = min(len(full), len(places))
    return full[:count], [str(place) for place in places[:count]]


def _has_weights(layer: Any) -> bool:
    return any(isinstance(part.value, Variable) for part in walk(layer)[0])
