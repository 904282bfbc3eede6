"""Metadata: the object graphs of programs and of checkpoints, for inspection."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from agog_checkpoint import file
from agog_checkpoint.objects import walk
from agog_core.checkpointable import Checkpointable, unsaved
from agog_core.files import file_path


class ObjectReference(NamedTuple):
    """A part of an object: the number of its node, and its name."""

    node_id: int
    local_name: str


class SerializedTensor(NamedTuple):
    """A value: what it is of its object, the variable's name in the program, if it has one, and its key in the file."""

    name: str
    full_name: str
    checkpoint_key: str


class SlotVariableReference(NamedTuple):
    """A slot of an optimizer: the numbers of the variable and of the slot variable, and the slot's name."""

    original_variable_node_id: int
    slot_name: str
    slot_variable_node_id: int


class ObjectNode(NamedTuple):
    """An object: its parts, its values and its slots."""

    children: list[ObjectReference]
    attributes: list[SerializedTensor]
    slot_variables: list[SlotVariableReference]


class CheckpointableObjectGraph(NamedTuple):
    """The objects of a checkpoint, the root first."""

    nodes: list[ObjectNode]


def object_metadata(save_path: str | os.PathLike[str]) -> CheckpointableObjectGraph:
    """Read the object graph of a checkpoint.

    Args:
        save_path: what `Checkpoint.save` returned.

    Returns:
        The graph.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: it is damaged.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> from agog_core import Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph = object_metadata(Checkpoint(v=Variable(1.0)).write(f"{folder}/ckpt"))
    >>> graph.nodes[0].children, graph.nodes[1].attributes[0].checkpoint_key
    ([ObjectReference(node_id=1, local_name='v')], 'v')
    """
    graph, _ = file.read(file_path("object_metadata", save_path))
    labels = graph.labels()
    nodes = [
        ObjectNode([ObjectReference(child, name) for name, child in node.children.items()], [], [])
        for node in graph.nodes
    ]
    for number, label in labels.items():
        saved = graph.nodes[number].variable
        kind, name = ("STATE", "") if saved is None else ("VARIABLE_VALUE", saved.name or saved.key)
        nodes[number].attributes.append(SerializedTensor(kind, name, label))
    for slot in graph.slots:
        nodes[slot.optimizer].slot_variables.append(SlotVariableReference(slot.variable, slot.name, slot.slot_variable))
    return CheckpointableObjectGraph(nodes)


def list_objects(root_checkpointable: Checkpointable) -> list[Any]:
    """All objects that a checkpoint of an object would save.

    Args:
        root_checkpointable: the object.

    Returns:
        It, its parts, and so on, breadth first, lists and dicts among them; then slots, and last the lists and dicts in
        attributes that hold nothing to save.

    Raises:
        ValueError: a dict has a part with state under a key that is not a string.

    >>> from agog_checkpoint import Checkpoint
    >>> from agog_core import Variable
    >>> root, variable = list_objects(Checkpoint(v=Variable(1.0)))
    >>> variable
    <tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>
    """
    found = [part.value for part in walk(root_checkpointable)[0] if type(part.value) is not tuple]
    known = set(map(id, found))
    for value in found:  # which grows
        for part in _containers(value):
            if id(part) not in known:
                known.add(id(part))
                found.append(part)
    return found


def _containers(value: Any) -> list[Any]:
    """The lists and dicts in an object's public attributes, or in a list or dict, that are not marked as no parts."""
    without: set[Any] = set()
    if isinstance(value, (list, dict)):
        inside = dict(enumerate(value)) if isinstance(value, list) else value
        without = {key for key, part in inside.items() if id(part) in unsaved(value)}
    else:
        inside = {name: part for name, part in getattr(value, "__dict__", {}).items() if not name.startswith("_")}
        without = getattr(value, "_no_dependencies", without)
    return [part for key, part in inside.items() if isinstance(part, (list, dict)) and key not in without]


def dot_graph_from_checkpoint(save_path: str | os.PathLike[str]) -> str:
    """Draw the object graph of a checkpoint, for Graphviz.

    Args:
        save_path: what `Checkpoint.save` returned.

    Returns:
        A text in the language DOT: a node for each object, blue for variables, and dashed orange lines to slots.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: it is damaged.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> from agog_core import Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(dot_graph_from_checkpoint(Checkpoint(v=Variable(1.0)).write(f"{folder}/ckpt")))
    digraph {
      n0 [label=""];
      n1 [label="v (float32)" color=blue];
      n0 -> n1 [label="v"];
    }
    """
    graph, _ = file.read(file_path("dot_graph_from_checkpoint", save_path))
    paths, lines = graph.paths(), []
    for number, node in enumerate(graph.nodes):
        if node.variable is None:
            lines.append(f"n{number} [label={_quoted(paths.get(number, ''))}]")
        else:
            label = _quoted(f"{node.variable.key} ({node.variable.dtype})")
            lines.append(f"n{number} [label={label} color=blue]")
    for number, node in enumerate(graph.nodes):
        lines += [f"n{number} -> n{child} [label={_quoted(name)}]" for name, child in node.children.items()]
    for slot in graph.slots:
        lines.append(
            f"n{slot.optimizer} -> n{slot.slot_variable} [label={_quoted(slot.name)} color=orange style=dashed]"
        )
        lines.append(f"n{slot.variable} -> n{slot.slot_variable} [color=orange style=dashed]")
    return "digraph {\n" + "".join(f"  {line};\n" for line in lines) + "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
