"""Constants: values that are constant once the stand-ins of loops are taken out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agog_core.tracing.graphs.graph import PURE, Late, LateItem, Node, Value

if TYPE_CHECKING:
    from agog_core.tracing.loops.iterations import Iterations

# Such values have no more elements.
MOST_KNOWN = 4096


class Known:
    """What would be known if some loops were recorded as they ran, and what would be in a way of its own."""

    def __init__(self) -> None:
        self.of: dict[Value, tuple[frozenset[Iterations], Any]] = {}
        self.counted: set[Value] = set()  # what depends on how often loops have run

    def stand_in(self, value: Value, source: Value, loop: Iterations, array: Any) -> None:
        """Note that a value stands for another one in a loop."""
        if source in self.of:
            self.of[value] = self.of[source][0] | {loop}, array
        elif source.kind == "constant" and size(value) <= MOST_KNOWN:
            self.of[value] = frozenset((loop,)), array
        if source in self.counted:
            self.counted.add(value)

    def note(self, node: Node, arrays: Sequence[Any]) -> None:
        """Note what is computed of such values alone."""
        is_late = any(isinstance(each, (Late, LateItem)) for each in node.attributes.values())
        given = [value for value in node.inputs if value.kind != "constant"]
        if node.effect not in PURE or is_late:
            return
        if all(value in self.of for value in given):
            loops: frozenset[Iterations] = frozenset()
            for value in given:
                loops |= self.of[value][0]
            if all(size(value) <= MOST_KNOWN for value in node.outputs):
                self.of.update((value, (loops, array)) for value, array in zip(node.outputs, arrays, strict=True))
        elif all(value in self.of or value in self.counted for value in given):
            self.counted.update(node.outputs)

    def look(self, value: Value | None) -> bool:
        """Whether a value is known; the loops that give it are recorded as they ran then."""
        loops = self.of[value][0] if value in self.of else None
        for loop in loops or ():
            loop.is_refused = True
        return loops is not None

    def look_at_all(self, values: Sequence[Value]) -> bool:
        """Whether all values are known; see `look`."""
        return all(value in self.of for value in values) and all(map(self.look, values))

    def loops(self, value: Value) -> frozenset[Iterations] | None:
        """The loops that a value is known without."""
        return self.of[value][0] if value in self.of else None


def size(value: Value) -> int:
    """How many elements a value has."""
    count = 1
    for length in value.shape:
        count *= length
    return count
