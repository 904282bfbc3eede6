"""Rows: a function that is applied to row after row, as one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agog_core.dtypes import int32
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.loops import Rows
from agog_core.tracing.execution.portable import c_order
from agog_core.tracing.graphs.graph import Effect, Node, Value
from agog_core.tracing.loops.iterations import Iterations, Segment, tensor_of
from agog_core.tracing.loops.rerolling import Rerolling, taken_out
from agog_core.tracing.loops.residuals import Residuals
from agog_core.tracing.loops.row_gradients import RowsSection
from agog_core.tracing.loops.tracks import all_be
from agog_core.tracing.loops.uniformity import fits, outside_of
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.leaves import Packing
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace

# As long as it has no more nodes, what is done with all rows is recorded as it ran.
_MOST_UNROLLED = 256

Step = Callable[[Any, Any], Any]


def over_rows(trace: Trace, step: Step, carry: Any, rows: Sequence[Any], carries: bool) -> list[Any]:
    """What `agog_core.tracers.over_rows` returns, recorded."""
    iterations = Iterations(trace, None)
    iterations.carried = len(Packing(carry).tensors) if carries else 0
    kept: list[tuple[Packing, list[Tensor]]] = []
    trace.open_loops.append(iterations)
    try:
        for row in rows:
            iterations.values = (carry if carries else (), row)
            del row
            carry = None
            iterations.begin()
            iterations.segments[-1].starts.append(iterations.here())
            given, iterations.values = iterations.values, None
            iterations.values = step(*given)
            del given
            iterations.end()
            packing = Packing(iterations.values)
            kept.append((packing, [untraced(x) for x in packing.tensors]))
            all_be(packing.tensors, kept[-1][1])
            packing.release()
            carry, iterations.values = iterations.values, None
            if iterations.is_refused:
                break
    except BaseException:
        trace.open_loops.remove(iterations)
        iterations.unroll()
        raise
    trace.open_loops.remove(iterations)
    carry = None
    if not iterations.is_refused and (found := _joined(iterations, kept)) is not None:
        iterations.release()
        return found
    found = [_as_it_ran(trace, each, segment) for each, segment in zip(kept, iterations.segments, strict=True)]
    iterations.unroll()
    iterations.release()
    for row in rows[len(found) :]:
        found.append(step(found[-1] if carries else (), row))
    return found


def _as_it_ran(trace: Trace, kept: tuple[Packing, list[Tensor]], segment: Segment) -> Any:
    """What a row has given, by the nodes that were recorded."""
    packing, reals = kept
    tensors = [tensor_of(trace, x, value) for x, value in zip(reals, segment.results or (), strict=True)]
    all_be(reals, tensors)
    return packing(tensors)


def _joined(iterations: Iterations, kept: Sequence[tuple[Packing, list[Tensor]]]) -> list[Any] | None:
    iterations.split()
    count = sum(len(segment.nodes[1]) for segment in iterations.segments)
    knows = iterations.trace.knows
    if all(value in knows.of for segment in iterations.segments for value in segment.results or ()):
        return None  # of constants alone
    start = None if count <= _MOST_UNROLLED else _first_fitting(iterations)
    if start is None:
        return None
    is_watched = iterations.tracks.is_watched(start)
    if is_watched and any(x.layout not in (None, c_order(x)) for x in iterations.segments[start].results or ()):
        return None  # what rows leave and give is copied
    residuals = Residuals(iterations, start, is_constant=True) if is_watched else None
    if residuals is not None and not residuals.is_possible:
        return None
    if not taken_out(iterations, start):
        if residuals is not None:
            residuals.put_back()
        return None
    return _RowsRerolling(iterations, start, residuals).run_rows(kept)


def _first_fitting(iterations: Iterations) -> int | None:
    """The first row that stands for all that come behind it; tapes may know less of the one before it."""
    tracks, segments = iterations.tracks, iterations.segments
    for start in range(min(2, len(segments) - 1) if tracks.tapes else 1):
        if tracks.fit_rows(start, iterations.carried or 0) and fits(iterations, segments[start:]):
            return start
    return None


class _RowsRerolling(Rerolling):
    """Makes the node of what is done with all rows."""

    def __init__(self, iterations: Iterations, start: int, residuals: Residuals | None) -> None:
        super().__init__(iterations, start, None, is_free=True, known=True, residuals=residuals)

    def run_rows(self, kept: Sequence[tuple[Packing, list[Tensor]]]) -> list[Any]:
        """Put the node in the place of the iterations; what each of them has given."""
        trace, iterations = self.trace, self.iterations
        written = list(self.lead.written)
        finals = [trace.state[variable] for variable in written]
        apart, kept = kept[: self.start], kept[self.start :]
        found = [_as_it_ran(trace, *each) for each in zip(apart, iterations.segments, strict=False)]
        reals = [x for _, each in kept for x in each]
        ends = [value for segment in iterations.segments[self.start :] for value in segment.results or ()]
        known = [value in trace.knows.of or value in trace.knows.counted for value in ends]
        node, loop = self._rows_node(written)
        self._cut()
        kinds = [(x._table, x._array) for x in (*reals, *finals)]
        if loop.draws:
            table = kinds[0][0].device.table(int32)
            kinds.append((table, table.device.from_host(np.array(len(kept), np.int32))))
        if self.residuals is not None:
            kinds.append(self.residuals.stacked(reals[0]._table.device.table(int32)))
        outs = trace._add(node, kinds)
        trace.behind = outs[len(reals) + len(finals)].value if loop.draws else iterations.before
        tensors = [trace._tensor(out, kind[0]) for out, kind in zip(outs, kinds, strict=True)]
        all_be(reals, tensors[: len(reals)])
        if self.residuals is not None:
            count = len(kept[-1][1])
            self._record(self.residuals, tensors[len(reals) - count : len(reals)], tensors[-1])
        trace.knows.counted.update(trace.value_of(x) for x, is_so in zip(tensors, known, strict=False) if is_so)
        self._write(written, tensors[len(reals) : len(reals) + len(written)], finals)
        start = 0
        for packing, each in kept:
            found.append(packing(tensors[start : start + len(each)]))
            start += len(each)
        return found

    def _record(self, residuals: Residuals, last: Sequence[Tensor], stack: Tensor) -> None:
        """Give the tape one record of all rows, of which the last one has given some results."""
        tracks, [lead, *_] = self.iterations.tracks, residuals._of
        tracks_of = tracks.of[self.start :]
        for tape, records in zip(tracks.tapes, lead.records, strict=True):
            if records:
                carried = self.iterations.carried or 0
                others, outer = residuals.outer(last, carried)
                kept, kinds = (
                    [stack, *residuals.fixed, *others],
                    [(value.table, value.shape) for value in residuals.values],
                )
                given, results = [each.given for each in tracks_of], [each.results for each in tracks_of]
                section = RowsSection(records, residuals._holes, kept, kinds, given, results, carried, outer)
                tape.records.append((None, None, section, (*section.ends(), kept)))  # type: ignore[arg-type]  # it is no function

    def _rows_node(self, written: Sequence[Variable]) -> tuple[Node, Rows]:
        lead, iterations = self.lead, self.iterations
        inside = {value for node in lead.nodes[1] for value in node.outputs}
        carried = iterations.carried or 0
        standing = [*lead.given[:carried], *[lead.variables[v][0] for v in written], *lead.given[carried:]]
        sources = [*lead.sources[:carried], *[lead.variables[v][1] for v in written]]
        segments = iterations.segments[self.start :]
        rows = [value for segment in segments for value in segment.sources[carried:]]
        fixed = {given: source for v, (given, source, _) in lead.variables.items() if v not in lead.written}
        outside = [*outside_of(lead, inside), *fixed.values()]
        outside = [value for value in dict.fromkeys(outside) if value.kind != "constant"]
        taken = [*standing, *outside]
        results = [fixed.get(value, value) for value in (*(lead.results or ()), *lead.written.values())]
        left = [] if self.residuals is None else self.residuals.values
        made = list(dict.fromkeys(value for value in (*results, *left) if value in inside))
        constants = [value for value in dict.fromkeys(results) if value.kind == "constant"]
        pool: dict[Value, int] = {}
        for place, value in enumerate([*made, *taken, *constants]):
            pool.setdefault(value, place)
        shared = [n for n, x in enumerate(results) if x not in inside or (x.base is not None and x.base not in inside)]
        roots = {value if value.base is None else fixed.get(value.base, value.base) for value in left}
        shared += [n for n, x in enumerate(results) if (x if x.base is None else x.base) in roots and n not in shared]
        held = [place for place, value in enumerate(taken) if value in roots]
        kept = None if self.residuals is None else ([pool[value] for value in left], held)
        body = self._part(1, taken, fixed, made)
        count, rest = len(lead.results or ()), [value.array for value in constants]
        sizes = carried, len(written), len(segments), len(lead.given) - carried
        loop = Rows(body, [pool[value] for value in results], rest, shared, count, sizes, kept)
        after, before = self._order(loop.draws)
        node = Node(Effect.LOOP, None, None, [*sources, *rows, *outside, *before], {"loop": loop, "after": after})
        node.several = True
        return node, loop
