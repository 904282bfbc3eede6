"""Matcher: matches the objects of a program with those of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_checkpoint.graph import escape, join
from agog_checkpoint.matches import Matches
from agog_checkpoint.objects import parts
from agog_checkpoint.python_state import NumpyState
from agog_checkpoint.waiting_list import WaitingList
from agog_core import Checkpointable, Variable

Numbered = tuple[int, Any]  # a node, and its object
Part = tuple[int, str, int, Any]  # a node, the name of its part, that one's node, and the part


class Matcher:
    """One walk over objects and their parts, by the names that these have in the file.

    ``found`` are the objects by the numbers of their nodes, and ``faults`` say why nodes cannot have one: where the
    program and the file do not share the same objects. ``wants`` says of a path in the program whether it is restored.
    """

    def __init__(
        self, matches: Matches, waiting: WaitingList, wants: Callable[[str], bool], found: dict[int, Any]
    ) -> None:
        self.found = found
        self.faults: dict[int, str] = {}
        self._matches = matches
        self._waiting = waiting
        self._wants = wants
        self._staged = {id(value): number for number, value in found.items()}
        self._entered: set[tuple[int, int]] = set()

    def walk(self, queue: list[Numbered], owners: Sequence[Numbered], news: Sequence[Part], deferred: bool) -> None:
        """Walk from the objects in the queue, which grows, and from new parts. The ``owners`` may have slots for what
        is found, but no other new parts. While the restore is ``deferred``, the program may yet put other objects in
        their places."""

        def reach(parent: int, name: str, child: int, part: Any) -> None:
            if isinstance(part, (Variable, Checkpointable)):
                if self._stage(child, part):
                    if isinstance(part, Checkpointable):
                        queue.append((child, part))
                elif not deferred:
                    self._check_sharing(parent, name, child, part)
            elif (child, id(part)) not in self._entered:
                self._entered.add((child, id(part)))
                self._waiting.enter(parent, child, part)
                queue.append((child, part))

        matches = self._matches
        for each in news:
            reach(*each)
        for number, value in queue:
            names = matches.graph.nodes[number].children
            if isinstance(value, NumpyState):
                value.expect(name for name, child in names.items() if matches.graph.nodes[child].variable is not None)
            for name, part in parts(value, matches.paths.get(number, "")):
                child = names.get(name)
                if child is not None:
                    reach(number, name, child, part)
        for match, objects in ((matches.slots.matching_fresh, owners), (matches.slots.matching, queue)):
            for number, value in objects:
                if number in matches.slots and isinstance(value, Checkpointable):
                    for slot, slot_variable in match(number, value, self.found):
                        self._stage(slot, slot_variable)

    def _stage(self, number: int, value: Any) -> bool:
        """Take an object for a node, and say whether it could be taken."""
        if self._matches.is_settled(number) or number in self.found:
            return False
        first = self._staged.get(id(value), self._matches.node_of.get(value))
        if first is not None:
            if not self._is_structure(number, value):
                return False
            self._matches.joined.add(first)
        self.found[number] = value
        self._staged.setdefault(id(value), number)
        return True

    def _is_structure(self, number: int, value: Any) -> bool:
        """Whether an object of the program may take the parts of a further node: one that has no value itself."""
        node = self._matches.graph.nodes[number]
        has_value = node.variable is not None or node.state is not None or number in self._matches.slots
        return isinstance(value, Checkpointable) and not has_value

    def _check_sharing(self, parent: int, name: str, child: int, part: Any) -> None:
        """Note a fault where one object of the program is two in the file, or two are one."""
        paths = self._matches.paths
        path = join(paths.get(parent, ""), escape(name))
        other = self._staged.get(id(part))
        if other == child or child not in self._matches.holding or not self._wants(path):
            return
        if child in self.found:
            shared = paths.get(child, "")
            self.faults[child] = f"{path!r}: the checkpoint has the same object at {shared!r}, the program has two"
        elif other is not None:
            shared = paths.get(other, "")
            self.faults[child] = f"{path!r}: the checkpoint has another object at {shared!r}, the program has the same"
