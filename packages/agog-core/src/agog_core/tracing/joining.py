"""Joining: the iterations of a loop that was recorded as one node, where each of them does the same."""

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
from agog_core.tracing.device import untraced
from agog_core.tracing.execute import c_order
from agog_core.tracing.graph import Effect, Graph, Late, LateItem, Node, Value
from agog_core.tracing.leaves import Packing
from agog_core.tracing.likeness import Likeness, is_alike
from agog_core.tracing.loops import Loop, Part, may_part
from agog_core.tracing.passes import optimize
from agog_core.tracing.past import Past
from agog_core.tracing.rolling import Rolling, Segment, tensor_of
from agog_core.tracing.tracks import all_be
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.trace import Trace

# A loop whose length is known is recorded as it ran, as long as that has no more nodes.
_MOST_UNROLLED = 256
_WRITES = (Effect.UPDATE, Effect.ASSIGN)


def joined(rolling: Rolling, limit: int | None, is_free: bool) -> bool:
    """Put one node in the place of a loop's iterations, with the loop's values after it; False where that cannot be.

    Args:
        rolling: the loop, which has ended.
        limit: how many iterations there are at most.
        is_free: whether there may be none; else it is compared that there is one.
    """
    rolling.split()
    trace, segments = rolling.trace, rolling.segments
    known = all(segment.flag in trace.knows.of for segment in segments if segment.flag is not None)
    if known and sum(len(part) for segment in segments for part in segment.nodes) <= _MOST_UNROLLED:
        return False
    start = first_fitting(rolling)
    if start is None:
        return False
    past, is_constant, is_watched = None, known, rolling.tracks.is_watched(start)
    if not is_watched and not _is_told_apart(rolling, start):
        return False
    if is_watched:
        is_constant = known and all(trace.knows.of[x.flag][0] <= {rolling} for x in segments if x.flag is not None)
    is_free = is_free and not tapes_of_context()  # to tapes, what no iteration changes is the tensor that it was
    if not is_free and (is_watched or not start) and not _is_plain(trace, segments[start]):
        return False
    if is_watched and not (past := Past(rolling, start, is_constant)).is_possible:
        return False
    packing = Packing(rolling.values)
    rolling.values = nest.map_structure(lambda leaf: None, rolling.values)
    reals = [untraced(x) for x in packing.tensors]
    all_be(packing.tensors, reals)
    tensors = rolling.let_go(packing.tensors)
    originals = {place: tensors[place] for place in _handed_on(rolling)}
    results = segments[start].results or ()
    constants = {place: ref(tensors[place]) for place, value in enumerate(results) if value.kind == "constant"}
    del tensors
    packing.release()
    held = {place: tensor for place, each in constants.items() if (tensor := each()) is not None}
    if held or not taken_out(rolling, start):
        originals |= held
        if past is not None:
            past.put_back()
        values = segments[-1].given if segments[-1].results is None else segments[-1].results
        tensors = [tensor_of(trace, x, value) for x, value in zip(reals, values, strict=True)]
        all_be(reals, tensors)
        tensors = [originals.get(place, x) for place, x in enumerate(tensors)]
        rolling.values = packing(tensors)
        return False
    Joining(rolling, start, limit, is_free, known, past).run(packing, reals, originals)
    return True


def _is_told_apart(rolling: Rolling, start: int) -> bool:
    """Whether it is known which results of a loop are tensors from before it, for tapes that are made later."""
    lead = rolling.segments[start]
    results, inside = lead.results or [], {value for node in lead.nodes[1] for value in node.outputs}
    made = [value for value in results if value in inside]
    count = sum(segment.results is not None for segment in rolling.segments[start:])
    swapped = [place for place in range(len(results)) if _is_swapped(lead, place)]
    ends = swapped
    for _ in swapped:  # where what is there comes from, so many iterations before
        ends = [lead.given.index(results[place]) for place in ends]
        ends = [place for place in ends if results[place] in lead.given]
    return (
        all(value in inside or value in lead.given or value.kind == "constant" for value in results)
        and all(place in _handed_on(rolling) for place, x in enumerate(results) if x is lead.given[place])
        and len(set(made)) == len(made)
        and not ends
        and (not swapped or count > len(swapped))
    )


