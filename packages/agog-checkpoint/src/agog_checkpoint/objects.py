"""Objects: the walk over the object graph of a program, and its snapshot."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from agog_checkpoint import compact_json
from agog_checkpoint.garbage_collection import without_collection
from agog_checkpoint.graph import Graph, Node, SavedVariable, Slot, escape, join
from agog_checkpoint.python_state import ArrayPart
from agog_core import Tensor, Variable, convert_to_tensor, device, string
from agog_core.checkpointable import Checkpointable, is_checkpointable, notify, unsaved
from agog_core.errors import UnimplementedError
from agog_core.processes import Share, connected, has_shares, share_of
from agog_core.variables.containers import List
from agog_core.variables.containers import Mapping as MappingOfParts

V = TypeVar("V")


class Part(NamedTuple):
    """An object that was reached: itself, its shortest path, and the numbers of its own parts by name."""

    value: Any
    path: str
    children: dict[str, int]


class Snapshot(NamedTuple):
    """The data of a save: the graph, and each variable's value by its key. Values of tensors never change.

    Of what ``shares`` names the value is this process's share of a larger array. What ``statistics`` names may differ
    between processes: numbers that are not trained, such as moving means, and state outside of variables.
    """

    graph: Graph
    values: Mapping[str, Tensor]
    shares: Mapping[str, Share] = MappingProxyType({})
    statistics: frozenset[str] = frozenset()


class WeakIdentityMap(Generic[V]):
    """A map from objects, held weakly and compared by identity: users' classes may define equality and have no hash."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], V]] = {}

    def get(self, key: object) -> V | None:
        """The value of an object, or None."""
        entry = self._entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def set(self, key: object, value: V) -> None:
        """Give an object a value."""
        number, entries = id(key), self._entries

        def forget(reference: weakref.ref[Any]) -> None:
            if number in entries and entries[number][0] is reference:
                del entries[number]

        entries[number] = weakref.ref(key, forget), value


def parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The names and parts of an object that have state: of a `Checkpointable`, a list, a tuple or a dict; a variable
    has none. Raises ValueError if a dict holds a part with state under a key that is not a string."""
    items: Any = ()
    if isinstance(value, Checkpointable):
        items = value.checkpoint_dependencies().items()
    elif isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = ((str(index), part) for index, part in enumerate(value))
    without = unsaved(value)
    for name, part in list(items):
        if is_checkpointable(part) and id(part) not in without:
            if not isinstance(name, str):
                raise ValueError(
                    f"Checkpoint: the dict {path!r} has a non-string key, {name!r} of type {type(name).__name__}, for "
                    "an object with state, but names in a checkpoint are strings; use a string as key."
                )
            yield name, part


def is_part(owner: Any, name: str, part: Any) -> bool:
    """Whether an owner has a part under a name; False also where only a look at all of its parts could tell."""
    if isinstance(owner, List):
        return name == str(len(owner) - 1) and owner[-1] is part
    if isinstance(owner, MappingOfParts):
        return owner.get(name) is part
    return tells_of_parts(type(owner)) and owner.checkpoint_dependency(name) is part


def tells_of_parts(kind: type[Checkpointable]) -> bool:
    """Whether a class says of a single part what it says of all: not if it has its own `checkpoint_dependencies`
    only."""
    own = next(vars(base) for base in kind.__mro__ if "checkpoint_dependencies" in vars(base))
    return "checkpoint_dependency" in own


def walk(root: Any) -> tuple[list[Part], list[Slot]]:
    """Visit all reachable objects breadth first, so that each gets its shortest path.

    Returns the objects, the root first, and the slots of pairs of reached optimizers and reached variables. Raises what
    `parts` raises.
    """
    found = [Part(root, "", {})]
    numbers = {id(root): 0}

    def number_of(value: Any, path: str) -> int:
        if id(value) not in numbers:
            numbers[id(value)] = len(found)
            found.append(Part(value, path, {}))
        return numbers[id(value)]

    for part in found:
        for name, value in parts(part.value, part.path):
            part.children[name] = number_of(value, join(part.path, escape(name)))
    slots = []
    for number, part in enumerate(list(found)):
        if isinstance(part.value, Checkpointable):
            for name, variable, slot_variable in part.value.checkpoint_slots():
                if id(variable) in numbers:
                    owner = numbers[id(variable)]
                    path = join(join(join(part.path, ".slot"), escape(name)), found[owner].path)
                    slots.append(Slot(number, name, owner, number_of(slot_variable, path)))
    return found, slots


def without_value(root: Any, node_of: WeakIdentityMap[int], graph: Graph, matched: set[int]) -> list[str]:
    """The keys of the program's values that the file lacks."""
    found = walk(root)[0]
    missing = _torn(found, node_of, graph, matched)
    for value, path, _ in found:
        number = node_of.get(value)
        if isinstance(value, (Variable, ArrayPart)):
            if number is None:
                missing.append(path)
        elif isinstance(value, Checkpointable) and value.checkpoint_state():
            has_state = number is not None and graph.nodes[number].state is not None
            missing += [] if has_state else [join(path, ".state")]
    return missing


