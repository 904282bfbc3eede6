"""Rerolling: one node in the place of the iterations of a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from agog_core import nest
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dtypes import int32
from agog_core.recording import tapes_of_context
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.loops import Loop, Part
from agog_core.tracing.graphs.graph import PURE, Effect, Graph, Late, Node, Value
from agog_core.tracing.graphs.passes import optimize
from agog_core.tracing.loops.iterations import Iterations, Segment, tensor_of
from agog_core.tracing.loops.residuals import Residuals
from agog_core.tracing.loops.tracks import all_be
from agog_core.tracing.loops.uniformity import first_fitting, outside_of
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.leaves import Packing
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace

# A loop whose length is known is recorded as it ran, as long as that has no more nodes.
_MOST_UNROLLED = 256


def joined(iterations: Iterations, limit: int | None, is_free: bool) -> bool:
    """Put one node in the place of a loop's iterations, with the loop's values after it; False where that cannot be.

    Args:
        iterations: the loop, which has ended.
        limit: how many iterations there are at most.
        is_free: whether there may be none; else it is compared that there is one.
    """
    iterations.split()
    trace, segments = iterations.trace, iterations.segments
    known = all(segment.flag in trace.knows.of for segment in segments if segment.flag is not None)
    if known and sum(len(part) for segment in segments for part in segment.nodes) <= _MOST_UNROLLED:
        return False
    start = first_fitting(iterations)
    if start is None:
        return False
    residuals, is_constant, is_watched = None, known, iterations.tracks.is_watched(start)
    if not is_watched and not _is_told_apart(iterations, start):
        return False
    if is_watched:
        is_constant = known and all(trace.knows.of[x.flag][0] <= {iterations} for x in segments if x.flag is not None)
    is_free = is_free and not tapes_of_context()  # to tapes, what no iteration changes is the tensor that it was
    if not is_free and (is_watched or not start) and not _is_plain(trace, segments[start]):
        return False
    if is_watched and not (residuals := Residuals(iterations, start, is_constant)).is_possible:
        return False
    packing = Packing(iterations.values)
    iterations.values = nest.map_structure(lambda leaf: None, iterations.values)
    reals = [untraced(x) for x in packing.tensors]
    all_be(packing.tensors, reals)
    tensors = iterations.let_go(packing.tensors)
    originals = {place: tensors[place] for place in _handed_on(iterations)}
    results = segments[start].results or ()
    constants = {place: ref(tensors[place]) for place, value in enumerate(results) if value.kind == "constant"}
    del tensors
    packing.release()
    held = {place: tensor for place, each in constants.items() if (tensor := each()) is not None}
    if held or not taken_out(iterations, start):
        originals |= held
        if residuals is not None:
            residuals.put_back()
        values = segments[-1].given if segments[-1].results is None else segments[-1].results
        tensors = [tensor_of(trace, x, value) for x, value in zip(reals, values, strict=True)]
        all_be(reals, tensors)
        tensors = [originals.get(place, x) for place, x in enumerate(tensors)]
        iterations.values = packing(tensors)
        return False
    Rerolling(iterations, start, limit, is_free, known, residuals).run(packing, reals, originals)
    return True


def _is_told_apart(iterations: Iterations, start: int) -> bool:
    """Whether it is known which results of a loop are tensors from before it, for tapes that are made later."""
    lead = iterations.segments[start]
    results, inside = lead.results or [], {value for node in lead.nodes[1] for value in node.outputs}
    made = [value for value in results if value in inside]
    count = sum(segment.results is not None for segment in iterations.segments[start:])
    swapped = [place for place in range(len(results)) if _is_swapped(lead, place)]
    ends = swapped
    for _ in swapped:  # where what is there comes from, so many iterations before
        ends = [lead.given.index(results[place]) for place in ends]
        ends = [place for place in ends if results[place] in lead.given]
    return (
        all(value in inside or value in lead.given or value.kind == "constant" for value in results)
        and all(place in _handed_on(iterations) for place, x in enumerate(results) if x is lead.given[place])
        and len(set(made)) == len(made)
        and not ends
        and (not swapped or count > len(swapped))
    )


def _is_swapped(segment: Segment, place: int) -> bool:
    """Whether a result of an iteration is a value that it was given at another place."""
    value = (segment.results or [])[place]
    return value in segment.given and value is not segment.given[place]


def _handed_on(iterations: Iterations) -> list[int]:
    """The places of values that all iterations hand on."""
    pairs = [zip(segment.given, segment.results, strict=False) for segment in iterations.segments if segment.results]
    handed = [{place for place, (x, y) in enumerate(each) if x is y} for each in pairs]
    return sorted(set.intersection(*handed)) if handed else []


def taken_out(iterations: Iterations, start: int = 0) -> bool:
    """Take the values of variables out of the trace, as tensors of its own; False, and nothing, where Python has kept
    some tensor of the loop."""
    trace, found = iterations.trace, {}
    for variable in (*dict.fromkeys(v for segment in iterations.segments for v in segment.variables), *iterations.own):
        tensor = trace.state[variable]
        found[variable] = untraced(tensor), trace.value_of(tensor)
        trace.state[variable] = found[variable][0]
        if trace.finals.get(variable) is tensor:
            trace.finals[variable] = found[variable][0]
        del tensor
    if not iterations.has_escapes(start if iterations.tracks.tapes else 0):
        return True
    trace.state.update({v: tensor_of(trace, tensor, value) for v, (tensor, value) in found.items()})
    return False


def _is_plain(trace: Trace, segment: Segment) -> bool:
    """Whether a condition may be asked once more, before the loop."""
    is_pure = not segment.lates[0] and all(node.effect in PURE for node in segment.nodes[0])
    return is_pure and segment.flag not in trace._changed


class Rerolling:
    """Makes the node of a loop, from the first of the iterations that it stands for."""

    def __init__(
        self,
        iterations: Iterations,
        start: int,
        limit: int | None,
        is_free: bool,
        known: bool,
        residuals: Residuals | None = None,
    ) -> None:
        self.iterations, self.start, self.is_free, self.known = iterations, start, is_free, known
        self.residuals = residuals
        self.trace = iterations.trace
        self.limit = None if limit is None else limit - start
        self.lead = iterations.segments[start]
        self.place = iterations.unroll(start) if start else self.lead.starts[0]

    def run(self, packing: Packing, reals: Sequence[Tensor], originals: Mapping[int, Tensor]) -> None:
        """Put the node in the place of the iterations, and its values into the loop and the variables."""
        trace, lead, iterations = self.trace, self.lead, self.iterations
        last = iterations.segments[-1]
        ends = last.given if last.results is None else last.results
        known = [trace.knows.loops(value) for value in ends]
        counts = [value in trace.knows.counted or value in trace.knows.of for value in ends]
        written = list(lead.written)
        finals = [trace.state[variable] for variable in written]
        compares = self._first_guard() if _is_plain(trace, lead) else None
        guards = (compares or []) if self._needs_one() else []
        node, loop = self._node(written)
        self._cut()
        trace.graph.nodes += guards
        counter, stack = (
            self._counter(loop),
            [] if self.residuals is None else [self.residuals.stacked(self._home(loop))],
        )
        outs = trace._add(node, [*[(x._table, x._array) for x in (*reals, *finals)], *counter, *stack])
        trace.behind = outs[len(reals) + len(finals)].value if loop.draws else iterations.before
        tensors = [trace._tensor(out, x._table) for out, x in zip(outs, (*reals, *finals), strict=False)]
        for place, found in enumerate(known):
            value = trace.value_of(tensors[place])
            if found is not None and self.known:
                if others := found - {iterations}:
                    trace.knows.of[value] = others, reals[place]._array
                else:
                    constant = trace._constant(reals[place]._table, reals[place]._array)
                    tensors[place] = tensor_of(trace, reals[place], constant)
            elif counts[place]:
                trace.knows.counted.add(value)
        if self.residuals is not None:
            self.residuals.record(tensors, trace._tensor(outs[-1], stack[0][0]))
        else:
            swaps = any(_is_swapped(lead, place) for place in range(len(reals)))
            if self.is_free or swaps:
                trace.free.append((node, None if swaps else compares))
            for place, tensor in originals.items():
                tensors[place] = tensor
        iterations.values = packing(tensors[: len(reals)])
        self._write(written, tensors[len(reals) :], finals)

    def _write(self, written: Sequence[Variable], tensors: Sequence[Tensor], finals: Sequence[Tensor]) -> None:
        """Give variables the values that the loop has for them."""
        trace = self.trace
        for variable, tensor, final in zip(written, tensors, finals, strict=True):
            trace._present(variable)  # which loops around this one hear of
            table = final._table
            assigned = Node(Effect.ASSIGN, None, table, [trace.value_of(tensor)], {}, variables=[variable])
            trace._write([variable], trace._add(assigned, [(table, final._array)]), table)
        self.iterations.tracks.restore()

    def _first_guard(self) -> list[Node]:
        """What asks the condition once before the loop, and compares that with what it was."""
        trace, lead = self.trace, self.lead
        there, nodes = dict(lead.stand_ins()), []
        for node in lead.nodes[0]:
            copied = replace(node, inputs=[there.get(value, value) for value in node.inputs], outputs=[])
            for value in node.outputs:
                trace._count += 1
                base = None if value.base is None else there.get(value.base, value.base)
                base = base if base is None or base.base is None else base.base
                there[value] = replace(value, number=trace._count, node=copied, base=base)
                copied.outputs.append(there[value])
            nodes.append(copied)
        assert lead.flag is not None
        flag = there.get(lead.flag, lead.flag)
        guard = Node(Effect.GUARD, None, None, [flag], {}, line=lead.line, outcome=lead.outcome)
        return [] if flag.kind == "constant" else [*nodes, guard]

    def _counter(self, loop: Loop) -> list[tuple[KernelTable, Any]]:
        """How often it ran: what comes behind a loop that takes random numbers has this as an input."""
        if not loop.draws:
            return []
        table = self._home(loop)
        return [(table, table.device.from_host(np.array(len(self.iterations.segments), np.int32)))]

    def _needs_one(self) -> bool:
        """Whether it is to be compared that there is an iteration."""
        if self.residuals is None:
            return not (self.is_free or self.start or self.known)
        return self.residuals.needs_one and not self.residuals.is_constant

    def _home(self, loop: Loop) -> KernelTable:
        return loop.condition.graph.outputs[0].table.device.table(int32)

    def _node(self, written: Sequence[Variable]) -> tuple[Node, Loop]:
        lead = self.lead
        inside = {value for part in lead.nodes for node in part for value in node.outputs}
        standing = [*lead.given, *[lead.variables[v][0] for v in written]]
        sources = [*lead.sources, *[lead.variables[v][1] for v in written]]
        fixed = {given: source for v, (given, source, _) in lead.variables.items() if v not in lead.written}
        outside = [*outside_of(lead, inside), *fixed.values()]
        outside = [value for value in dict.fromkeys(outside) if value.kind != "constant"]
        taken = [*standing, *outside]
        results = [fixed.get(value, value) for value in (*(lead.results or ()), *lead.written.values())]
        left = [] if self.residuals is None else self.residuals.values
        made = list(dict.fromkeys(value for value in (*results, *left) if value in inside))
        constants = [value for value in dict.fromkeys(results) if value.kind == "constant"]
        pool = {value: place for place, value in reversed(list(enumerate([*made, *taken, *constants])))}
        shared = [n for n, x in enumerate(results) if x not in inside or (x.base is not None and x.base not in inside)]
        roots = {value if value.base is None else fixed.get(value.base, value.base) for value in left}
        shared += [n for n, x in enumerate(results) if (x if x.base is None else x.base) in roots and n not in shared]
        held = [place for place, value in enumerate(taken) if value in roots]
        kept = None if self.residuals is None else ([pool[value] for value in left], held)
        assert lead.flag is not None
        condition = self._part(0, taken, fixed, [lead.flag])
        body = self._part(1, taken, fixed, made)
        following = [pool[value] for value in results]
        loop = Loop(condition, body, following, [value.array for value in constants], shared, self.limit, kept)
        after, before = self._order(loop.draws)
        node = Node(Effect.LOOP, None, None, [*sources, *outside, *before], {"loop": loop, "after": after})
        node.several = True
        return node, loop

    def _order(self, draws: bool) -> tuple[Late | None, list[Value]]:
        """What a loop that takes random numbers comes behind: the last number known late, and the last such loop."""
        trace = self.trace
        lates = trace.graph.lates[: self.lead.starts[0][1]]
        floor = trace.open_loops[-1].segments[-1].starts[-1][1] if trace.open_loops else 0
        after = lates[-1] if draws and len(lates) > floor else None
        return after, [] if self.iterations.before is None or not draws else [self.iterations.before]

    def _part(self, part: int, taken: Sequence[Value], fixed: dict[Value, Value], outputs: Sequence[Value]) -> Part:
        fresh = {value: replace(value, kind="input", node=None, base=None, variable=None) for value in taken}
        fresh |= {given: fresh.get(source, source) for given, source in fixed.items()}
        nodes, lates = self.lead.nodes[part], self.lead.lates[part]
        for node in nodes:
            node.inputs = [fresh.get(value, value) for value in node.inputs]
            for value in node.outputs:
                value.base = None if value.base is None else fresh.get(value.base, value.base)
        for late in lates:
            late.inputs = tuple([fresh.get(value, value) for value in late.inputs])
        inputs = [fresh[value] for value in taken]
        graph = Graph(inputs, {}, {}, list(nodes), [fresh.get(value, value) for value in outputs], list(lates))
        optimize(graph)
        return Part(graph)

    def _cut(self) -> None:
        """Take the iterations out of the trace, and let variables have their values from before."""
        trace, iterations = self.trace, self.iterations
        nodes, lates = self.place
        del trace.graph.nodes[nodes:], trace.graph.lates[lates:]
        trace.graph.finals = dict(iterations.finals)
        for segment in iterations.segments[: self.start]:
            trace.graph.finals |= {v: value for v, value in segment.written.items() if v not in trace.temporaries}
            for variable, (_, source, _) in segment.variables.items():
                value = segment.written.get(variable, source)
                trace.state[variable] = tensor_of(trace, trace.state[variable], value)
        trace._outcomes = iterations.outcomes
        for segment in reversed(iterations.segments[self.start :]):
            for variable, (_, source, kept) in segment.variables.items():
                trace.state[variable] = tensor_of(trace, trace.state[variable] if kept is None else kept, source)
        for variable in iterations.own:
            trace.state.pop(variable, None)
        for value, (loops, _) in list(trace.knows.of.items()):
            if iterations in loops:
                del trace.knows.of[value]
