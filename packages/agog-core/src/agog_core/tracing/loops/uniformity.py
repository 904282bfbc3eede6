"""Uniformity: whether one of the iterations of a loop stands for all that follow."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core.dtypes import variant
from agog_core.tracing.execution.portable import c_order
from agog_core.tracing.graphs.graph import WRITES, Late, LateItem, Node, Value
from agog_core.tracing.loops.equivalence import Equivalence, is_alike
from agog_core.tracing.loops.iterations import Iterations, Segment


def first_fitting(iterations: Iterations) -> int | None:
    """The first iteration that stands for all that come behind it; tapes may know less of those before it."""
    segments = iterations.segments
    for start in range(4 if iterations.tracks.tapes else 2):
        if not segments[start:] or segments[start].results is None:
            return None
        if iterations.tracks.fits(start) and fits(iterations, segments[start:]):
            return start
    return None


def fits(iterations: Iterations, segments: Sequence[Segment]) -> bool:
    """Whether the first of some iterations stands for all of them, of whatever number."""
    lead = segments[0]
    first, second = ({value for node in part for value in node.outputs} for part in lead.nodes)
    used = [value for node in lead.nodes[1] for value in node.inputs]
    carried = [*lead.given[: iterations.carried], *[lead.variables[v][0] for v in lead.written]]
    results = [*(lead.results or ()), *lead.written.values()]
    next_values = [*(lead.results or ())[: iterations.carried], *lead.written.values()]
    shared = [value for value in lead.results or () if value not in second or value.base is not None]
    sources = [*outside_of(lead, first | second), *[source for _, source in lead.stand_ins()]]
    return (
        (lead.flag is not None or iterations.carried is not None)
        and len(carried) == len(next_values)
        and all(map(is_alike, carried, next_values))
        and all(value.layout in (None, c_order(value)) for value in (*carried, *shared))
        and first.isdisjoint((*used, *results))
        and all(late in part for part, nodes in zip(lead.lates, lead.nodes, strict=True) for late in _lates(nodes))
        and first.isdisjoint([value for late in lead.lates[1] for value in late.inputs])
        and not any(node.effect in WRITES and not iterations.own.issuperset(node.variables) for node in lead.nodes[0])
        and not any(value.table.dtype is variant for value in sources)
        and not (_has_guards(lead) and (iterations.tracks.tapes or _is_late(iterations, sources)))
        and all(_is_like(iterations, lead, other) for other in segments[1:])
    )


def _lates(nodes: Sequence[Node]) -> list[Late]:
    attributes = [each for node in nodes for each in node.attributes.values()]
    return [x.late if isinstance(x, LateItem) else x for x in attributes if isinstance(x, (Late, LateItem))]


def _has_guards(segment: Segment) -> bool:
    return any(node.may_part for part in segment.nodes for node in part)


def outside_of(segment: Segment, inside: set[Value]) -> list[Value]:
    """The values of outside that an iteration uses, beside the loop's own."""
    standing = {given for given, _ in segment.stand_ins()}
    nodes, lates = [*segment.nodes[0], *segment.nodes[1]], [*segment.lates[0], *segment.lates[1]]
    used = [value for node in nodes for value in node.inputs] + [value for late in lates for value in late.inputs]
    used += [*([] if segment.flag is None else [segment.flag]), *(segment.results or ()), *segment.written.values()]
    return [v for v in dict.fromkeys(used) if v not in inside and v not in standing and v.kind != "constant"]


def _is_late(iterations: Iterations, sources: Sequence[Value]) -> bool:
    """Whether the loop comes behind something that others see, so that no branch inside may go another way."""
    trace = iterations.trace
    return trace.seen is not None or not trace._changed.isdisjoint(sources)


def _is_like(iterations: Iterations, lead: Segment, other: Segment) -> bool:
    equivalence = Equivalence(iterations.own, iterations.first_number)
    names = [v for v in lead.variables if v in other.variables]
    pairs = [[each.variables[v][0] for v in names] for each in (lead, other)]
    count = 1 if other.results is None else 2
    is_same = equivalence.given(lead.given, other.given) and equivalence.given(*pairs)
    for part in range(count):
        is_same = is_same and equivalence.numbers(lead.lates[part], other.lates[part])
        is_same = is_same and equivalence.nodes(lead.nodes[part], other.nodes[part])
        is_same = is_same and equivalence.sources(lead.lates[part], other.lates[part])
    if not is_same or not equivalence.same([lead.flag], [other.flag]):
        return False
    if iterations.carried is None and other.flag is None:
        return False
    if other.results is None:
        equivalence.learn()
        return True
    ends = [[*(each.results or ()), *[each.written.get(v) for v in lead.written]] for each in (lead, other)]
    is_same = lead.written.keys() == other.written.keys() and equivalence.same(*ends)
    lead_number, number = iterations.segments.index(lead), iterations.segments.index(other)
    is_same = is_same and iterations.tracks.is_like(lead_number, number, equivalence)
    if is_same:
        equivalence.learn()
    return is_same