def _torn(found: list[Part], node_of: WeakIdentityMap[int], graph: Graph, matched: set[int]) -> list[str]:
    """The paths of objects without a node, because the program has the file's object under another path: one object
    there is two here.
    """
    return [
        found[child].path
        for part in found
        for name, child in part.children.items()
        if (number := node_of.get(part.value)) is not None
        and graph.nodes[number].children.get(name) in matched
        and isinstance(found[child].value, Checkpointable)
        and node_of.get(found[child].value) is None
    ]


def by_name(root: Any, graph: Graph) -> dict[str, str]:
    """Find the program's variables in a graph of variables under their names: paths in the program to names in the
    graph, for variables that are in both; without slots."""
    names = graph.nodes[0].children
    found = {
        part.path: name
        for part in walk(root)[0]
        if isinstance(part.value, Variable) and (name := part.value.name.removesuffix(":0")) in names
    }
    return {path: name for path, name in found.items() if ".slot" not in path.split("/")}


@without_collection()
def snapshot(root: Any) -> Snapshot:
    """The state of all that can be reached from an object, as it is now; later assignments do not change the snapshot.

    Raises ValueError if an object's state is no JSON data, or as `parts` does, and UnimplementedError if a variable
    holds strings.
    """
    notify()  # values of a checkpoint that still wait for an object are saved with it
    found, slots = walk(root)
    nodes, values = [], {}
    shares: dict[str, Share] = {}
    statistics = set()
    are_several, are_shared = connected() is not None, has_shares()
    of_slots = {slot.slot_variable for slot in slots}
    for number, (value, path, children) in enumerate(found):
        node = Node(children)
        if isinstance(value, Variable):
            # Not value(): that would tell the tapes of a read.
            tensor = value._current()
            dtype = tensor._table.dtype
            if dtype is string:
                raise UnimplementedError(
                    f"Checkpoint: variable {value.name!r} at {path!r} has dtype string and shape {value.shape}, but a "
                    "safetensors file holds numbers only; keep text in what an object's checkpoint_state() returns."
                )
            values[path] = tensor
            name = value.name.removesuffix(":0")
            share = share_of(value) if are_shared else None
            if share is not None:
                shares[path] = share
            elif are_several and not value.trainable and dtype.is_floating and number not in of_slots:
                statistics.add(path)
            shape = tensor._shape if share is None else share.shape
            node.variable = SavedVariable(path, dtype.name, shape, name=name)
        elif isinstance(value, ArrayPart):
            if (array := value.array) is not None:
                # A copy: the program may change the array while it is written.
                with device("cpu"):
                    tensor = values[path] = convert_to_tensor(array.copy())
                node.variable = SavedVariable(path, tensor.dtype.name, tensor._shape)
        elif isinstance(value, Checkpointable):
            state = value.checkpoint_state()
            if not isinstance(state, dict) or not _is_json(state):
                raise ValueError(
                    f"Checkpoint: checkpoint_state() of the {type(value).__name__} at {path!r} returned {state!r}, but "
                    "it must return a dict that JSON can hold: of strings to None, bool, int, float, str, lists and "
                    "such dicts."
                )
            # A copy: the object may go on changing what it returned.
            node.state = compact_json.load(compact_json.dump(state)) or None
        nodes.append(node)
    return Snapshot(Graph(nodes, slots), values, shares, frozenset(statistics))


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_json(part) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_json, value))
    return value is None or isinstance(value, (bool, int, float, str))
