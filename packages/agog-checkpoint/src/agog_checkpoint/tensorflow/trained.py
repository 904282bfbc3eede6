"""Trained: variables that only the list of an optimizer of Keras 3 holds, since lists and dicts of layers are no parts
of models there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agog_checkpoint.graph import Graph, join
from agog_checkpoint.objects import walk
from agog_checkpoint.selection import place

_LIST = "_trainable_variables"


class Met(NamedTuple):
    """An object of the program, and its path there."""

    value: Any
    path: str


def place_trained(graph: Graph, met: Iterable[Met], found: Mapping[int, int]) -> None:
    """Give the variables in optimizers' lists the places of a built model's that are trained in the same order.

    ``found`` are the nodes of the program's variables, by the ids of these.
    """
    models = [
        each for each in met if getattr(each.value, "built", False) and hasattr(each.value, "trainable_variables")
    ]
    for trained in _lists(graph):
        for value, path in models:
            variables = list(value.trainable_variables)
            if _are(graph, trained, variables, found):
                paths = {id(part.value): part.path for part in walk(value)[0]}
                for number, variable in zip(trained, variables, strict=True):
                    if id(variable) not in found and id(variable) in paths:
                        place(graph.nodes, join(path, paths[id(variable)]), number)
                break


def _lists(graph: Graph) -> Iterator[list[int]]:
    for node in graph.nodes:
        if _LIST in node.children:
            members = graph.nodes[node.children[_LIST]].children
            yield [members[name] for name in sorted(filter(str.isdigit, members), key=int)]


def _are(graph: Graph, trained: list[int], variables: list[Any], found: Mapping[int, int]) -> bool:
    """Whether nodes may be those of variables: each has the shape, and is that of the variable, if that has one."""
    saved = [graph.nodes[number].variable for number in trained]
    return len(trained) == len(variables) and all(
        value is not None and value.shape == variable._current()._shape and found.get(id(variable), number) == number
        for number, value, variable in zip(trained, saved, variables, strict=True)
    )
