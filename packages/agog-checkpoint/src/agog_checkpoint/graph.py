"""Graphs of objects in checkpoint files: nodes, their parts, and their JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from agog_checkpoint import compact_json
from agog_core.dtypes import ALL, FLOAT8, string

_KEYS = {"key", "dtype", "shape", "checksum"}
_KEYS_1 = {"key", "dtype", "shape", "crc32"}  # format version 1
DTYPES = {dtype.name: dtype for dtype in ALL | FLOAT8 if dtype is not string}


class SavedVariable:
    """The graph's entry for a variable's value; ``key`` is its name in the file, and ``name`` the program's for it, if
    it has one and that is another.

    ``checksum`` is that of its bytes, as hexadecimal digits: eight in files of format version 1, sixteen in others.
    """

    __slots__ = ("checksum", "dtype", "key", "name", "shape")

    def __init__(
        self, key: str, dtype: str, shape: tuple[int, ...], checksum: str = "0" * 16, name: str | None = None
    ) -> None:
        self.key = key
        self.dtype = dtype
        self.shape = shape
        self.checksum = checksum
        self.name = name


class Node:
    """An object: a variable, or something with named parts and state of its own.

    ``children`` are the numbers of the nodes of its parts, by name; ``state`` is the result of its `checkpoint_state`,
    if any.
    """

    __slots__ = ("children", "state", "variable")

    def __init__(
        self, children: dict[str, int], variable: SavedVariable | None = None, state: dict[str, Any] | None = None
    ) -> None:
        self.children = children
        self.variable = variable
        self.state = state


class Slot(NamedTuple):
    """A variable that belongs to an optimizer and a variable, all by the numbers of their nodes."""

    optimizer: int
    name: str
    variable: int
    slot_variable: int


class Graph(NamedTuple):
    """All nodes, the root first, and all slots."""

    nodes: list[Node]
    slots: list[Slot]

    def variables(self) -> list[SavedVariable]:
        """The values of all variables, in the order of their nodes."""
        return [node.variable for node in self.nodes if node.variable is not None]

    def is_by_name(self) -> bool:
        """Whether this is the graph of variables under names such as ``net/dense/kernel``, as a `Saver` writes them;
        False also where no name has a slash, and is a path as well."""
        names = self.nodes[0].children
        return any("/" in name for name in names) and all(self.nodes[child].variable for child in names.values())

    def paths(self) -> dict[int, str]:
        """The shortest path of each node, by its number, that can be reached through parts, as it is in keys; the
        root's is empty."""
        paths = {0: ""}
        for number in (order := [0]):
            for name, child in self.nodes[number].children.items():
                if child not in paths:
                    paths[child] = join(paths[number], escape(name))
                    order.append(child)
        return paths

    def labels(self, paths: Mapping[int, str] | None = None) -> dict[int, str]:
        """Names for the nodes, by number, that hold a value: the key of a variable, or ``<path>/.state`` for an object
        with state. ``paths`` are those of `paths`, if they are known."""
        paths, labels = paths or self.paths(), {}
        for number, node in enumerate(self.nodes):
            if node.variable is not None:
                labels[number] = node.variable.key
            elif node.state is not None:
                labels[number] = join(paths.get(number, f"node {number}"), ".state")
        return labels

    def names(self) -> dict[str, str]:
        """The names that the program had for variables, by their keys; where several have one, or none, the keys."""
        named = {variable.key: variable.name or variable.key for variable in self.variables()}
        counts = Counter([*named.values(), *(key for key, name in named.items() if key != name)])
        return {key: name if key == name or counts[name] == 1 else key for key, name in named.items()}

    def leading_to(self, values: set[int]) -> set[int]:
        """The numbers of the nodes that are among some, or lead to one of them."""
        parents: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            for child in node.children.values():
                parents[child].append(number)
        for slot in self.slots:
            parents[slot.slot_variable].append(slot.optimizer)
        found = set(values)
        rest = list(found)
        while rest:
            fresh = set(parents[rest.pop()]) - found
            found |= fresh
            rest += fresh
        return found

    def to_json(self) -> str:
        """Write the graph as one line of JSON."""
        nodes = []
        for node in self.nodes:
            raw: dict[str, Any] = {}
            if node.children:
                raw["children"] = node.children
            if node.variable is not None:
                value = node.variable
                raw["variable"] = {
                    "key": value.key,
                    "dtype": value.dtype,
                    "shape": value.shape,
                    "checksum": value.checksum,
                }
                if value.name not in (None, value.key):
                    raw["variable"]["name"] = value.name
            if node.state is not None:
                raw["state"] = node.state
            nodes.append(raw)
        return compact_json.dump({"nodes": nodes, "slots": self.slots})


def escape(name: str) -> str:
    """Make a name into one part of a key, so that no two objects get one key.

    The name is an attribute's, a dict's key, an index of a list or a slot's. A slash, a percent sign, a first dot and
    what cannot be printed are percent-encoded.

    >>> escape("kernel"), escape("v1.0"), escape("a/b"), escape(".slot")
    ('kernel', 'v1.0', 'a%2Fb', '%2Eslot')
    """
    if name == "__metadata__":  # safetensors keeps this key for itself
        return "%5F_metadata__"
    if name.isidentifier() or name.isalnum():  # most names
        return name
    first, rest = name[:1], name[1:]
    return (_escape_character(first) if first != "." else "%2E") + "".join(map(_escape_character, rest)) or "%"


