"""Iterations: a loop while it is traced; one iteration stands for all that are alike.

Within an iteration, stand-ins take the places of the loop's values and of the variables that it reads, so that nothing
is known of them. Where iterations are not alike, or where Python looks at a stand-in of a constant, the stand-ins are
taken out again, and the loop is recorded as it ran.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agog_core import nest
from agog_core.recording import source_line, tapes_of_context
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.branches import Choice
from agog_core.tracing.graphs.graph import Effect, Graph, Late, Node, Value
from agog_core.tracing.loops.tracks import Tracks
from agog_core.tracing.state.device import TracedArray, traced, untraced
from agog_core.tracing.state.leaves import Packing, key_of_structure
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace


class Segment:
    """What an iteration has recorded: first the condition, then the body.

    Attributes: ``given`` are the stand-ins of the loop's values, and ``sources`` what these stand for; ``variables``
    those that were read, to stand-in, what that stands for, and its tensor; ``starts`` where the condition, the body
    and what comes behind begin among the trace's nodes and numbers known late.
    """

    def __init__(self, start: tuple[int, int]) -> None:
        self.given: list[Value] = []
        self.sources: list[Value] = []
        self.variables: dict[Variable, tuple[Value, Value, Tensor | None]] = {}
        self.starts = [start]
        self.flag: Value | None = None  # what the condition has given
        self.outcome = False
        self.line = "unknown"
        self.results: list[Value] | None = None  # of the body
        self.written: dict[Variable, Value] = {}
        self.nodes: tuple[list[Node], list[Node]] = [], []
        self.lates: tuple[list[Late], list[Late]] = [], []
        self.behind: Value | None = None  # what a loop inside that takes random numbers has given last
        self.first_array = 0  # how many traced arrays there were before it

    def stand_ins(self) -> list[tuple[Value, Value]]:
        """The stand-ins, and what they stand for."""
        pairs = list(zip(self.given, self.sources, strict=True))
        return pairs + [(given, source) for given, source, _ in self.variables.values()]


class Iterations:
    """A loop that is being recorded, and its values by now."""

    def __init__(self, trace: Trace, values: Any) -> None:
        self.trace, self.values = trace, values
        self.is_refused = False  # whether it is to be recorded as it ran
        self.segments: list[Segment] = []
        # How many of its values each iteration hands on; None for all of them, as long as a condition holds.
        self.carried: int | None = None
        self.own: set[Variable] = set()  # variables that it makes for itself
        self._pairs: list[tuple[Tensor, Tensor]] = []  # its values in this iteration, and their stand-ins
        self.finals = dict(trace.graph.finals)
        self.outcomes = dict(trace._outcomes)
        self.first_number = trace._count + 1
        self.before = trace.behind
        self._form: Any = None
        self._first_array = len(trace._arrays)
        self.tracks = Tracks(self)

    def here(self) -> tuple[int, int]:
        """How many nodes and numbers known late the trace has by now."""
        return len(self.trace.graph.nodes), len(self.trace.graph.lates)

    def begin(self) -> None:
        """Begin an iteration, with stand-ins."""
        segment, packing = Segment(self.here()), Packing(self.values)
        if self.segments:
            self.segments[-1].behind = self.trace.behind
        self.trace.behind = None
        self.trace._outcomes = dict(self.outcomes)
        self.segments.append(segment)
        segment.first_array = len(self.trace._arrays)
        self.tracks.begin()
        segment.sources = [self.trace.value_of(x) for x in packing.tensors]
        pairs = zip(packing.tensors, segment.sources, strict=True)
        tensors = [self._stand_in(tensor, source) for tensor, source in pairs]
        segment.given = [self.trace.value_of(x) for x in tensors]
        for tensor, stand_in in zip(packing.tensors, tensors, strict=True):
            self.tracks.stand_in(tensor, stand_in)
        self.values = packing(tensors)
        self._pairs = list(zip(packing.tensors, tensors, strict=True))

    def _stand_in(self, tensor: Tensor, source: Value) -> Tensor:
        """A tensor of which Python knows nothing, but that it has this value in this call."""
        trace, real = self.trace, untraced(tensor)
        value = trace._value("input", real._table, real._array)
        trace.knows.stand_in(value, source, self, real._array)
        if source in trace._changed:
            trace._changed.add(value)
        return trace._watched(traced(real, trace, value))

    def read(self, variable: Variable, tensor: Tensor) -> Tensor:
        """The stand-in of a variable's value, from when it is first read on."""
        segment = self.segments[-1]
        if variable in segment.variables or variable in self.own or self.is_refused:
            return tensor
        tensor = self.tracks.original(variable, tensor)
        source, found = self.trace.value_of(tensor), None
        found = self._stand_in(tensor, source)
        self.tracks.stand_in(tensor, found, variable)
        kept = untraced(tensor) if len(self.segments) < 3 else None
        segment.variables[variable] = self.trace.value_of(found), source, kept
        self.trace.state[variable] = found
        return found

    def asked(self, flag: Any) -> bool:
        """What the condition comes to in this call."""
        segment, trace = self.segments[-1], self.trace
        if not self.is_refused and isinstance(flag, Tensor) and type(flag._array) is TracedArray:
            value = trace.value_of(flag)
            if value.kind != "constant":
                segment.flag, segment.line = value, source_line()
        if segment.flag is None:
            self.is_refused = True
        segment.outcome = bool(flag) if segment.flag is None else bool(untraced(flag))
        segment.starts.append(self.here())
        return segment.outcome

    def end(self) -> None:
        """End an iteration, with the values that it has given."""
        segment, trace = self.segments[-1], self.trace
        form = key_of_structure(self.values)
        if not is_of_tensors(self.values) or self._form not in (None, form):
            self.is_refused = True
        self._form = form
        packing = Packing(self.values)
        segment.results = [trace.value_of(x) for x in packing.tensors]
        for variable, (given, _, _) in segment.variables.items():
            value = trace.value_of(trace.state[variable]) if variable in trace.state else given
            if value is not given:
                segment.written[variable] = value
        tensors = self.tracks.end(packing.tensors, list(segment.written))
        self.values = packing(tensors if self.tracks.tapes else self.originals(tensors))
        self._pairs = []

    def let_go(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The originals of tensors; those of other tensors are not held any more."""
        found = self.originals(tensors)
        self._pairs = []
        return found

    def originals(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Tensors, but in the places of stand-ins of this iteration what these stand for: so it is the tensor that it
        was, which tapes that are made later may watch."""
        known = {id(stand_in): x for x, stand_in in self._pairs}
        return [known.get(id(x), x) for x in tensors]

    def split(self) -> None:
        """Say of each segment which nodes and numbers are its own."""
        graph = self.trace.graph
        for number, segment in enumerate(self.segments):
            end = self.segments[number + 1].starts[0] if self.segments[number + 1 :] else self.here()
            (a, late_a), (b, late_b), (c, late_c) = [*segment.starts[:2], end, end][:3]
            segment.nodes = graph.nodes[a:b], graph.nodes[b:c]
            segment.lates = graph.lates[late_a:late_b], graph.lates[late_b:late_c]

    def unroll(self, count: int | None = None) -> tuple[int, int]:
        """Take the stand-ins out of all iterations, or of the first few; where these end then."""
        trace, graph = self.trace, self.trace.graph
        if not self.segments:
            return self.here()
        self.split()
        mine, rest = (self.segments, []) if count is None else (self.segments[:count], self.segments[count:])
        folded = self._folded() if count is None else {}
        there: dict[Value, Value] = dict(folded)
        nodes: list[Node] = []
        lates: list[Late] = []
        behind = self.before
        for segment in mine:
            for given, source in segment.stand_ins():
                there.setdefault(given, there.get(source, source))
            for part in (0, 1):
                for late in segment.lates[part]:
                    if behind is not None and not late.is_behind:
                        late.put_behind(behind)
                for node in segment.nodes[part]:
                    if behind is not None and node.draws and node.attributes["after"] is None:
                        node.inputs.append(behind)
                        node.attributes = {**node.attributes, "after": lates[-1] if lates else None}
                    if (inner := chosen_part(trace, node, there)) is not None:
                        nodes += inner.nodes
                        lates += inner.lates
                    elif not node.outputs or not all(value in folded for value in node.outputs):
                        nodes.append(_with(node, there))
                lates += segment.lates[part]
                if not part:
                    nodes += self._guard(segment, there)
            behind = segment.behind or behind
        for late in lates:
            late.inputs = tuple([there.get(value, value) for value in late.inputs])
        end = self.here() if count is None else self.segments[count].starts[0]
        start = self.segments[0].starts[0]
        graph.nodes[start[0] : end[0]] = nodes
        graph.lates[start[1] : end[1]] = lates
        for segment in rest:
            segment.sources = [there.get(value, value) for value in segment.sources]
            segment.variables = {v: (g, there.get(s, s), x) for v, (g, s, x) in segment.variables.items()}
            for node in (*segment.nodes[0], *segment.nodes[1]):
                _with(node, there)
        self.before = behind
        if count is None:
            trace.behind = trace.behind or behind
        if count is None or self.tracks.tapes:
            self._retarget(there)
        self.tracks.unroll(count)
        return start[0] + len(nodes), start[1] + len(lates)

    def _folded(self) -> dict[Value, Value]:
        """What is known once the stand-ins are out, as constants."""
        known, folded = self.trace.knows, {}
        for value, (loops, array) in list(known.of.items()):
            if self in loops:
                known.of[value] = loops - {self}, array
                if loops == {self}:
                    folded[value] = self.trace._constant(value.table, array)
                    del known.of[value]
        return folded

    def _guard(self, segment: Segment, there: dict[Value, Value]) -> list[Node]:
        """What compares what the condition gives with what it gave."""
        trace = self.trace
        if segment.flag is None:
            return []
        flag = there.get(segment.flag, segment.flag)
        loops = trace.knows.loops(flag)
        others = (loops or frozenset()) - {self}
        for loop in others:
            loop.is_refused = True
        if flag.kind == "constant" or (loops is not None and not others) or flag in trace._outcomes:
            return []
        if flag in trace._changed:
            trace.note_branch(segment.line)
            return []
        trace._outcomes[flag] = segment.outcome
        return [Node(Effect.GUARD, None, None, [flag], {}, line=segment.line, outcome=segment.outcome)]

    def _retarget(self, there: dict[Value, Value]) -> None:
        """Let the tensors that Python has be what stand-ins stand for."""
        for array in self._alive():
            if array.value in there:
                found = there[array.value]
                is_known = found.kind == "constant"
                array.value, array.tracer = (None, None) if is_known else (found, self.trace)

    def _alive(self, start: int = 0) -> list[TracedArray]:
        first = self.segments[start].first_array if start else self._first_array
        return [array for each in self.trace._arrays[first:] if (array := each()) is not None]

    def release(self) -> None:
        """Let go of all tensors."""
        self._pairs = []
        self.tracks.release()

    def taken(self) -> Any:
        """The values, of which nothing is held here any more."""
        packing = Packing(self.values)
        self.values, tensors = None, self.originals(packing.tensors)
        self.release()
        return packing(tensors)

    def has_escapes(self, start: int = 0) -> bool:
        """Whether Python has kept a tensor of an iteration, when nobody should."""
        if self._kept(start):
            gc.collect()  # what only a circle holds is used by nobody
        return bool(self._kept(start))

    def _kept(self, start: int) -> list[TracedArray]:
        return [array for array in self._alive(start) if array.value is not None and array.value.kind != "variable"]


def _with(node: Node, there: dict[Value, Value]) -> Node:
    """A node whose inputs are others."""
    node.inputs = [there.get(value, value) for value in node.inputs]
    for value in node.outputs:
        if value.base is not None and value.base in there:
            base = there[value.base]
            value.base = base.base or base
    return node


def chosen_part(trace: Trace, node: Node, there: dict[Value, Value]) -> Graph | None:
    """What a branch does whose condition is known now; its results are added to what stands for values."""
    choice = node.attributes.get("loop")
    if not isinstance(choice, Choice) or choice.draws:
        return None
    flag = there.get(node.inputs[0], node.inputs[0])
    if flag.kind != "constant":
        return None
    branch = choice.branches[bool(flag.table.device.to_host(flag.array).reshape(())[()])]
    graph, given = branch.part.graph, [node.inputs[1 + place] for place in branch.places]
    given = [there.get(value, value) for value in given]
    inside = dict(zip(graph.inputs, given, strict=True))
    for each in graph.nodes:
        _with(each, inside)
    for late in graph.lates:
        late.inputs = tuple([inside.get(value, value) for value in late.inputs])
    pool: list[Any] = [*graph.outputs, *given, *branch.constants]
    for place, value in zip(branch.following, node.outputs, strict=True):
        found = pool[place]
        there[value] = found if isinstance(found, Value) else trace._constant(value.table, found)
    return graph


def is_of_tensors(values: Any) -> bool:
    """Whether a structure holds tensors alone."""
    return all(type(leaf) is Tensor for leaf in nest.flatten(values))


def iterate(
    trace: Trace,
    condition: Callable[..., Any],
    step: Callable[[Any, int], Any],
    values: Any,
    limit: int | None,
    is_same: Callable[[Any], bool],
) -> Any:
    """What `agog_core.tracers.iterated` returns, recorded."""
    from agog_core.tracing.loops.rerolling import joined

    iterations, number, form = Iterations(trace, values), 0, key_of_structure(values)
    del values
    trace.open_loops.append(iterations)
    try:
        while limit is None or number < limit:
            iterations.begin()
            if not iterations.asked(condition(*iterations.values)):
                break
            number += 1
            iterations.values = step(iterations.values, number)
            iterations.end()
            if iterations.is_refused:
                break
    except BaseException:
        trace.open_loops.remove(iterations)
        iterations.unroll()
        iterations.release()
        raise
    trace.open_loops.remove(iterations)
    if not iterations.is_refused and number:
        is_free = is_same(iterations.values) and key_of_structure(iterations.values) == form
        if joined(iterations, limit, is_free):
            return iterations.taken()
    iterations.unroll()
    values = iterations.taken()
    if iterations.segments and not iterations.segments[-1].outcome:
        return values
    while (limit is None or number < limit) and condition(*values):
        number += 1
        values = step(values, number)
    return values


def may_be_node(values: Any, may_be_taped: bool = False) -> bool:
    """Whether a loop may be one node: it is of tensors alone, and no tape records it op by op."""
    tapes = [tape for tape in tapes_of_context() if tape.is_open]
    is_seen = any(tape.is_forward or tape.breaks is not None for tape in tapes) if may_be_taped else bool(tapes)
    return is_of_tensors(values) and not is_seen


def tensor_of(trace: Trace, real: Tensor, value: Value) -> Tensor:
    """A tensor that is a value of a trace, and has in this call that of another one."""
    if value.kind == "constant":
        return traced(real)
    return trace._watched(traced(real, trace, value))
