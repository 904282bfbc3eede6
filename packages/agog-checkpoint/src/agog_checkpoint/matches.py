"""Matches: the objects of a program for the nodes of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_checkpoint.graph import Graph
from agog_checkpoint.objects import WeakIdentityMap
from agog_checkpoint.saved_slots import SavedSlots


class Matches:
    """The nodes of a file, of which some are ``unwanted``: their values are not restored; and the objects that were
    found for them, which it holds weakly."""

    def __init__(self, graph: Graph, unwanted: frozenset[int]) -> None:
        self.graph = graph
        self.unwanted = unwanted
        self.paths = graph.paths()
        self.labels = {number: label for number, label in graph.labels(self.paths).items() if number not in unwanted}
        slots = [slot for slot in graph.slots if slot.slot_variable not in unwanted]
        self.slots = SavedSlots(slots)
        # The nodes with values, and those that lead to one.
        self.holding = graph.leading_to({*self.labels, *(slot.variable for slot in slots)})
        self.node_of: WeakIdentityMap[int] = WeakIdentityMap()
        self.matched: set[int] = set()
        self.rejected: set[int] = set()  # nodes whose objects do not fit
        self.joined: set[int] = set()  # nodes whose objects have taken the parts of further nodes

    def note(self, found: Mapping[int, Any]) -> None:
        """Note which objects were found for nodes."""
        for number, value in found.items():
            if self.node_of.get(value) is None:
                self.node_of.set(value, number)
                self.slots.note(number, value)
        self.matched.update(found)

    def is_settled(self, number: int) -> bool:
        """Whether a node needs no object any more."""
        return number in self.matched or number in self.rejected

    def parts(self, number: int) -> list[int]:
        """The nodes of a node's parts and slots."""
        return [*self.graph.nodes[number].children.values(), *self.slots.nodes(number)]
