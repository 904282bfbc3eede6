"""Section: the record that a tape has of one call, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_core import recording
from agog_core.recording import Id

if TYPE_CHECKING:
    from agog_core.tracing.tapes.calls import Call


class Section(recording.Section):
    """The records of one call on one tape.

    Args:
        call: the call.
        index: which of its tapes it is.
    """

    __slots__ = ("call", "index", "outs", "sources")

    def __init__(self, call: Call, index: int) -> None:
        self.call, self.index = call, index
        twin = call.taped.twins[index]
        named = [(call.name(place), place) for _, place in twin.results]
        self.outs = tuple([name for name, _ in named if name is not None])
        self.sources = tuple([call.named(traced) for traced in twin.sources])

    @property
    def __name__(self) -> str:
        return self.call.taped.name

    def walk_back(self, gradients: dict[Id, Any], keep: set[Id]) -> None:
        """Walk the records of the call back: take the gradients of what it has made, and give those of its sources."""
        call, twin = self.call, self.call.taped.twins[self.index]
        names = {traced: name for traced, name in call.names().items() if traced in twin.ids}
        known = {traced: gradients[names[traced]] for traced in sorted(names) if names[traced] in gradients}
        if twin.outs.isdisjoint(known):
            return
        kept = frozenset([traced for traced, name in names.items() if name in keep])
        found = call.taped.walk(call, self.index, known, kept)
        for traced in known:
            if traced in twin.outs and traced not in kept:
                del gradients[names[traced]]
        for traced, gradient in found.items():
            gradients[call.named(traced)] = gradient
