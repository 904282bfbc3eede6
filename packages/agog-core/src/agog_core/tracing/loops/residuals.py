"""Residuals: what a tape keeps of the iterations of a loop that becomes one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agog_core import recording
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dtypes import variant
from agog_core.recording import Id, Record, watch_output
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.execution.loops import Stack
from agog_core.tracing.execution.portable import c_order
from agog_core.tracing.graphs.graph import Value
from agog_core.tracing.loops.references import Comparing, Holder, Hole, Replacing, tensors_in
from agog_core.tracing.loops.tracks import Ids, ends_of, is_like
from agog_core.tracing.state.device import TracedArray, real_table

if TYPE_CHECKING:
    from agog_core.tracing.loops.iterations import Iterations
    from agog_core.tracing.traces.trace import Trace


# Which tensors that the first iteration has left are others that a section keeps, by their places; and of the last one.
Outer = tuple[dict[int, int], dict[int, int]]


class Place(NamedTuple):
    """One of a loop's values, to a tape: the ids that it has before and after an iteration, and after the loop."""

    given: Id
    result: Id
    final: Id


class Residuals:
    """What tapes have recorded of the iterations of a loop, taken off them.

    Args:
        iterations: the loop.
        start: the first of the iterations that are all alike.
        is_constant: whether there are as many of them in each call.

    Attributes: ``values`` are those of the first one that its records keep, and ``fixed`` the tensors that the records
    of all of them keep; ``is_possible`` is False where nothing was taken.
    """

    def __init__(self, iterations: Iterations, start: int, is_constant: bool) -> None:
        self.iterations, self.start, self.is_constant = iterations, start, is_constant
        tracks, lead = iterations.tracks, iterations.segments[start]
        tracks.settle()
        self._inside = {value for node in lead.nodes[1] for value in node.outputs}
        self._standing = {*lead.given, *[lead.variables[v][0] for v in lead.written]}
        self._variables = {lead.variables[v][0]: v for v in lead.variables if v not in lead.written}
        self._forbidden = {value for node in lead.nodes[0] for value in node.outputs}
        self.values: list[Value] = []
        self.fixed: list[Tensor] = []
        self.is_possible = True
        self._holes: list[tuple[bool, int]] = []  # whether a tensor is of one iteration, and its place among those
        count = sum(segment.results is not None for segment in iterations.segments)
        numbers = self._numbers([tracks.records(start)])
        if not self.is_possible:
            return
        self._of = [self._taken(tracks.records(number), numbers) for number in range(start, count)]
        for tape, first in zip(tracks.tapes, tracks.of[start].starts, strict=True):
            del tape.records[first:]

    def _numbers(self, records: Any) -> list[int | None]:
        """The holes of all tensors that records keep, in their order; None where one stays."""
        known: dict[int, int | None] = {}
        found = []
        for tensor in tensors_in(records):
            if id(tensor) not in known:
                known[id(tensor)] = self._hole(tensor)
            found.append(known[id(tensor)])
        return found

    def _hole(self, tensor: Tensor) -> int | None:
        trace, array = self.iterations.trace, tensor._array
        if type(array) is not TracedArray or array.tracer is not trace or array.value is None:
            return None
        value = array.value
        is_own = value in self._inside or value in self._standing
        root = value if value.base is None else value.base
        lies_well = not is_own or root in self._inside or root.layout in (None, c_order(root))
        may_be_stacked = value not in self._forbidden and value.table.dtype is not variant and lies_well
        self.is_possible = self.is_possible and may_be_stacked
        if is_own:
            self.values.append(value)
        elif value in self._variables:
            self.fixed.append(self.iterations.tracks.originals[self._variables[value]])
        else:
            self.fixed.append(tensor)
        self._holes.append((is_own, len(self.values if is_own else self.fixed) - 1))
        return len(self._holes) - 1

    def _taken(self, records: list[list[Record]], numbers: Sequence[int | None]) -> _Iteration:
        """The records of an iteration without their tensors, and those of its own."""
        tensors: list[Tensor | None] = [None] * len(self.values)
        holes: dict[int, Hole] = {}
        for number, tensor in zip(numbers, tensors_in([records]), strict=True):
            if number is not None:
                holes[id(tensor)] = Hole(number)
                if self._holes[number][0]:
                    tensors[self._holes[number][1]] = tensor
        made = Replacing(lambda x: holes.get(id(x), x))([records])[0]
        kept = [Kept.of(self.iterations.trace, x) for x in tensors if x is not None]
        return _Iteration(made, kept)

    def put_back(self) -> None:
        """Let the tapes have the records as they were."""
        for each in self._of:
            tensors = [kept.tensor(self.iterations.trace) for kept in each.kept]
            records = filled(each.records, self._holes, tensors, self.fixed)
            for tape, own in zip(self.iterations.tracks.tapes, records, strict=True):
                tape.records += own

    @property
    def needs_one(self) -> bool:
        """Whether the loop needs an iteration of these: else what it has begun with, or what one before has made and
        used, is what it gives."""
        results = self.iterations.tracks.of[self.start].results
        sources = {i for own in self._of[0].records for each in own for i in ends_of(each)[1]}
        return not self.start or not sources.isdisjoint([i for i in results if i is not None])

    # Once the loop is a node

    def stacked(self, table: KernelTable) -> tuple[KernelTable, Stack]:
        """What the node has left in this call, for the walk back."""
        return table, Stack([tuple([kept.array for kept in each.kept]) for each in self._of])

    def outer(self, results: Sequence[Tensor], carried: int | None = None) -> tuple[list[Tensor], Outer]:
        """The tensors that the program has too, among those that iterations have left: what the first one was given and
        the last one has returned. A tape that is made later may watch them."""
        lead, tensors, first = self.iterations.segments[self.start], list[Tensor](), 1 + len(self.fixed)
        found: Outer = ({}, {})
        given = lead.given[:carried] if not self.start else []
        sides = ((given, self.iterations.tracks.initial), (lead.results or [], results))
        for places, (values, outer) in zip(found, sides, strict=True):
            for place, value in enumerate(self.values):
                if value in values:
                    places[place] = first + len(tensors)
                    tensors.append(outer[values.index(value)])
        return tensors, found

    def record(self, tensors: list[Tensor], stack: Tensor) -> None:
        """Let the tapes watch what the loop gives, and have a record of it; put tensors that it hands on unchanged in
        the places of those that stand for them."""
        tracks = self.iterations.tracks
        track = tracks.of[self.start]
        last = tracks.of[self.start + len(self._of) - 1]
        finals: dict[Id, Tensor] = {}
        least = None if self.is_constant else int(self.needs_one)
        for place, result in enumerate(track.results):
            if place in track.passed:
                tensors[place] = last.passed[place]
            elif result is None:
                tensors[place] = tensors[track.firsts[place]]
            else:
                tensors[place] = finals.setdefault(result, tensors[place])
        others, outer = self.outer(tensors)
        for index, tape in enumerate(tracks.tapes):
            records = self._of[0].records[index]
            places: dict[Id, Place] = {}
            for place, (given, result) in enumerate(zip(track.given, track.results, strict=True)):
                if given is None or result is None or place in track.passed or tape.serial not in track.watches[place]:
                    continue
                final = watch_output(tensors[place], tape)
                assert final is not None
                places[result] = Place(given, result, final)
            if not places:
                continue
            kept, tables = [stack, *self.fixed, *others], [(value.table, value.shape) for value in self.values]
            section = LoopSection(list(places.values()), records, self._holes, kept, tables, least, outer)
            saved = tuple([each.final for each in section.places]), tuple(section.sources()), kept
            tape.records.append((None, None, section, saved))  # type: ignore[arg-type]  # it is no function