def unescape(part: str) -> str:
    """The name that `escape` made one part of a key of.

    >>> unescape("a%2Fb"), unescape("kernel"), unescape("%")
    ('a/b', 'kernel', '')
    """
    from urllib.parse import unquote  # here, because most programs do not need it

    return "" if part == "%" else unquote(part, errors="surrogatepass")


def _escape_character(character: str) -> str:
    if character.isprintable() and character not in "/%":
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def join(path: str, name: str) -> str:
    """Append one part to a path; the root's is empty."""
    return f"{path}/{name}" if path else name


def graph_of_names(arrays: Mapping[str, np.ndarray[Any, Any]]) -> Graph:
    """Make a graph of variables from their names, split at slashes or else at dots.

    Raises ValueError if a name is the beginning of another, or a variable cannot have a dtype, and TypeError if a
    name is not a string.
    """
    nodes = [Node({})]
    for key, array in arrays.items():
        if not isinstance(key, str):
            raise TypeError(f"restore_tensors: names must be strings; got {key!r} of type {type(key).__name__}.")
        if array.dtype.name not in DTYPES:
            raise ValueError(
                f"restore_tensors: {key!r} has dtype {array.dtype}, which no variable can have; leave it out."
            )
        number = 0
        for name in key.split("/" if "/" in key else "."):
            if nodes[number].variable is not None:
                raise _ambiguous(key)
            if name not in nodes[number].children:
                nodes[number].children[name] = len(nodes)
                nodes.append(Node({}))
            number = nodes[number].children[name]
        if nodes[number].children or nodes[number].variable is not None:
            raise _ambiguous(key)
        nodes[number].variable = SavedVariable(key, array.dtype.name, array.shape)
    return Graph(nodes, [])


def _ambiguous(key: str) -> ValueError:
    return ValueError(
        f"restore_tensors: {key!r} begins as another name ends, so that one of them would be a variable and hold the "
        "other; rename one of them, or leave it out."
    )


def parse_graph(text: str) -> Graph:
    """Read a graph that `Graph.to_json` wrote; all numbers in it are those of nodes. Anything else raises a ValueError
    that says what it is."""
    raw = compact_json.load(text)
    _require(isinstance(raw, dict) and raw.keys() == {"nodes", "slots"}, "has not the two parts nodes and slots")
    _require(isinstance(raw["nodes"], list) and bool(raw["nodes"]), "has no nodes")
    _require(isinstance(raw["slots"], list), "has no list of slots")
    count = len(raw["nodes"])
    nodes = [_parse_node(number, node, count) for number, node in enumerate(raw["nodes"])]
    slots = []
    for slot in raw["slots"]:
        _require(isinstance(slot, list) and len(slot) == 4 and isinstance(slot[1], str), "has a malformed slot")
        _require(_are_numbers([slot[0], *slot[2:]], count), "has a slot of nodes that do not exist")
        _require(nodes[slot[3]].variable is not None, "has a slot that is not a variable")
        slots.append(Slot(*slot))
    keys = [node.variable.key for node in nodes if node.variable is not None]
    _require(len(set(keys)) == len(keys), "has two variables of one key")
    return Graph(nodes, slots)


def _parse_node(number: int, raw: Any, count: int) -> Node:
    if fault := _fault_of(raw, count):
        raise ValueError(f"its object graph has {fault.format(node=f'node {number}')}")
    children, state, variable = raw.get("children", {}), raw.get("state"), raw.get("variable")
    if variable is None:
        return Node(children, None, state)
    checksum = variable["crc32"] if "crc32" in variable else variable["checksum"]
    shape = tuple(variable["shape"])
    return Node(children, SavedVariable(variable["key"], variable["dtype"], shape, checksum, variable.get("name")))


def _fault_of(raw: Any, count: int) -> str | None:
    """What a node of so many has that `Graph.to_json` does not write."""
    if not isinstance(raw, dict) or not raw.keys() <= {"children", "variable", "state"}:
        return "a malformed {node}"
    children, variable, state = raw.get("children", {}), raw.get("variable"), raw.get("state")
    if not isinstance(children, dict):
        return "malformed children of {node}"
    if not _are_numbers(children.values(), count):
        return "children of {node} that do not exist"
    if not (state is None or isinstance(state, dict)):
        return "a malformed state of {node}"
    if variable is None:
        return None
    if children or state is not None:
        return "a variable, {node}, with parts"
    return _fault_of_variable(variable)


def _fault_of_variable(raw: Any) -> str | None:
    is_known = isinstance(raw, dict) and raw.keys() - {"name"} in (_KEYS, _KEYS_1)
    if not is_known or not isinstance(raw["key"], str):
        return "a malformed variable, {node}"
    if not isinstance(raw["dtype"], str) or raw["dtype"] not in DTYPES:
        return "an unknown dtype of {node}"
    if not isinstance(raw["shape"], list) or not _are_numbers(raw["shape"], None):
        return "a malformed shape of {node}"
    if not isinstance(raw["checksum"] if "checksum" in raw else raw["crc32"], str):
        return "a malformed checksum of {node}"
    if not isinstance(raw.get("name", ""), str):
        return "a malformed name of {node}"
    return None


def _are_numbers(values: Iterable[Any], count: int | None) -> bool:
    return all(type(value) is int and value >= 0 and (count is None or value < count) for value in values)


def _require(condition: bool, fault: str) -> None:
    if not condition:
        raise ValueError(f"its object graph {fault}")
