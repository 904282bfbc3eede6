"""Branch records: what tapes record of a branch of `agog_core.cond`, as one record whose gradient is a branch too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agog_core import recording
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dtypes import int32, variant
from agog_core.gradients.backpropagation import backpropagate
from agog_core.recording import Id, Record, tapes_of_context
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import present_tracer
from agog_core.tracing.execution.loops import Stack
from agog_core.tracing.execution.portable import c_order
from agog_core.tracing.execution.stacks import Item
from agog_core.tracing.graphs.graph import Effect, Node, Value
from agog_core.tracing.loops.references import Holder, Hole, Replacing, tensors_in
from agog_core.tracing.loops.residuals import Kept, filled
from agog_core.tracing.loops.tracks import ends_of
from agog_core.tracing.state.device import TracedArray
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace


class BranchRecords:
    """What tapes record from now on, until the function of a branch has returned.

    Attributes: ``values`` are those that only the branch knows and its gradient takes.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.tapes = [tape for tape in tapes_of_context() if tape.is_open]
        self._states = [_state(tape) for tape in self.tapes]
        self._starts = [len(tape.records) for tape in self.tapes]
        self._records: list[list[Record]] = [[] for _ in self.tapes]
        self._holes: list[tuple[bool, int]] = []  # whether a tensor is of the branch alone, and its place among those
        self._own: list[Kept] = []
        self._fixed: list[Tensor | int] = []  # the other tensors, or the place of a result

    @property
    def values(self) -> list[Value]:
        """What the branch leaves for its gradient."""
        return [kept.value for kept in self._own]

    @property
    def is_empty(self) -> bool:
        """Whether no tape has a record of the branch."""
        return not any(self._records)

    def are_watched(self, variables: Iterable[Variable]) -> bool:
        """Whether a tape watches a value of some variables."""
        return any(id(variable) in tape.variables for variable in variables for tape in self.tapes)

    def take(self, inside: set[Value], results: Sequence[Value]) -> bool:
        """Take the records of the branch off the tapes; False, and nothing, where one record cannot stand for them.

        Args:
            inside: the values that the branch has made.
            results: those that it returns.
        """
        if [tape for tape in tapes_of_context() if tape.is_open] != self.tapes:
            return False
        if [_state(tape) for tape in self.tapes] != self._states:
            return False
        starts = zip(self.tapes, self._starts, strict=True)
        if any(len(tape.records) < start for tape, start in starts):
            return False
        records = [tape.records[start:] for tape, start in zip(self.tapes, self._starts, strict=True)]
        found = {id(x): x for x in tensors_in(records)}
        if not all(_may_stay(self.trace.value_of(x), inside, results) for x in found.values()):
            return False
        holes = {key: Hole(number) for key in found if (number := self._hole(found[key], inside, results)) is not None}
        self._records = Replacing(lambda x: holes.get(id(x), x))([records])[0]
        for tape, start in zip(self.tapes, self._starts, strict=True):
            del tape.records[start:]
        return True

    def _hole(self, tensor: Tensor, inside: set[Value], results: Sequence[Value]) -> int | None:
        """The number of the hole for a tensor; None for a constant, which stays."""
        array, value = tensor._array, self.trace.value_of(tensor)
        if type(array) is not TracedArray or array.tracer is not self.trace or array.value is None:
            return None
        if value in results:
            self._fixed.append(results.index(value))
        elif value in inside:
            self._own.append(Kept.of(self.trace, tensor))
        else:
            self._fixed.append(tensor)
        is_own = value in inside and value not in results
        self._holes.append((is_own, len(self._own if is_own else self._fixed) - 1))
        return len(self._holes) - 1

    def put_back(self, results: Sequence[Tensor]) -> None:
        """Let the tapes have the records as they were, where the branch has returned these results."""
        own = [kept.tensor(self.trace) for kept in self._own]
        found = filled(self._records, self._holes, own, self._others(results))
        for tape, records in zip(self.tapes, found, strict=True):
            tape.records += records

    def stacked(self, home: KernelTable) -> tuple[KernelTable, Stack]:
        """What the branch has left in this call."""
        return home.device.table(int32), Stack([tuple([kept.array for kept in self._own])])

    def record(self, flag: Tensor, results: Sequence[Tensor], stack: Tensor) -> None:
        """Give each tape one record of the branch, which has returned these results."""
        others = self._others(results)
        for tape, records in zip(self.tapes, self._records, strict=True):
            if records:
                section = BranchSection(records, self._holes, [stack, flag, *others], self._own)
                saved = tuple(section.outs), tuple(section.sources), section.kept
                tape.records.append((None, None, section, saved))  # type: ignore[arg-type]  # it is no function

    def record_handed(self, flag: Tensor, tensors: Sequence[Tensor]) -> None:
        """Let each tape know that a branch has handed on tensors from before, and nothing else."""
        for tape in self.tapes:
            ids = sorted({x._id for x in tensors if tape.watches(x)})
            if ids and tape.is_recording:
                section = HandedSection(ids, [flag])
                tape.records.append((None, None, section, ((), tuple(ids), section.kept)))  # type: ignore[arg-type]  # as above

    def _others(self, results: Sequence[Tensor]) -> list[Tensor]:
        return [results[x] if isinstance(x, int) else x for x in self._fixed]


def _may_stay(value: Value, inside: set[Value], results: Sequence[Value]) -> bool:
    """Whether a value may be left for the gradient; what shares memory with what is handed around is a copy."""
    root = value if value.base is None else value.base
    is_own = value not in inside or value in results or (root in inside and root not in results)
    return (is_own or root.layout in (None, c_order(root))) and value.table.dtype is not variant


