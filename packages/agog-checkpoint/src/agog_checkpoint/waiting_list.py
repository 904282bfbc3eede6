"""Waiting list: objects without some of the parts in a file."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from agog_checkpoint.matches import Matches
from agog_checkpoint.objects import tells_of_parts
from agog_core.checkpointable import Checkpointable
from agog_core.variables import containers


class WaitingList:
    """The objects, held weakly, that were matched and still lack parts, themselves or in their lists, tuples and dicts;
    all by the numbers of their nodes."""

    def __init__(self, matches: Matches) -> None:
        self.owners: dict[int, weakref.ref[Checkpointable]] = {}
        self._matches = matches
        self._containers: set[int] = set()  # nodes for which the program has a list, a tuple or a dict
        self._silent: set[int] = set()  # those among them, and among the owners, that tell nobody of new parts
        self._holders: dict[int, int] = {}  # the nodes of their owners
        self._rest: dict[int, tuple[list[int], set[int]]] = {}  # see _lacks_parts

    def alive(self, numbers: Iterable[int]) -> list[tuple[int, Any]]:
        """The owners among some nodes."""
        return [(n, owner) for n in list(numbers) if n in self.owners and (owner := self.owners[n]()) is not None]

    def around(self, number: int) -> list[tuple[int, Any]]:
        """Those whose lack may end when a node gets a part: it, or whoever has it in a container; and optimizers."""
        optimizers = self.owners.keys() & self._matches.slots.optimizers()
        return self.alive({self._holders.get(number, number), *optimizers})

    def is_silent(self) -> bool:
        """Whether something may have got a part of which nobody was told."""
        self._silent = {number for number in self._silent if self._lacks_parts(number)}
        return bool(self._silent)

    def enter(self, parent: int, number: int, container: Any) -> None:
        """Note the nodes of the program's lists, tuples or dicts, and of their owners."""
        self._containers.add(number)
        self._holders[number] = self._holders.get(parent, parent)
        if isinstance(container, (containers.List, containers.Mapping)):
            self._matches.node_of.set(container, number)
        else:
            self._silent.add(number)

    def update(self, objects: Iterable[tuple[int, Any]], ended: Callable[[], None]) -> None:
        """Note which of some objects lack parts; ``ended`` is called when none does any more, now or later."""
        for number, value in objects:
            if isinstance(value, Checkpointable):
                if number not in self._matches.matched or not self._lacks_parts(number):
                    self.owners.pop(number, None)
                elif number not in self.owners:
                    self._silent |= set() if tells_of_parts(type(value)) else {number}

                    def lose(reference: weakref.ref[Checkpointable], number: int = number) -> None:
                        if self.owners.get(number) is reference:
                            del self.owners[number]
                            if not self.owners:
                                ended()

                    self.owners[number] = weakref.ref(value, lose)
        if not self.owners:
            ended()

    def awaited(self) -> set[int]:
        """The nodes for which an object may still come."""
        found: set[int] = set()
        for number in (order := list(self.owners)):
            fresh = [part for part in self._matches.parts(number) if part not in found]
            found.update(fresh)
            order += fresh
        return found

    def _lacks_parts(self, owner: int) -> bool:
        """Whether a value hangs on an owner, itself or through containers, that has no object yet."""
        matches = self._matches
        if owner not in self._rest:
            self._rest[owner] = matches.parts(owner), {owner}
        rest, seen = self._rest[owner]
        while rest:  # what is settled once stays so, and is not looked at again
            child = rest[-1]
            if child in self._containers:
                rest.pop()
                if child not in seen:
                    seen.add(child)
                    rest += matches.graph.nodes[child].children.values()
            elif child in matches.holding and not matches.is_settled(child):
                return True
            else:
                rest.pop()
        return False
