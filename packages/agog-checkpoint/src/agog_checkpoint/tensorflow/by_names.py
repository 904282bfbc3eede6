"""By names: the graph of a checkpoint that has variables under their names alone, for the objects of a program."""

from __future__ import annotations

from collections.abc import Iterable

from agog_checkpoint.graph import Graph, Node, SavedVariable
from agog_checkpoint.objects import Part, walk
from agog_checkpoint.tensorflow.checkpoint import Array
from agog_checkpoint.tensorflow.scopes import candidates
from agog_core import Variable
from agog_core.checkpointable import Checkpointable
from agog_core.dtypes import DType


def fitted_by_names(graph: Graph, arrays: dict[str, Array], root: Checkpointable) -> Graph:
    """A graph with the parts of a program, slots too, in which variables have the values under their names. Values
    without a variable stay parts of the root. Those in ``arrays`` get the bits that the variables have more."""
    found, slots = walk(root)
    nodes = [graph.nodes[child] for child in graph.nodes[0].children.values()]
    saved = {node.variable.key: node.variable for node in nodes if node.variable is not None}
    keys = _keys(found, saved)
    kept = {number for number, part in enumerate(found) if number in keys or not isinstance(part.value, Variable)}
    for number, key in keys.items():
        _widen(saved[key], arrays, found[number].value.dtype)
    fitted = []
    for number, part in enumerate(found):
        children = {name: child for name, child in part.children.items() if child in kept}
        fitted.append(Node(children, saved[keys[number]] if number in keys else None))
    used = set(keys.values())
    for key in [key for key in saved if key not in used]:
        fitted[0].children.setdefault(key, len(fitted))
        fitted.append(Node({}, saved[key]))
    return Graph(fitted, [slot for slot in slots if slot.slot_variable in keys])


def _widen(saved: SavedVariable, arrays: dict[str, Array], dtype: DType) -> None:
    array = arrays[saved.key]
    if array.dtype.kind == dtype.numpy_dtype.kind and array.dtype.itemsize < dtype.size:
        arrays[saved.key] = array.astype(dtype.numpy_dtype)
        saved.dtype = dtype.name


def _keys(found: list[Part], saved: Iterable[str]) -> dict[int, str]:
    """The keys of variables, by the numbers of these; of several variables of a key the first has it."""
    names = {n: part.value.name.removesuffix(":0") for n, part in enumerate(found) if isinstance(part.value, Variable)}
    every = candidates(names.values(), saved)
    keys: dict[int, str] = {}
    taken = set()
    for number, name in names.items():
        if len(every[name]) == 1 and every[name][0] not in taken:
            keys[number] = every[name][0]
            taken.add(keys[number])
    return keys