class Kept(NamedTuple):
    """A tensor of an iteration that its records keep, without its traced array."""

    array: Any
    table: KernelTable
    value: Value
    id: Id | None
    watch: frozenset[int] | None

    @staticmethod
    def of(trace: Trace, tensor: Tensor) -> Kept:
        """What is kept of a traced tensor."""
        value = trace.value_of(tensor)
        return Kept(tensor._array.array, real_table(tensor), value, getattr(tensor, "_id", None), tensor._watch)

    def tensor(self, trace: Trace) -> Tensor:
        """A traced tensor like it."""
        from agog_core.tracing.loops.iterations import tensor_of

        made = tensor_of(trace, wrap(self.array, self.table, self.value.shape), self.value)
        if self.id is not None:
            made._id = self.id
        made._watch = self.watch
        return made


class _Iteration(NamedTuple):
    """What one iteration has left on each tape, and the tensors that this keeps."""

    records: list[list[Record]]
    kept: list[Kept]


def with_outer(
    own: Sequence[Tensor], kept: Sequence[Tensor], outer: Outer, is_first: bool, is_last: bool
) -> Sequence[Tensor]:
    """What an iteration has left, with the very tensors that the program has too."""
    places = (outer[0] if is_first else {}) | (outer[1] if is_last else {})
    return [kept[places[place]] if place in places else x for place, x in enumerate(own)]