def _is_swapped(segment: Segment, place: int) -> bool:
    """Whether a result of an iteration is a value that it was given at another place."""
    value = (segment.results or [])[place]
    return value in segment.given and value is not segment.given[place]


def _handed_on(rolling: Rolling) -> list[int]:
    """The places of values that all iterations hand on."""
    pairs = [zip(segment.given, segment.results, strict=False) for segment in rolling.segments if segment.results]
    handed = [{place for place, (x, y) in enumerate(each) if x is y} for each in pairs]
    return sorted(set.intersection(*handed)) if handed else []


def first_fitting(rolling: Rolling) -> int | None:
    """The first iteration that stands for all that come behind it; tapes may know less of those before it."""
    segments = rolling.segments
    for start in range(4 if rolling.tracks.tapes else 2):
        if not segments[start:] or segments[start].results is None:
            return None
        if rolling.tracks.fits(start) and fits(rolling, segments[start:]):
            return start
    return None


def taken_out(rolling: Rolling, start: int = 0) -> bool:
    """Take the values of variables out of the trace, as tensors of its own; False, and nothing, where Python has kept
    some tensor of the loop."""
    trace, found = rolling.trace, {}
    for variable in (*dict.fromkeys(v for segment in rolling.segments for v in segment.variables), *rolling.own):
        tensor = trace.state[variable]
        found[variable] = untraced(tensor), trace.value_of(tensor)
        trace.state[variable] = found[variable][0]
        if trace.finals.get(variable) is tensor:
            trace.finals[variable] = found[variable][0]
        del tensor
    if not rolling.has_escapes(start if rolling.tracks.tapes else 0):
        return True
    trace.state.update({v: tensor_of(trace, tensor, value) for v, (tensor, value) in found.items()})
    return False


def _is_plain(trace: Trace, segment: Segment) -> bool:
    """Whether a condition may be asked once more, before the loop."""
    is_pure = not segment.lates[0] and all(node.effect in (Effect.NONE, Effect.VIEW) for node in segment.nodes[0])
    return is_pure and segment.flag not in trace._changed


def fits(rolling: Rolling, segments: Sequence[Segment]) -> bool:
    """Whether the first of some iterations stands for all of them, of whatever number."""
    lead = segments[0]
    first, second = ({value for node in part for value in node.outputs} for part in lead.nodes)
    used = [value for node in lead.nodes[1] for value in node.inputs]
    carried = [*lead.given[: rolling.carried], *[lead.variables[v][0] for v in lead.written]]
    results = [*(lead.results or ()), *lead.written.values()]
    next_values = results if rolling.carried != 0 else list(lead.written.values())
    shared = [value for value in lead.results or () if value not in second or value.base is not None]
    sources = [*outside_of(lead, first | second), *[source for _, source in lead.stand_ins()]]
    return (
        (lead.flag is not None or rolling.carried is not None)
        and len(carried) == len(next_values)
        and all(map(is_alike, carried, next_values))
        and all(value.layout in (None, c_order(value)) for value in (*carried, *shared))
        and first.isdisjoint((*used, *results))
        and all(late in part for part, nodes in zip(lead.lates, lead.nodes, strict=True) for late in _lates(nodes))
        and first.isdisjoint([value for late in lead.lates[1] for value in late.inputs])
        and not any(node.effect in _WRITES and not rolling.own.issuperset(node.variables) for node in lead.nodes[0])
        and not any(map(_is_reserve, sources))
        and not (_has_guards(lead) and (rolling.tracks.tapes or _is_late(rolling, sources)))
        and all(_is_like(rolling, lead, other) for other in segments[1:])
    )


