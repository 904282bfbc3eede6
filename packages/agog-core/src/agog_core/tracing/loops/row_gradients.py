"""Row gradients: what tapes have of a function that is applied to row after row, and its gradient, a node each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agog_core import recording
from agog_core.gradients.backpropagation import backpropagate
from agog_core.recording import Id, Record, tapes_of_context
from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import present_tracer
from agog_core.tracing.execution.stacks import Item, RowsBack
from agog_core.tracing.graphs.graph import Effect, Node, Value
from agog_core.tracing.loops.iterations import Iterations, tensor_of
from agog_core.tracing.loops.references import Holder, Replacing
from agog_core.tracing.loops.rerolling import Rerolling, taken_out
from agog_core.tracing.loops.residuals import Outer, filled, with_outer
from agog_core.tracing.loops.tracks import ends_of
from agog_core.tracing.loops.uniformity import fits, outside_of
from agog_core.tracing.state.device import TracedArray, untraced

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace

# What may be in a gradient that is one node.
_PLAIN = (Effect.NONE, Effect.VIEW, Effect.COPY, Effect.LOOP)
# So many rows may be recorded apart, because fewer values have gradients there.
_MOST_APART = 3


class RowsSection(recording.Section, Holder):
    """The record of all rows on one tape: the records of one row, which stand for those of all.

    Args:
        records: those of a row, with holes.
        holes: whether the tensor in each is of one row, and its place among those.
        kept: what rows have left, and the tensors that are the same for all of them.
        kinds: the tables and shapes of what a row has left.
        given: the ids of what each row takes, first what is handed on.
        results: the ids of what each row gives.
        carried: how many values are handed on.
        outer: which of what the first and the last row have left are tensors that are kept too.
    """

    __slots__ = ("carried", "given", "holes", "kept", "kinds", "outer", "outside", "records", "results")

    __name__ = "map_fn"

    def __init__(
        self,
        records: list[Record],
        holes: list[tuple[bool, int]],
        kept: list[Tensor],
        kinds: list[tuple[Any, Any]],
        given: list[list[Id | None]],
        results: list[list[Id | None]],
        carried: int,
        outer: Outer,
    ) -> None:
        self.outer = outer
        self.records, self.holes, self.kept, self.kinds = records, holes, kept, kinds
        self.given, self.results, self.carried = given, results, carried
        ends = list(map(ends_of, records))
        own = {i for outs, _ in ends for i in outs} | {*given[0], *results[0]}
        self.outside = list(dict.fromkeys(i for _, sources in ends for i in sources if i is not None and i not in own))

    def ends(self) -> tuple[tuple[Id, ...], tuple[Id, ...]]:
        """The ids of all that it has made, and of all that it may have gradients for."""
        sources = [i for each in self.given for i in each if i is not None]
        outs = dict.fromkeys(i for each in self.results for i in each if i is not None)
        return tuple(outs), tuple(dict.fromkeys([*(i for i in sources if i not in outs), *self.outside]))

    def replaced(self, replace: Replacing) -> RowsSection:
        kept = replace(self.kept)
        if kept is self.kept:
            return self
        return RowsSection(
            self.records, self.holes, kept, self.kinds, self.given, self.results, self.carried, self.outer
        )

    def is_like(self, other: Any, is_same: Callable[[Any, Any], bool]) -> bool:
        return False  # no loop has rows under a tape as one node

    def names(self, number: int) -> Iterator[tuple[Id, Id]]:
        """The ids of the first row beside those of another one: of what it gives, and what it takes."""
        mine = [*self.results[number], *self.given[number]]
        for lead, own in zip([*self.results[0], *self.given[0]], mine, strict=True):
            if lead is not None and own is not None:
                yield lead, own

    def walk_back(self, gradients: dict[Id, Any], keep: set[Id]) -> None:
        outs, _ = self.ends()
        if not any(i in gradients for i in outs):
            return
        walk, tracer, array = _Walk(self, gradients, keep), present_tracer(), self.kept[0]._array
        if type(array) is TracedArray and array.tracer is tracer and tracer is not None:
            _TracedWalk(walk, tracer, keep.isdisjoint(outs)).run()
            return
        items = (array.array if type(array) is TracedArray else array).items
        for number in range(len(items) - 1, -1, -1):
            pairs = zip(items[number], self.kinds, strict=True)
            walk.step(number, [wrap(x, table, intern_shape(shape)) for x, (table, shape) in pairs])


class _Walk:
    """The gradients of rows, from the last one to the first."""

    def __init__(self, section: RowsSection, gradients: dict[Id, Any], keep: set[Id]) -> None:
        self.section, self.gradients, self.keep = section, gradients, keep

    def step(self, number: int, own: Sequence[Tensor]) -> None:
        """Walk one row back."""
        section, gradients = self.section, self.gradients
        is_last = number == len(section.given) - 1
        own = with_outer(own, section.kept, section.outer, not number, is_last)
        names = dict(section.names(number)) | {i: i for i in section.outside}
        found = {lead: gradients[i] for lead, i in names.items() if i in gradients}
        before = dict(found)
        for i in section.results[number]:
            if i not in self.keep:
                gradients.pop(i, None)  # type: ignore[arg-type]  # nothing is there for None
        self.walk(found, own, names)
        for lead, i in names.items():
            if lead in found and found[lead] is not before.get(lead):
                gradients[i] = found[lead]

    def walk(self, found: dict[Id, Any], own: Sequence[Tensor], names: dict[Id, Id]) -> None:
        """Walk one row back, from the gradients of what the first one gives in its place."""
        keep = {lead for lead, i in names.items() if i in self.keep}
        backpropagate(list(filled(self.section.records, self.section.holes, own, self.section.kept[1:])), found, keep)


class _BackIterations(Iterations):
    """Rows whose gradients are being recorded: one may have gradients for more than the one before it in the walk."""

    def end(self) -> None:
        self._form = None
        super().end()


class _TracedWalk:
    """A walk back over rows that a trace records.

    Args:
        walk: the walk.
        trace: the trace.
        may_join: whether it may be one node.
    """

    def __init__(self, walk: _Walk, trace: Any, may_join: bool) -> None:
        self.trace: Trace = trace
        self.walk, self.section, self.gradients = walk, walk.section, walk.gradients
        self.stack, self.spot = trace.value_of(walk.section.kept[0]), len(trace.graph.nodes)
        items = walk.section.kept[0]._array.array.items
        self.items = [self._item(number, item) for number, item in enumerate(items)]
        self.may_join = may_join and not any(tape.is_open for tape in tapes_of_context())
        self.iterations: _BackIterations
        self.handed: dict[Id, Any] = {}  # the gradients of what a row hands on, by the first one's ids, and of the rest
        self.keys: list[tuple[Id, ...]] = []  # what each row was given of these
        # What each row has handed on, the ids that it has given gradients for, and these.
        self.kept: list[tuple[tuple[Id, ...], tuple[Id, ...], list[Tensor]]] = []
        self.last: list[Any] = []  # the gradients of the last row, where it cannot be in a node

    def _item(self, place: int, arrays: Sequence[Any]) -> tuple[Node, list[Tensor]]:
        """The node that gives what a row has left, and its tensors."""
        trace, kinds = self.trace, self.section.kinds
        node = Node(Effect.LOOP, None, None, [self.stack], {"loop": Item(place), "after": None}, several=True)
        outs = trace._add(node, [(table, array) for (table, _), array in zip(kinds, arrays, strict=True)])
        return node, [trace._tensor(out, table) for out, (table, _) in zip(outs, kinds, strict=True)]

    def run(self) -> None:
        """Walk all rows back."""
        count = len(self.items)
        done = self._joined() if self.may_join and count > 1 else 0
        for number in range(count - 1 - done, -1, -1):
            self.walk.step(number, self.items[number][1])

    def _taken(self, number: int) -> tuple[Id, ...]:
        """What a row takes by itself: the ids, in the first one, of gradients that are there before the walk."""
        section, lead = self.section, self.section.given[0]
        pairs = [*zip(lead, section.given[number], strict=True)]
        if not section.carried:
            pairs += zip(section.results[0], section.results[number], strict=True)
        return tuple([one for one, i in pairs if one is not None and i in self.gradients])

    def _joined(self) -> int:
        """How many rows were walked back, by one node where that can be."""
        trace, count, taken = self.trace, len(self.items), self._taken(len(self.items) - 1)
        stop = next((n for n in range(count) if self._taken(count - 1 - n) != taken), count)
        if stop < count - 1:
            return 0
        iterations = self.iterations = _BackIterations(trace, None)
        self._begin()
        trace.open_loops.append(iterations)
        try:
            for number in range(count - 1, count - 1 - stop, -1):
                self._row(number, taken)
                if iterations.is_refused:
                    break
        except BaseException:
            trace.open_loops.remove(iterations)
            iterations.unroll()
            raise
        trace.open_loops.remove(iterations)
        ends, rows = self._put(taken)
        self._give(ends, rows)
        return len(self.kept)

    def _begin(self) -> None:
        """Note the gradients that the last row is walked back from, of what it hands on and of the rest."""
        section, gradients, self.handed = self.section, self.gradients, {}
        if section.carried:
            pairs = zip(section.results[0], section.results[-1], strict=True)
            self.handed = {lead: gradients[i] for lead, i in pairs if lead is not None and i in gradients}
        self.handed |= {i: gradients[i] for i in section.outside if i in gradients}

    def _row(self, number: int, taken: tuple[Id, ...]) -> None:
        """Record the walk back over a row."""
        section, iterations, keys = self.section, self.iterations, tuple(self.handed)
        names = dict(section.names(number)) | {i: i for i in section.outside}
        own = [self.gradients[names[lead]] for lead in taken]
        iterations.carried = len(keys)
        iterations.values = list(self.handed.values()), own, self.items[number][1]
        self.keys.append(keys)
        self.handed = {}
        iterations.begin()
        iterations.segments[-1].starts.append(iterations.here())
        (given, own, left), iterations.values = iterations.values, None
        found = dict(zip((*keys, *taken), (*given, *own), strict=True))
        before = {i: found[i] for i in section.given[0] if i in found}
        self.walk.walk(found, left, names)
        handed = self._handed(found)
        rows = {i: found[i] for i in section.given[0][section.carried :] if i is not None and i in found}
        rows = {i: gradient for i, gradient in rows.items() if gradient is not before.get(i)}
        iterations.values = list(handed.values()), list(rows.values())
        iterations.end()
        ends, last = iterations.values
        iterations.values = None
        if iterations.is_refused:
            self.last, last = last, []  # which may be sparse
        self.kept.append((tuple(handed), tuple(rows), [untraced(x) for x in last]))
        self.handed = dict(zip(handed, ends, strict=True))

    def _put(self, taken: Sequence[Id]) -> tuple[dict[Id, Any], list[Any]]:
        """What was handed on last, and what each row has given, by one node where that can be."""
        trace, iterations, kept, count = self.trace, self.iterations, self.kept, len(self.items)
        if iterations.is_refused:
            rows: list[Any] = self._as_they_ran(kept[:-1])
            iterations.unroll()
            return self.handed, [*rows, self.last]
        after = [(i, untraced(x), trace.value_of(x)) for i, x in self.handed.items()]
        self.handed = {}
        start = self._start()
        if start is None or not taken_out(iterations):
            ends = [tensor_of(trace, x, value) for _, x, value in after]
            rows = self._as_they_ran(kept)
            iterations.unroll()
        else:
            rows = self._as_they_ran(kept[:start])
            reals = [*(x for _, x, _ in after), *(x for _, _, each in kept[start:] for x in each)]
            sizes, apart = (len(after), len(taken), len(kept[start][1])), (start, count - len(kept))
            ends = _BackRerolling(iterations, start).run_back(self.stack, reals, sizes, apart)
            places = range(len(after), len(ends), sizes[2]) if sizes[2] else [0] * (len(kept) - start)
            rows += [ends[place : place + sizes[2]] for place in places]
            gone = {node for node, _ in self.items[apart[1] : count - start]}
            nodes = trace.graph.nodes
            nodes[self.spot :] = [node for node in nodes[self.spot :] if node not in gone]
        return {i: x for (i, _, _), x in zip(after, ends, strict=False)}, rows

    def _as_they_ran(self, kept: Sequence[Any]) -> list[list[Tensor]]:
        """What the first rows of the walk have given, by the nodes that were recorded."""
        found, there = [], dict[Value, Value]()
        for segment, (handed, _, reals) in zip(self.iterations.segments, kept, strict=False):
            there |= {given: there.get(source, source) for given, source in segment.stand_ins()}
            values = [there.get(value, value) for value in (segment.results or [])[len(handed) :]]
            found.append([tensor_of(self.trace, x, value) for x, value in zip(reals, values, strict=True)])
        return found

    def _handed(self, found: dict[Id, Any]) -> dict[Id, Any]:
        """What is handed on to the row before: gradients of what that gives, by ids of the first one, and of others."""
        section = self.section
        pairs = zip(section.results[0], section.given[0][: section.carried], strict=False)
        before = {result: found[i] for result, i in pairs if result is not None and i is not None and i in found}
        return before | {i: found[i] for i in section.outside if i in found}

    def _give(self, ends: dict[Id, Any], rows: Sequence[Sequence[Any]]) -> None:
        """Put the gradients of what was walked back in the places of those from before."""
        section, gradients, count, kept = self.section, self.gradients, len(self.items), self.kept
        for place, (_, keys, _) in enumerate(kept):
            number = count - 1 - place
            for i in section.results[number]:
                gradients.pop(i, None)  # type: ignore[arg-type]  # nothing is there for None
            names = dict(section.names(number))
            gradients.update(zip([names[i] for i in keys], rows[place], strict=True))
        first = count - len(kept)
        pairs = zip(section.results[0], section.given[first][: section.carried], strict=False)
        names = {result: i for result, i in pairs if result is not None and i is not None}
        gradients.update({names.get(i, i): x for i, x in ends.items()})

    def _start(self) -> int | None:
        """The first row of the walk that stands for all that come behind it."""
        iterations, keys, kept = self.iterations, self.keys, self.kept
        iterations.split()
        segments = iterations.segments
        if any(segment.lates[1] or segment.written for segment in segments):
            return None
        if any(n.effect not in _PLAIN or n.may_part or n.draws for s in segments for n in s.nodes[1]):
            return None
        for start in range(min(_MOST_APART, len(segments))):
            iterations.carried = len(keys[-1])
            rows = {each[1] for each in kept[start:]}
            handed = {*keys[start:], *[each[0] for each in kept[start:]]}
            if len(rows) == len(handed) == 1 and fits(iterations, segments[start:]):
                return start
        return None


class _BackRerolling(Rerolling):
    """Makes the node of a walk back over rows."""

    def __init__(self, iterations: Iterations, start: int) -> None:
        super().__init__(iterations, start, None, is_free=True, known=True)

    def run_back(
        self, stack: Value, reals: Sequence[Tensor], sizes: tuple[int, int, int], ends: tuple[int, int]
    ) -> list[Tensor]:
        """Put the node in the place of the rows; what the walk has given."""
        trace, node = self.trace, self._rows_node(stack, sizes, ends)
        self._cut()
        outs = trace._add(node, [(x._table, x._array) for x in reals])
        return [trace._tensor(out, x._table) for out, x in zip(outs, reals, strict=True)]

    def _rows_node(self, stack: Value, sizes: tuple[int, int, int], ends: tuple[int, int]) -> Node:
        lead, (count, width, _) = self.lead, sizes
        inside = {value for node in lead.nodes[1] for value in node.outputs}
        fixed = {given: source for given, source, _ in lead.variables.values()}
        outside = [value for value in (*outside_of(lead, inside), *fixed.values()) if value.kind != "constant"]
        outside = list(dict.fromkeys(outside))
        taken = [*lead.given, *outside]
        results = [fixed.get(value, value) for value in lead.results or ()]
        made = list(dict.fromkeys(value for value in results if value in inside))
        constants = [value for value in dict.fromkeys(results) if value.kind == "constant"]
        pool = {value: place for place, value in reversed(list(enumerate([*made, *taken, *constants])))}
        shared = [n for n, x in enumerate(results) if x not in inside or (x.base is not None and x.base not in inside)]
        body = self._part(1, taken, fixed, made)
        arrays = [value.array for value in constants]
        back = RowsBack(body, [pool[value] for value in results], arrays, shared, sizes, ends)
        segments = self.iterations.segments[self.start :]
        rows = [value for segment in segments for value in segment.sources[count : count + width]]
        inputs = [stack, *lead.sources[:count], *rows, *outside]
        return Node(Effect.LOOP, None, None, inputs, {"loop": back, "after": None}, several=True)
