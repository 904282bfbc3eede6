"""Walking back: the walk over the iterations of a loop that is one node, which becomes a node too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core.dtypes import bool_
from agog_core.gradients.backpropagation import backpropagate
from agog_core.recording import Id, tapes_of_context
from agog_core.shapes import intern_shape
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.indexed_slices import IndexedSlices
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import present_tracer
from agog_core.tracing.device import TracedArray, untraced
from agog_core.tracing.graph import Effect, Node, Value
from agog_core.tracing.joining import Joining, fits, outside_of, taken_out
from agog_core.tracing.loops import draws, may_part
from agog_core.tracing.past import PastSection
from agog_core.tracing.rolling import Rolling, tensor_of
from agog_core.tracing.stacks import Back, Item, Length
from agog_core.tracing.trace import Trace

# What may be in a walk back that is one node.
_PLAIN = (Effect.NONE, Effect.VIEW, Effect.COPY, Effect.LOOP)
# So many iterations may be recorded apart, because fewer values have gradients there.
_MOST_APART = 3


def walk_back(section: PastSection, gradients: dict[Id, Any], keep: set[Id]) -> None:
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
    if isinstance(tracer, Trace) and type(array) is TracedArray and array.tracer is tracer:
        found = _TracedWalk(walk, tracer).run(found, mine)
    else:
        items = list(section.items())
        for number, item in enumerate(items):
            tensors = [
                wrap(x, table, intern_shape(shape)) for x, (table, shape) in zip(item, section.kinds, strict=True)
            ]
            found = walk.step(found | mine if number == len(items) - 1 else found, tensors, number == len(items) - 1)
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

    def __init__(self, section: PastSection, keep: set[Id], keep_first: set[Id], finals: dict[Id, Id]) -> None:
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


class _BackRolling(Rolling):
    """A walk back that is being recorded: an iteration may have gradients for more than the one behind it."""

    def end(self) -> None:
        self._form = None
        super().end()


class _TracedWalk:
    """A walk back that a trace records."""

    def __init__(self, walk: _Walk, trace: Trace) -> None:
        self.walk, self.trace, self.section = walk, trace, walk.section
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
        is_first = number == len(self.items) - 1
        return self.walk.step(found | mine if is_first else found, self.items[number][1], is_first, number == 0)

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
        trace, rolling, last = self.trace, _BackRolling(self.trace, None), len(self.items) - 1
        order = [place.result for place in self.section.places] + self.section.outside()
        trace.rollings.append(rolling)
        number = first
        try:
            while number < stop and not rolling.is_refused:
                keys = tuple([i for i in order if i in found])
                self.keys.append(keys)
                rolling.carried = len(keys)
                rolling.values = [found[i] for i in keys], self.items[number][1]
                found = {}
                rolling.begin()
                rolling.segments[-1].starts.append(rolling.here())
                (given, own), rolling.values = rolling.values, None
                found = self.walk.step(dict(zip(keys, given, strict=True)), own, number == last)
                del given, own
                number += 1
                rolling.values = [found[i] for i in order if i in found]
                rolling.end()
                rolling.values = None
        except BaseException:
            trace.rollings.remove(rolling)
            rolling.unroll()
            raise
        trace.rollings.remove(rolling)
        after = tuple([i for i in order if i in found])
        start = None if rolling.is_refused else self._start(rolling, after)
        if start is None:
            rolling.unroll()
            return number, None, found
        values, reals = [trace.value_of(found[i]) for i in after], [untraced(found[i]) for i in after]
        found = {}
        if not taken_out(rolling):
            found = {i: tensor_of(trace, x, value) for i, x, value in zip(after, reals, values, strict=True)}
            rolling.unroll()
            return number, None, found
        ends = first + start, len(self.items) - stop
        tensors = _BackJoining(rolling, start).run_back(self.stack, reals, ends)
        return number, first + start, dict(zip(after, tensors, strict=True))

    def _start(self, rolling: Rolling, after: tuple[Id, ...]) -> int | None:
        """The first iteration that stands for all that come behind it in the walk."""
        rolling.split()
        if any(segment.lates[1] or segment.written for segment in rolling.segments):
            return None
        if any(n.effect not in _PLAIN or may_part(n) or draws(n) for s in rolling.segments for n in s.nodes[1]):
            return None
        for start in range(min(_MOST_APART, len(rolling.segments))):
            rolling.carried = len(after)
            if all(keys == after for keys in self.keys[start:]) and fits(rolling, rolling.segments[start:]):
                return start
        return None


class _BackJoining(Joining):
    """Makes the node of a walk back."""

    def __init__(self, rolling: Rolling, start: int) -> None:
        super().__init__(rolling, start, None, is_free=True, known=True)

    def run_back(self, stack: Value, reals: Sequence[Tensor], ends: tuple[int, int]) -> list[Tensor]:
        """Put the node in the place of the iterations; what the walk has given."""
        trace, node = self.trace, self._back_node(stack, ends)
        self._cut()
        outs = trace._add(node, [(x._table, x._array) for x in reals])
        return [trace._tensor(out, x._table) for out, x in zip(outs, reals, strict=True)]

    def _back_node(self, stack: Value, ends: tuple[int, int]) -> Node:
        lead = self.lead
        count, results = self.rolling.carried or 0, lead.results or []
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