def _lates(nodes: Sequence[Node]) -> list[Late]:
    attributes = [each for node in nodes for each in node.attributes.values()]
    return [x.late if isinstance(x, LateItem) else x for x in attributes if isinstance(x, (Late, LateItem))]


def _has_guards(segment: Segment) -> bool:
    return any(may_part(node) for part in segment.nodes for node in part)


def outside_of(segment: Segment, inside: set[Value]) -> list[Value]:
    """The values of outside that an iteration uses, beside the loop's own."""
    standing = {given for given, _ in segment.stand_ins()}
    nodes, lates = [*segment.nodes[0], *segment.nodes[1]], [*segment.lates[0], *segment.lates[1]]
    used = [value for node in nodes for value in node.inputs] + [value for late in lates for value in late.inputs]
    used += [*([] if segment.flag is None else [segment.flag]), *(segment.results or ()), *segment.written.values()]
    return [v for v in dict.fromkeys(used) if v not in inside and v not in standing and v.kind != "constant"]


def _is_reserve(value: Value) -> bool:
    """Whether a value is what a kernel keeps for its gradient's."""
    op = None if value.node is None else value.node.op
    return op is not None and op.reserve is not None and value is value.node.outputs[-1]  # type: ignore[union-attr]


def _is_late(rolling: Rolling, sources: Sequence[Value]) -> bool:
    """Whether the loop comes behind something that others see, so that no branch inside may go another way."""
    trace = rolling.trace
    return trace.seen is not None or not trace._changed.isdisjoint(sources)


def _is_like(rolling: Rolling, lead: Segment, other: Segment) -> bool:
    likeness = Likeness(rolling.own, rolling.first_number)
    names = [v for v in lead.variables if v in other.variables]
    pairs = [[each.variables[v][0] for v in names] for each in (lead, other)]
    count = 1 if other.results is None else 2
    is_same = likeness.given(lead.given, other.given) and likeness.given(*pairs)
    for part in range(count):
        is_same = is_same and likeness.numbers(lead.lates[part], other.lates[part])
        is_same = is_same and likeness.nodes(lead.nodes[part], other.nodes[part])
        is_same = is_same and likeness.sources(lead.lates[part], other.lates[part])
    if not is_same or not likeness.same([lead.flag], [other.flag]):
        return False
    if rolling.carried is None and other.flag is None:
        return False
    if other.results is None:
        return True
    ends = [[*(each.results or ()), *[each.written.get(v) for v in lead.written]] for each in (lead, other)]
    is_same = lead.written.keys() == other.written.keys() and likeness.same(*ends)
    lead_number, number = rolling.segments.index(lead), rolling.segments.index(other)
    return is_same and rolling.tracks.is_like(lead_number, number, likeness)