def _state(tape: recording.Recording) -> Any:
    """What of a tape stays the same while it only records."""
    return tape.serial, getattr(tape, "_used", None), tape.is_recording


class BranchSection(recording.Section, Holder):
    """The record of a branch on one tape.

    Args:
        records: those of the function that was called, with holes.
        holes: whether the tensor in each is of the branch alone, and its place among those.
        kept: what the branch has left, the condition, and the other tensors.
        own: those of the branch alone, in the call that was traced.
    """

    __slots__ = ("holes", "kept", "outs", "own", "records", "sources")

    __name__ = "cond"

    def __init__(
        self, records: list[Record], holes: list[tuple[bool, int]], kept: list[Tensor], own: Sequence[Kept]
    ) -> None:
        self.records, self.holes, self.kept = records, holes, kept
        self.own = [each._replace(array=None) for each in own]
        ends = list(map(ends_of, records))
        self.outs = list(dict.fromkeys(i for outs, _ in ends for i in outs if i is not None))
        self.sources = sorted({i for _, sources in ends for i in sources if i is not None}.difference(self.outs))

    def replaced(self, replace: Replacing) -> BranchSection:
        kept = replace(self.kept)
        return self if kept is self.kept else BranchSection(self.records, self.holes, kept, self.own)

    def is_like(self, other: Any, is_same: Callable[[Any, Any], bool]) -> bool:
        return False  # no loop has a branch under a tape

    def walk_back(self, gradients: dict[Id, Any], keep: set[Id]) -> None:
        if not any(i in gradients for i in self.outs):
            return
        walk = _Walk(self, gradients, keep)
        for i in self.outs:
            if i not in keep:
                gradients.pop(i, None)
        gradients.update(walk.run())


class HandedSection(recording.Section, Holder):
    """The record of a branch on one tape that has handed on tensors from before.

    Args:
        ids: those of the tensors.
        kept: the condition.
    """

    __slots__ = ("ids", "kept")

    __name__ = "cond"

    def __init__(self, ids: list[Id], kept: list[Tensor]) -> None:
        self.ids, self.kept = ids, kept

    def replaced(self, replace: Replacing) -> HandedSection:
        kept = replace(self.kept)
        return self if kept is self.kept else HandedSection(self.ids, kept)

    def is_like(self, other: Any, is_same: Callable[[Any, Any], bool]) -> bool:
        return False  # as above

    def walk_back(self, gradients: dict[Id, Any], keep: set[Id]) -> None:
        """Note in the trace where another branch would change gradients."""
        from agog_core.tracing.loops.conditional import note_handed

        found = [gradients[i] for i in self.ids if i in gradients]
        trace, array = present_tracer(), self.kept[0]._array
        if found and type(array) is TracedArray and array.tracer is trace:
            note_handed(trace, self.kept[0], _named(found))  # type: ignore[arg-type]  # a `Trace`


def _named(gradients: Sequence[Any]) -> dict[tuple[int, ...], Any]:
    """Gradients, each with the places where it stands."""
    places: dict[int, list[int]] = {}
    for place, gradient in enumerate(gradients):
        places.setdefault(id(gradient), []).append(place)
    return {tuple(each): gradients[each[0]] for each in places.values()}


class _Walk:
    """The gradient of one branch."""

    def __init__(self, section: BranchSection, gradients: Mapping[Id, Any], keep: set[Id]) -> None:
        self.section, self.keep = section, keep
        self.given = {i: gradients[i] for i in (*section.outs, *section.sources) if i in gradients}
        self.ids: list[Id] = []

    def run(self) -> dict[Id, Any]:
        """The gradients that are other ones behind it."""
        from agog_core.tracing.loops.conditional import choose_again
        from agog_core.tracing.loops.tracer import LoopTracer

        tracer, array = present_tracer(), self.section.kept[0]._array
        if not (isinstance(tracer, LoopTracer) and type(array) is TracedArray and array.tracer is tracer):
            items = (array.array if type(array) is TracedArray else array).items[0]
            own = [wrap(x, each.table, each.value.shape) for x, each in zip(items, self.section.own, strict=True)]
            found = self._gradients(own)
        else:
            trace: Any = tracer
            found = choose_again(trace, self.section.kept[1], lambda: self._gradients(self._items(trace)))
        return {self.ids[place]: gradient for places, gradient in found.items() for place in places}

    def _items(self, trace: Trace) -> list[Tensor]:
        """What the branch has left, in its trace."""
        stack, own = self.section.kept[0], self.section.own
        node = Node(Effect.LOOP, None, None, [trace.value_of(stack)], {"loop": Item(0), "after": None}, several=True)
        kinds = [(each.table, x) for each, x in zip(own, stack._array.array.items[0], strict=True)]
        tensors = [trace._tensor(out, kind[0]) for out, kind in zip(trace._add(node, kinds), kinds, strict=True)]
        for each, tensor in zip(own, tensors, strict=True):
            if each.id is not None:
                tensor._id = each.id
            tensor._watch = each.watch
        return tensors

    def _gradients(self, own: Sequence[Tensor]) -> dict[tuple[int, ...], Any]:
        """The gradients, each with the places of the ids that it is for."""
        section, found = self.section, dict(self.given)
        before, self.given = {i: found[i] for i in (*section.sources, *self.keep) if i in found}, {}
        records = list(filled(section.records, section.holes, own, section.kept[2:]))
        del own
        backpropagate(records, found, self.keep)
        asked = [*section.sources, *sorted(self.keep.intersection(section.outs))]
        self.ids = [i for i in asked if i in found and found[i] is not before.get(i)]
        return _named([found[i] for i in self.ids])
