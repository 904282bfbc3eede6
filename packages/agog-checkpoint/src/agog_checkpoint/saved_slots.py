"""Saved slots: the slots in a checkpoint, and the slots of a program restored from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from weakref import WeakValueDictionary

from agog_checkpoint.graph import Slot
from agog_core import Checkpointable, Variable


class SavedSlots:
    """The slots of a file, by optimizer and variable, all by the numbers of their nodes; and the program's variables
    among these, as far as they were found."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._of: dict[int, dict[int, dict[str, int]]] = {}
        for slot in slots:
            self._of.setdefault(slot.optimizer, {}).setdefault(slot.variable, {})[slot.name] = slot.slot_variable
        self._owners = {variable for saved in self._of.values() for variable in saved}
        self._found: WeakValueDictionary[int, Variable] = WeakValueDictionary()

    def __contains__(self, optimizer: int) -> bool:
        return optimizer in self._of

    def optimizers(self) -> Iterable[int]:
        """The nodes that have slots."""
        return self._of.keys()

    def nodes(self, optimizer: int) -> list[int]:
        """The nodes of an optimizer's slots."""
        return [node for named in self._of.get(optimizer, {}).values() for node in named.values()]

    def note(self, number: int, value: Any) -> None:
        """Note that an object was found."""
        if number in self._owners:
            self._found[number] = value

    def matching(self, number: int, optimizer: Checkpointable, fresh: Mapping[int, Any]) -> Iterator[tuple[int, Any]]:
        """The slots of an optimizer that the file has too, with their nodes; they are made where they do not exist."""
        saved = self._of[number]
        variables = {owner: value for owner in saved if (value := fresh.get(owner, self._found.get(owner))) is not None}
        for owner, variable in variables.items():
            optimizer.make_checkpoint_slots(variable, saved[owner])
        owners = {id(variable): owner for owner, variable in variables.items()}
        for name, variable, slot in optimizer.checkpoint_slots():
            node = saved.get(owners.get(id(variable), -1), {}).get(name)
            if node is not None:
                yield node, slot

    def matching_fresh(
        self, number: int, optimizer: Checkpointable, fresh: Mapping[int, Any]
    ) -> Iterator[tuple[int, Any]]:
        """See `matching`; only those of some variables, at a cost that does not grow with the number of others."""
        saved = self._of[number]
        for owner in [each for each in fresh if each in saved]:
            for name, slot in optimizer.make_checkpoint_slots(fresh[owner], saved[owner]).items():
                if name in saved[owner]:
                    yield saved[owner][name], slot