class Joining:
    """Makes the node of a loop, from the first of the iterations that it stands for."""

    def __init__(
        self, rolling: Rolling, start: int, limit: int | None, is_free: bool, known: bool, past: Past | None = None
    ) -> None:
        self.rolling, self.start, self.is_free, self.known = rolling, start, is_free, known
        self.past = past
        self.trace = rolling.trace
        self.limit = None if limit is None else limit - start
        self.lead = rolling.segments[start]
        self.place = rolling.unroll(start) if start else self.lead.starts[0]

    def run(self, packing: Packing, reals: Sequence[Tensor], originals: Mapping[int, Tensor]) -> None:
        """Put the node in the place of the iterations, and its values into the loop and the variables."""
        trace, lead, rolling = self.trace, self.lead, self.rolling
        last = rolling.segments[-1]
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
        counter, stack = self._counter(loop), [] if self.past is None else [self.past.stacked(self._home(loop))]
        outs = trace._add(node, [*[(x._table, x._array) for x in (*reals, *finals)], *counter, *stack])
        trace.behind = outs[len(reals) + len(finals)].value if loop.draws else rolling.before
        tensors = [trace._tensor(out, x._table) for out, x in zip(outs, (*reals, *finals), strict=False)]
        for place, found in enumerate(known):
            value = trace.value_of(tensors[place])
            if found is not None and self.known:
                if others := found - {rolling}:
                    trace.knows.of[value] = others, reals[place]._array
                else:
                    constant = trace._constant(reals[place]._table, reals[place]._array)
                    tensors[place] = tensor_of(trace, reals[place], constant)
            elif counts[place]:
                trace.knows.counted.add(value)
        if self.past is not None:
            self.past.record(tensors, trace._tensor(outs[-1], stack[0][0]))
        else:
            swaps = any(_is_swapped(lead, place) for place in range(len(reals)))
            if self.is_free or swaps:
                trace.free.append((node, None if swaps else compares))
            for place, tensor in originals.items():
                tensors[place] = tensor
        rolling.values = packing(tensors[: len(reals)])
        self._write(written, tensors[len(reals) :], finals)

    def _write(self, written: Sequence[Variable], tensors: Sequence[Tensor], finals: Sequence[Tensor]) -> None:
        """Give variables the values that the loop has for them."""
        trace = self.trace
        for variable, tensor, final in zip(written, tensors, finals, strict=True):
            trace._present(variable)  # which loops around this one hear of
            table = final._table
            assigned = Node(Effect.ASSIGN, None, table, [trace.value_of(tensor)], {}, variables=[variable])
            trace._write([variable], trace._add(assigned, [(table, final._array)]), table)
        self.rolling.tracks.restore()

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
        return [(table, table.device.from_host(np.array(len(self.rolling.segments), np.int32)))]

    def _needs_one(self) -> bool:
        """Whether it is to be compared that there is an iteration."""
        if self.past is None:
            return not (self.is_free or self.start or self.known)
        return self.past.needs_one and not self.past.is_constant

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
        left = [] if self.past is None else self.past.values
        made = list(dict.fromkeys(value for value in (*results, *left) if value in inside))
        constants = [value for value in dict.fromkeys(results) if value.kind == "constant"]
        pool = {value: place for place, value in reversed(list(enumerate([*made, *taken, *constants])))}
        shared = [n for n, x in enumerate(results) if x not in inside or (x.base is not None and x.base not in inside)]
        roots = {value if value.base is None else fixed.get(value.base, value.base) for value in left}
        shared += [n for n, x in enumerate(results) if (x if x.base is None else x.base) in roots and n not in shared]
        held = [place for place, value in enumerate(taken) if value in roots]
        kept = None if self.past is None else ([pool[value] for value in left], held)
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
        floor = trace.rollings[-1].segments[-1].starts[-1][1] if trace.rollings else 0
        after = lates[-1] if draws and len(lates) > floor else None
        return after, [] if self.rolling.before is None or not draws else [self.rolling.before]

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
        trace, rolling = self.trace, self.rolling
        nodes, lates = self.place
        del trace.graph.nodes[nodes:], trace.graph.lates[lates:]
        trace.graph.finals = dict(rolling.finals)
        for segment in rolling.segments[: self.start]:
            trace.graph.finals |= {v: value for v, value in segment.written.items() if v not in trace.temporaries}
            for variable, (_, source, _) in segment.variables.items():
                value = segment.written.get(variable, source)
                trace.state[variable] = tensor_of(trace, trace.state[variable], value)
        trace._outcomes = rolling.outcomes
        for segment in reversed(rolling.segments[self.start :]):
            for variable, (_, source, kept) in segment.variables.items():
                trace.state[variable] = tensor_of(trace, trace.state[variable] if kept is None else kept, source)
        for variable in rolling.own:
            trace.state.pop(variable, None)
        for value, (loops, _) in list(trace.knows.of.items()):
            if rolling in loops:
                del trace.knows.of[value]
