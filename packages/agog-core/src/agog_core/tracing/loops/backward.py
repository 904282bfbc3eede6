"""Backward: the gradient of a loop that is one node, as one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agog_core.dtypes import bool_
from agog_core.gradients.backpropagation import backpropagate
from agog_core.recording import Id, tapes_of_context
from agog_core.shapes import intern_shape
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.indexed_slices import IndexedSlices
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import present_tracer
from agog_core.tracing.execution.stacks import Back, Item, Length
from agog_core.tracing.graphs.graph import Effect, Node, Value
from agog_core.tracing.loops.iterations import Iterations, tensor_of
from agog_core.tracing.loops.rerolling import Rerolling, taken_out
from agog_core.tracing.loops.residuals import LoopSection, with_outer
from agog_core.tracing.loops.tracer import LoopTracer
from agog_core.tracing.loops.uniformity import fits, outside_of
from agog_core.tracing.state.device import TracedArray, untraced

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace

# What may be in a walk back that is one node.
_PLAIN = (Effect.NONE, Effect.VIEW, Effect.COPY, Effect.LOOP)
# So many iterations may be recorded apart, because fewer values have gradients there.
_MOST_APART = 3


def walk_back(section: LoopSection, gradients: dict[Id, Any], keep: set[Id]) -> None:
    """Walk over the iterations of a loop; see `agog_core.recording.Section.walk_back`."""
    found: dict[Id, Any] = {}
    for place in section.places:
        gradient = gradients.get(place.final) if place.final in keep else gradients.pop(place.final, None)
        if gradient is not None:
            is_sparse = type(gradient) is IndexedSlices
            found[place.result] = convert_to_tensor(gradient) if is_sparse else gradient
    if not found:
        return
    outside = section.outside()
    found.update({i: gradients[i] for i in outside if i in gradients})
    given = {place.given for place in section.places}
    mine = {i: gradients[i] for i in given if i in gradients}
    used = section.used()
    finals = {place.result: place.final for place in section.places if place.result in used and place.final in keep}
    walk = _Walk(section, {i for i in outside if i in keep}, keep & given, finals)
    array = section.kept[0]._array
    tracer = present_tracer()
    if isinstance(tracer, LoopTracer) and type(array) is TracedArray and array.tracer is tracer:
        found = _TracedWalk(walk, tracer).run(found, mine)
    else:
        items = list(section.items())
        for number, item in enumerate(items):
            tensors = [
                wrap(x, table, intern_shape(shape)) for x, (table, shape) in zip(item, section.kinds, strict=True)
            ]
            is_first = number == len(items) - 1
            own = with_outer(tensors, section.kept, section.outer, is_first, not number)
            found = walk.step(found | mine if is_first else found, own, is_first)
    results = {place.result: place.given for place in section.places}
    gradients.update({results.get(i, i): gradient for i, gradient in found.items()} | walk.of_finals)


class _Walk:
    """A walk over the iterations of a loop.

    Args:
        section: what a tape has of the loop.
        keep: the ids outside of it whose gradients the program has asked for.
        keep_first: those of its first values.
        finals: those of its last values, by what the last iteration calls them that uses them too.

    Attributes: ``of_finals`` are the gradients of the latter, once the last iteration was walked over.
    """

    def __init__(self, section: LoopSection, keep: set[Id], keep_first: set[Id], finals: dict[Id, Id]) -> None:
        self.section, self.keep, self.keep_first, self.finals = section, keep, keep_first, finals
        self.of_finals: dict[Id, Any] = {}

    def step(
        self, gradients: dict[Id, Any], own: Sequence[Tensor], is_first: bool, is_last: bool = False
    ) -> dict[Id, Any]:
        """Walk one iteration back, maybe the first or the last of the loop: the gradients before it."""
        section, found = self.section, dict(gradients)
        keep = self.keep | (self.keep_first if is_first else set()) | (set(self.finals) if is_last else set())
        backpropagate(section.filled(own), found, keep)
        if is_last:
            self.of_finals = {final: found[i] for i, final in self.finals.items() if i in found}
        before = {each.result: found[each.given] for each in section.places if each.given in found}
        return before | {i: found[i] for i in section.outside() if i in found}


class _BackIterations(Iterations):
    """A walk back that is being recorded: an iteration may have gradients for more than the one behind it."""

    def end(self) -> None:
        self._form = None
        super().end()


class _TracedWalk:
    """A walk back that a trace records."""

    def __init__(self, walk: _Walk, tracer: LoopTracer) -> None:
        trace: Trace = tracer  # type: ignore[assignment]  # every one is
        self.trace, self.walk, self.section = trace, walk, walk.section
        self.stack = trace.value_of(walk.section.kept[0])
        self.spot = len(trace.graph.nodes)
        self.items = [self._item(-1 - number, item) for number, item in enumerate(self.section.items())]
        self.keys: list[tuple[Id, ...]] = []

    def _item(self, place: int, arrays: Sequence[Any]) -> tuple[Node, list[Tensor]]:
        """The node that gives what an iteration has left, and its tensors."""
        trace, kinds = self.trace, self.section.kinds
        node = Node(Effect.LOOP, None, None, [self.stack], {"loop": Item(place), "after": None}, several=True)
        outs = trace._add(node, [(table, array) for (table, _), array in zip(kinds, arrays, strict=True)])
        return node, [trace._tensor(out, table) for out, (table, _) in zip(outs, kinds, strict=True)]

    def run(self, found: dict[Id, Any], mine: dict[Id, Any]) -> dict[Id, Any]:
        """The gradients of what the loop has begun with, and of what is the same for all iterations.

        Args:
            found: the gradients of what the loop has given, and of what is the same for all iterations.
            mine: those of what it has begun with, so far.
        """
        last, stop, done, start = len(self.items) - 1, len(self.items) - bool(mine), 0, None
        if self.walk.finals and self.items:
            found, done = self._plain_step(0, found, mine), 1
        if done < stop and not any(tape.is_open for tape in tapes_of_context()):
            done, start, found = self._rolled(done, found, stop)
        for number in range(done, last + 1):
            found = self._plain_step(number, found, mine)
        self._compare(start, stop)
        return found

    def _plain_step(self, number: int, found: dict[Id, Any], mine: dict[Id, Any]) -> dict[Id, Any]:
        is_first, own = number == len(self.items) - 1, self.items[number][1]
        if any(tape.is_open for tape in tapes_of_context()):
            own = list(with_outer(own, self.section.kept, self.section.outer, is_first, not number))
        return self.walk.step(found | mine if is_first else found, own, is_first, number == 0)

    def _compare(self, start: int | None, stop: int) -> None:
        """Compare the number of iterations with what it was, as far as the walk depends on it."""
        trace, nodes = self.trace, self.trace.graph.nodes
        least = None if start is None else start + len(self.items) - stop
        if start is not None:
            gone = {node for node, _ in self.items[start:stop]}
            nodes[self.spot :] = [node for node in nodes[self.spot :] if node not in gone]
            for node, _ in self.items[stop:]:
                node.attributes = {"loop": Item(0), "after": None}
        if self.section.least is None or (least is not None and least <= self.section.least):
            return
        end = len(nodes)
        length = Length(len(self.items), False) if least is None else Length(least, True)
        node = Node(Effect.LOOP, None, None, [self.stack], {"loop": length, "after": None}, several=True)
        table = self.stack.table.device.table(bool_)
        (flag,) = trace._add(node, [(table, table.device.from_host(np.array(True)))])
        assert flag.value is not None
        trace._guard(flag.value, True)
        added = nodes[end:]
        del nodes[end:]
        nodes[self.spot : self.spot] = added

    def _rolled(self, first: int, found: dict[Id, Any], stop: int) -> tuple[int, int | None, dict[Id, Any]]:
        """How many iterations were walked over, from which on by one node, and the gradients then."""
        trace, iterations, last = self.trace, _BackIterations(self.trace, None), len(self.items) - 1
        order = [place.result for place in self.section.places] + self.section.outside()
        trace.open_loops.append(iterations)
        number = first
        try:
            while number < stop and not iterations.is_refused:
                keys = tuple([i for i in order if i in found])
                self.keys.append(keys)
                iterations.carried = len(keys)
                iterations.values = [found[i] for i in keys], self.items[number][1]
                found = {}
                iterations.begin()
                iterations.segments[-1].starts.append(iterations.here())
                (given, own), iterations.values = iterations.values, None
                found = self.walk.step(dict(zip(keys, given, strict=True)), own, number == last)
                del given, own
                number += 1
                iterations.values = [found[i] for i in order if i in found]
                iterations.end()
                iterations.values = None
        except BaseException:
            trace.open_loops.remove(iterations)
            iterations.unroll()
            raise
        trace.open_loops.remove(iterations)
        after = tuple([i for i in order if i in found])
        start = None if iterations.is_refused else self._start(iterations, after)
        if start is None:
            iterations.unroll()
            return number, None, found
        values, reals = [trace.value_of(found[i]) for i in after], [untraced(found[i]) for i in after]
        found = {}
        if not taken_out(iterations):
            found = {i: tensor_of(trace, x, value) for i, x, value in zip(after, reals, values, strict=True)}
            iterations.unroll()
            return number, None, found
        ends = first + start, len(self.items) - stop
        tensors = _BackRerolling(iterations, start).run_back(self.stack, reals, ends)
        return number, first + start, dict(zip(after, tensors, strict=True))

    def _start(self, iterations: Iterations, after: tuple[Id, ...]) -> int | None:
        """The first iteration that stands for all that come behind it in the walk."""
        iterations.split()
        if any(segment.lates[1] or segment.written for segment in iterations.segments):
            return None
        if any(n.effect not in _PLAIN or n.may_part or n.draws for s in iterations.segments for n in s.nodes[1]):
            return None
        for start in range(min(_MOST_APART, len(iterations.segments))):
            iterations.carried = len(after)
            if all(keys == after for keys in self.keys[start:]) and fits(iterations, iterations.segments[start:]):
                return start
        return None


class _BackRerolling(Rerolling):
    """Makes the node of a walk back."""

    def __init__(self, iterations: Iterations, start: int) -> None:
        super().__init__(iterations, start, None, is_free=True, known=True)

    def run_back(self, stack: Value, reals: Sequence[Tensor], ends: tuple[int, int]) -> list[Tensor]:
        """Put the node in the place of the iterations; what the walk has given."""
        trace, node = self.trace, self._back_node(stack, ends)
        self._cut()
        outs = trace._add(node, [(x._table, x._array) for x in reals])
        return [trace._tensor(out, x._table) for out, x in zip(outs, reals, strict=True)]

    def _back_node(self, stack: Value, ends: tuple[int, int]) -> Node:
        lead = self.lead
        count, results = self.iterations.carried or 0, lead.results or []
        inside = {value for node in lead.nodes[1] for value in node.outputs}
        fixed = {given: source for given, source, _ in lead.variables.values()}
        outside = [value for value in (*outside_of(lead, inside), *fixed.values()) if value.kind != "constant"]
        outside = list(dict.fromkeys(outside))
        taken = [*lead.given, *outside]
        results = [fixed.get(value, value) for value in results]
        made = list(dict.fromkeys(value for value in results if value in inside))
        constants = [value for value in dict.fromkeys(results) if value.kind == "constant"]
        pool = {value: place for place, value in reversed(list(enumerate([*made, *taken, *constants])))}
        shared = [n for n, x in enumerate(results) if x not in inside or (x.base is not None and x.base not in inside)]
        body = self._part(1, taken, fixed, made)
        back = Back(body, [pool[value] for value in results], [value.array for value in constants], shared, ends)
        inputs = [stack, *lead.sources[:count], *outside]
        return Node(Effect.LOOP, None, None, inputs, {"loop": back, "after": None}, several=True)
