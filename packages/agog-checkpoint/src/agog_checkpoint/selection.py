"""Selection: ``mapping``, ``only`` and ``skip``, by renaming and pruning the file's graph before a restore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from agog_checkpoint.graph import Graph, Node, escape, join, unescape
from agog_checkpoint.name_list import name_list
from agog_core.errors import NotFoundError


class Selection:
    """The paths in the program that are restored: those that match a pattern in ``only``, and none in ``skip``.

    ``only`` is None for all. Raises TypeError if a pattern is not a string.

    >>> selection = Selection("model", ["model/*/bias"])
    >>> selection.wants("model/dense/kernel"), selection.wants("model/dense/bias"), selection.wants("step")
    (True, False, False)
    """

    def __init__(self, only: str | Iterable[str] | None = None, skip: str | Iterable[str] = ()) -> None:
        self._only = None if only is None else _patterns("only", only)
        self._skip = _patterns("skip", skip)

    def wants(self, path: str) -> bool:
        """Whether what is at a path in the program is restored."""
        wanted = self._only is None or any(_matches(pattern, path) for pattern in self._only)
        # The slots of a skipped variable would not fit its replacement.
        _, _, slot = path.partition("/.slot/")
        return wanted and not self._skips(path) and not (slot and self._skips(slot.partition("/")[2]))

    def _skips(self, path: str) -> bool:
        return any(_matches(pattern, path) for pattern in self._skip)

    def unwanted(self, path: str, graph: Graph) -> set[int]:
        """The nodes of a graph with the program's paths whose values are not restored. Raises ValueError if a
        pattern matches nothing in the graph."""
        paths = graph.paths()
        known = {}
        for number, node_path in paths.items():
            if graph.nodes[number].variable is not None:
                known[number] = node_path
            elif graph.nodes[number].state is not None:
                known[number] = join(node_path, ".state")
        for slot in graph.slots:
            if slot.optimizer in paths and slot.variable in paths:
                slots = join(join(paths[slot.optimizer], ".slot"), escape(slot.name))
                known.setdefault(slot.slot_variable, join(slots, paths[slot.variable]))
        self._check(path, sorted(known.values()))
        # What a mapping has replaced has no path any more.
        pathless = set() if self._only is None else graph.labels().keys() - known.keys()
        return pathless | {number for number, value_path in known.items() if not self.wants(value_path)}

    def _check(self, path: str, known: list[str]) -> None:
        for argument, patterns in (("only", self._only or ()), ("skip", self._skip)):
            for pattern in patterns:
                if not any(_matches(pattern, name) for name in known):
                    raise ValueError(
                        f"restore: {argument} has {pattern!r}, which matches nothing in checkpoint {path!r}; it has "
                        f"{name_list(known, 'nothing')}."
                    )


def _patterns(argument: str, given: str | Iterable[str]) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(
                f"restore: {argument} must be a path such as 'model/encoder', a pattern such as 'model/*/bias', or a "
                f"list of them; got {pattern!r} of type {type(pattern).__name__}."
            )
    return patterns


def _matches(pattern: str, path: str) -> bool:
    whole = pattern.rstrip("/")
    named = path == pattern or path.startswith(f"{whole}/")  # also where a name has brackets or stars
    return named or fnmatchcase(path, pattern) or fnmatchcase(path, f"{whole}/*")


def renamed(path: str, graph: Graph, mapping: Mapping[str, str]) -> Graph:
    """Move objects of a file, with all their parts, to the paths of the program, in a new graph.

    ``mapping`` has paths in the program to paths or keys in the file; the empty path is the root. Raises NotFoundError
    if the file has no such object, ValueError if a path in the program leads through a variable, and TypeError if a
    name is not a string.
    """
    for name in (*mapping, *mapping.values()):
        if not isinstance(name, str):
            raise TypeError(
                "restore: mapping must be a dict from paths in the program to paths in the file; got "
                f"{name!r} of type {type(name).__name__} in it."
            )
    nodes = [Node(dict(node.children), node.variable, node.state) for node in graph.nodes]
    by_key = _by_key(graph)
    moves = [(target, *(by_key.get(source) or _find(path, graph, source))) for target, source in mapping.items()]
    for _, _, parent, name in moves:
        if parent is not None:
            nodes[parent].children.pop(name, None)
    root = len(nodes)
    if any(number == 0 for _, number, *_ in moves):
        nodes.append(nodes[0])
        nodes[0] = Node({})
    placed: set[int] = set()
    # An object before its parts, which may come from elsewhere.
    for target, number, *_ in sorted(moves, key=lambda move: move[0].count("/") + bool(move[0])):
        moved = number or root
        # One value for two objects: each needs a node of its own.
        place(nodes, target, _copy(nodes, moved, {}) if moved in placed else moved)
        placed.add(moved)
    return Graph(nodes, graph.slots)


# The number of a node, that of its parent if it has one, and its name there.
_Place = tuple[int, int | None, str]


def _by_key(graph: Graph) -> dict[str, _Place]:
    parents = {
        child: (parent, name)
        for parent in reversed(graph.paths())
        for name, child in graph.nodes[parent].children.items()
    }
    return {
        node.variable.key: (number, *parents.get(number, (None, "")))
        for number, node in enumerate(graph.nodes)
        if node.variable is not None
    }


def _find(path: str, graph: Graph, source: str) -> _Place:
    number, found, own_name = 0, "", ""
    holder: int | None = None
    for part in source.split("/") if source else ():
        children = graph.nodes[number].children
        own_name = unescape(part)
        if own_name not in children:
            names = name_list(sorted(map(escape, children)), "nothing")
            raise NotFoundError(
                f"restore: mapping asks for {source!r}, which is not in checkpoint {path!r}; "
                + (f"{found!r} has {names}." if found else f"it has {names}.")
            )
        holder, number, found = number, children[own_name], join(found, part)
    return number, holder, own_name


def _copy(nodes: list[Node], number: int, done: dict[int, int]) -> int:
    if number not in done:
        node = nodes[number]
        done[number] = len(nodes)
        nodes.append(copy := Node({}, node.variable, node.state))
        copy.children = {name: _copy(nodes, child, done) for name, child in node.children.items()}
    return done[number]


def place(nodes: list[Node], target: str, number: int) -> None:
    """Put a node at a path. Raises ValueError if the path leads through a variable."""
    if not target:
        nodes[0].children |= nodes[number].children
        return
    parent = 0
    *parts, last = map(unescape, target.split("/"))
    for part in parts:
        child = nodes[parent].children.get(part)
        if child is None:
            nodes[parent].children[part] = child = len(nodes)
            nodes.append(Node({}))
        elif (variable := nodes[child].variable) is not None:
            raise ValueError(
                f"restore: mapping cannot put anything at {target!r}, since the checkpoint has the variable "
                f"{variable.key!r} on the way; skip it, or map its path to another object."
            )
        parent = child
    # First, so that `only` and `skip` see this path of a part with several.
    nodes[parent].children = {last: number} | {n: child for n, child in nodes[parent].children.items() if n != last}