def filled(records: Any, holes: Sequence[tuple[bool, int]], own: Sequence[Tensor], fixed: Sequence[Tensor]) -> Any:
    """Records with tensors in the places of holes."""

    def find(held: Any) -> Any:
        if type(held) is not Hole:
            return held
        is_own, place = holes[held.number]
        return own[place] if is_own else fixed[place]

    return Replacing(find)(records)


class LoopSection(recording.Section, Holder):
    """The record of a loop on one tape: the records of an iteration, which stand for those of all.

    Args:
        places: the loop's values that the tape watches.
        records: those of an iteration, with holes.
        holes: whether the tensor in each is of one iteration, and its place among those.
        kept: what iterations have left, and the tensors that are the same for all of them.
        kinds: the tables and shapes of what an iteration has left.
        least: how many iterations there are at least; None where there are as many in each call.
        outer: which of what the first and the last iteration have left are tensors that are kept too.
    """

    __slots__ = ("holes", "kept", "kinds", "least", "outer", "places", "records")

    __name__ = "while_loop"

    def __init__(
        self,
        places: list[Place],
        records: list[Record],
        holes: list[tuple[bool, int]],
        kept: list[Tensor],
        kinds: list[tuple[KernelTable, Any]],
        least: int | None,
        outer: Outer,
    ) -> None:
        self.outer = outer
        self.places, self.records, self.holes, self.kept = places, records, holes, kept
        self.kinds, self.least = kinds, least

    def outside(self) -> list[Id]:
        """The ids of what is the same for all iterations."""
        ends = [ends_of(each) for each in self.records]
        made = {i for outs, _ in ends for i in outs}
        own = made | {i for each in self.places for i in (each.given, each.result)}
        return list(dict.fromkeys(i for _, sources in ends for i in sources if i is not None and i not in own))

    def sources(self) -> list[Id]:
        """The ids of all that it may have gradients for."""
        return [*dict.fromkeys(each.given for each in self.places), *self.outside()]

    def walk_back(self, gradients: dict[Id, Any], keep: set[Id]) -> None:
        from agog_core.tracing.loops.backward import walk_back

        walk_back(self, gradients, keep)

    def filled(self, own: Sequence[Tensor]) -> list[Record]:
        """The records of an iteration that has left some tensors."""
        return list(filled(self.records, self.holes, own, self.kept[1:]))

    def used(self) -> set[Id]:
        """The ids of the loop's values after an iteration that the iteration itself uses."""
        sources = {i for each in self.records for i in ends_of(each)[1] if i is not None}
        return sources & {each.result for each in self.places}

    def replaced(self, replace: Replacing) -> LoopSection:
        kept = replace(self.kept)
        if kept is self.kept:
            return self
        return LoopSection(self.places, self.records, self.holes, kept, self.kinds, self.least, self.outer)

    def is_like(self, other: Any, is_same: Callable[[Any, Any], bool]) -> bool:
        if len(self.records) != len(other.records) or self.holes != other.holes or self.kinds != other.kinds:
            return False
        ids, places = Ids(), [list(zip(*each.places, strict=True)) for each in (self, other)]
        comparing = Comparing(is_same, lambda one, another: is_same(one, another))
        return (
            (self.least, self.outer) == (other.least, other.outer)
            and ids.all(places[0][0], places[1][0], is_made=True)
            and all(is_like(x, y, ids, comparing) for x, y in zip(self.records, other.records, strict=True))
            and ids.all(places[0][1], places[1][1])
            and is_same(self.kept, other.kept)
        )

    def items(self) -> list[tuple[Any, ...]]:
        """What iterations have left in this call, from the last one to the first."""
        array = self.kept[0]._array
        stack: Stack = array.array if type(array) is TracedArray else array
        return stack.items[::-1]
