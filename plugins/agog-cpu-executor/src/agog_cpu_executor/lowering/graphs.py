"""Graphs: the lowering of a graph of ops to a program, by calls of kernels with arrays that record."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.compiler import Effect, Graph, Late, LateItem, Node, filling, lowering
from agog_core.compiler import Value as GraphValue
from agog_core.plugin import describe_error
from agog_cpu_executor.lowering.claims import ClaimedNodes, Unit
from agog_cpu_executor.lowering.proxies import ArrayProxy, NumberProxy, as_value, recording
from agog_cpu_executor.lowering.templates import Templates
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import Kind, Source
from agog_cpu_executor.program.program import Opaque, Program, constant
from agog_cpu_executor.program.steps import CallStep, GroupStep, GuardStep, KernelStep, LoopStep, Value

_MOST_STEPS = 200  # of one kernel: a loop over times or windows stays a call of the kernel


class LoweredGraph:
    """The program of a graph, its inputs and outputs; ``opaque`` says why nodes stay calls of their kernels."""

    def __init__(
        self,
        program: Program,
        inputs: list[Value],
        variables: list[Value],
        outputs: list[Value],
        finals: list[tuple[int, Value]],
        opaque: dict[Node, str],
        writes: list[tuple[Node, int, Value]],
    ) -> None:
        self.program, self.inputs, self.variables, self.outputs = program, inputs, variables, outputs
        self.finals = finals  # the position among the variables, and the value at the end
        self.opaque = opaque
        self.writes = writes  # in the order of the graph: the node, the position among the variables, and the value


def lower(graph: Graph, units: Sequence[Unit] | None = None) -> LoweredGraph:
    """Lower a graph; ``units`` are its nodes in another order, with those of each claim as one unit."""
    return _Lowering(graph, graph.nodes if units is None else units).run()


class _Lowering:
    def __init__(self, graph: Graph, units: Sequence[Unit]) -> None:
        self.graph, self.units = graph, units
        self.program = Program()
        self.known: dict[GraphValue, Value] = {}
        self.opaque: dict[Node, str] = {}
        self.templates = Templates()
        self.guards = 0
        self.writes: list[tuple[int, Any, Value]] = []  # the turn of a node, a variable, and its new value

    def run(self) -> LoweredGraph:
        graph = self.graph
        inputs = [self._given(Source.INPUT, value) for value in graph.inputs]
        variables = [self._given(Source.VARIABLE, value) for value in graph.variables.values()]
        token = recording.set(self.program)
        try:
            for late in graph.lates:
                if not late.inputs:
                    self.program.late(late)
            for unit in self.units:
                if isinstance(unit, ClaimedNodes):
                    self._claimed(unit)
                else:
                    self.program.node = unit
                    self._node(unit)
            for late in graph.lates:
                self._late(late)
        finally:
            recording.reset(token)
        places = {variable: n for n, variable in enumerate(graph.variables)}
        writes = [
            (node, places[variable], self.of(value))
            for node in sorted(graph.nodes, key=lambda each: each.turn)
            for variable, value in zip(node.variables, node.outputs, strict=False)
            if variable in graph.finals
        ]
        finals = [(places[variable], self.of(value)) for variable, value in graph.finals.items()]
        return LoweredGraph(
            self.program, inputs, variables, [self.of(v) for v in graph.outputs], finals, self.opaque, writes
        )

    def _given(self, source: Source, value: GraphValue) -> Value:
        if value not in self.known:
            self.known[value] = Value(source, _like(value))
        return self.known[value]

    def of(self, value: GraphValue) -> Value:
        """What a value of the graph has become."""
        if value not in self.known:
            is_array = isinstance(value.array, np.ndarray)  # what a kernel keeps for its gradient's is none
            self.known[value] = constant(value.array) if is_array else Value(Source.CONSTANT, value.array)
        return self.known[value]

    def _claimed(self, part: ClaimedNodes) -> None:
        self.program.node = part.nodes[0]
        inputs, arrays = [self.of(value) for value in part.inputs], [_like(value) for value in part.outputs]
        outputs = self.program.add(GroupStep(part.compiler, part.run, inputs, part.nodes, len(part.nodes)), *arrays)
        self.known.update(zip(part.outputs, outputs, strict=True))

    def _node(self, node: Node) -> None:
        outputs = self._outputs(node, [self.of(value) for value in node.inputs])
        self.known.update(zip(node.outputs, outputs, strict=True))
        self.writes += [(node.turn, *each) for each in zip(node.variables, outputs, strict=False)]

    def _outputs(self, node: Node, inputs: list[Value]) -> list[Value]:
        """The outputs of a node, by steps of the kinds that its effect asks for."""
        match node.effect:
            case Effect.GUARD:
                self.program.add(GuardStep(inputs[0], node.outcome, self.guards))
                self.guards += 1
                return []
            case Effect.HOST if isinstance(number := node.attributes.get("number"), (Late, LateItem)):
                return [self.program.scalar(self._late(number), _like(node.outputs[0]).dtype)]
            case Effect.HOST:
                return self._add(CallStep(Kind.HOST, node, inputs, *self._attributes(node, but="function")))
            case Effect.LOOP:
                return self._add(LoopStep(node, inputs, *self._attributes(node, but="loop"), self.graph.exact))
            case Effect.ASSIGN:
                return [self.program.fit(inputs[0], layouts.of(inputs[0].array.dtype, inputs[0].array.shape))]
        back = self.program.mark()
        try:
            return self._recorded(node, inputs)
        except Exception as why:  # whatever a lowering fails with, the kernel runs whole
            back()
            self.opaque[node] = describe_error(why)
            return self._called(node, inputs)

    def _recorded(self, node: Node, inputs: list[Value]) -> list[Value]:
        """The outputs, by the steps that the node's kernel takes."""
        assert node.op is not None
        assert node.table is not None
        kernel = None if node.effect is Effect.RANDOM else lowering(node.op, node.table)
        if kernel is None:
            raise Opaque("its kernel says nothing of how it is lowered")
        template = self.templates.find(node, inputs)
        if template is not None:
            outputs = template.again(self.program, inputs)
        else:
            start = len(self.program.steps)
            outputs = self._run(kernel, node, inputs)
            self.templates.keep(node, inputs, self.program.steps[start:], outputs)
        for made, value in zip(outputs, node.outputs, strict=True):
            seen = _like(value)
            if (made.array.shape, made.array.dtype) != (seen.shape, seen.dtype):
                raise Opaque(f"it gives {made.array.dtype} {made.array.shape}")
            if value.layout is not None and made.array.size and not layouts.are_equal(made.array, seen):
                raise Opaque(f"it gives strides {made.array.strides} in place of {seen.strides}")
        return outputs

    def _run(self, kernel: Callable[..., Any], node: Node, inputs: list[Value]) -> list[Value]:
        """The outputs of a node's kernel, called on what records it."""
        self.program.limit = len(self.program.steps) + _MOST_STEPS
        arrays = [ArrayProxy(value) for value in inputs]
        result = kernel(*arrays, **{name: self._attribute(given) for name, given in node.attributes.items()})
        if node.variables:
            return [array.value for array in arrays[: len(node.variables)]]
        return [as_value(each) for each in (result if isinstance(result, tuple) else (result,))]

    def _late(self, given: Late | LateItem) -> Value:
        """What is known late, among numbers by name where it is one of these."""
        if isinstance(given, LateItem):
            return self.program.number(operator.getitem, self._late(given.late), given.name)
        for other in self.graph.before(given):
            self.program.late(other, *map(self.of, other.inputs))
        return self.program.late(given, *map(self.of, given.inputs))

    def _attribute(self, given: Any) -> Any:
        if not isinstance(given, (Late, LateItem)):
            return given
        late = given.late if isinstance(given, LateItem) else given
        seen = late.value[given.name] if isinstance(given, LateItem) else late.value
        if type(seen) not in (int, float):
            raise Opaque("an attribute that is known late is no number")
        return NumberProxy(self._late(given), is_never_zero=late.is_never_zero)

    def _called(self, node: Node, inputs: list[Value]) -> list[Value]:
        """The outputs, by a call of the kernel."""
        assert node.op is not None
        if not node.variables:
            return self._kernel(node, inputs)
        step = CallStep(Kind.UPDATE, node, inputs, *self._attributes(node))
        if node.leaves_writes:  # what was written before it is there then
            before = sorted(self.writes, key=lambda each: each[0])
            present = {v: x for turn, v, x in before if turn < node.turn and v in self.graph.finals}
            step.inputs = (*step.inputs, *[x for v, x in present.items() if v not in node.variables])
        return self._add(step)

    def _kernel(self, node: Node, inputs: list[Value]) -> list[Value]:
        step = KernelStep(node, inputs, *self._attributes(node))
        outputs = self._add(step)
        if not node.several and self._may_be_filled(outputs):
            assert node.op is not None
            assert node.table is not None
            step.fill = filling(node.op, node.table)
        if node.effect is Effect.VIEW:
            for value in outputs:
                value.base = inputs[0].root
        return outputs

    def _may_be_filled(self, made: Sequence[Value]) -> bool:
        """Whether an array could be had into which a kernel writes its result."""
        return len(made) == 1 and not made[0].array.dtype.hasobject and layouts.is_dense(made[0].array)

    def _attributes(self, node: Node, but: str = "") -> tuple[dict[str, Value], dict[str, Any]]:
        """The attributes of a node but one: those that are known late, and the other ones."""
        attributes = {name: given for name, given in node.attributes.items() if name != but}
        lates = {name: self._late(given) for name, given in attributes.items() if isinstance(given, (Late, LateItem))}
        return lates, {name: given for name, given in attributes.items() if name not in lates}

    def _add(self, step: CallStep) -> list[Value]:
        return self.program.add(step, *map(_like, step.node.outputs))


def _like(value: GraphValue) -> Any:
    """An array without values in the layout of a value of the graph."""
    return layouts.of(value.table.dtype.numpy_dtype, tuple(value.shape), value.layout)
