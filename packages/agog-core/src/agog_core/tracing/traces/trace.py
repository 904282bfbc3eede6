"""Trace: records a call of a function: the graph so far, and the values that variables have."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any
from weakref import ref

import numpy as np

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType, as_dtype, bool_, uint64
from agog_core.random import Generator, generator
from agog_core.recording import source_line
from agog_core.settable import note
from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.errors import limit
from agog_core.tracing.execution.kernels import homes, run_kernel
from agog_core.tracing.graphs.graph import Effect, Late, LateItem, Node, RandomKey, Value, present_attributes
from agog_core.tracing.loops.tracer import LoopTracer
from agog_core.tracing.state.device import TracedArray, freed, real_table, traced, tracing_device, untraced
from agog_core.tracing.state.handlers import may_be_caught
from agog_core.tracing.traces.eager_scope import EagerScope
from agog_core.tracing.traces.host_nodes import called_in_trace, hosted, node_on_host
from agog_core.variables.variable import Variable, creation_hooks

# Results of constants are constants as long as they have no more elements.
_MOST_FOLDED = 1 << 16


class Trace(LoopTracer):
    """A call of a function that is recorded.

    It is a real call: kernels run, on the values of this call. Variables are written when it is over, by whoever
    traces; until then the trace has their new values.
    """

    def __init__(self) -> None:
        super().__init__()
        self.draws: list[tuple[Generator, RandomKey]] = []
        self._constants: dict[int, Value] = {}  # by the ids of their arrays
        self._changed: set[Value] = set()  # what depends on updates
        self._outcomes: dict[Value, bool] = {}  # of guards
        self._count = 0
        self._arrays: list[ref[TracedArray]] = []

    # Values

    def input(self, tensor: Tensor) -> Tensor:
        """A tensor that stands for an argument."""
        return self._watched(traced(tensor, self, self.argument(tensor._table, tensor._array)))

    def argument(self, table: KernelTable, array: Any) -> Value:
        """The value of another argument."""
        value = self._value("input", table, array)
        self.graph.inputs.append(value)
        return value

    def _watched(self, tensor: Tensor) -> Tensor:
        self._arrays.append(ref(tensor._array))
        return tensor

    def value_of(self, tensor: Tensor) -> Value:
        """The value in the graph that a tensor is; a constant, where it is none of this trace's."""
        array = tensor._array
        if type(array) is TracedArray:
            return self._known(array, real_table(tensor))
        return self._constant(tensor._table, array)

    def _value(self, kind: str, table: KernelTable, array: Any) -> Value:
        layout = getattr(array, "strides", None)
        self._count += 1
        return Value(self._count, kind, table, tuple(array.shape), None, layout if type(layout) is tuple else None)

    def _known(self, array: TracedArray, table: KernelTable) -> Value:
        if array.tracer is self and array.value is not None:
            return array.value
        return self._constant(table.device.table(as_dtype(array.dtype)), array.array)

    def _constant(self, table: KernelTable, array: Any) -> Value:
        found = self._constants.get(id(array))
        if found is None:
            found = self._constants[id(array)] = self._value("constant", table, array)
            found.array = array
        return found

    # Ops

    def table(self, table: KernelTable) -> KernelTable:
        return tracing_device(table.device).table(table.dtype)

    def call(self, op: Op, table: KernelTable, arrays: Sequence[TracedArray], attributes: Mapping[str, Any]) -> Any:
        """Run a kernel, and record the call where it depends on more than constants."""
        is_late = any(isinstance(each, (Late, LateItem)) for each in attributes.values()) if attributes else False
        depends = is_late or any(array.tracer is self for array in arrays)
        numbers = present_attributes(attributes) if is_late else attributes
        tables = homes(op, table, numbers)
        try:
            result = run_kernel(op, table, [array.array for array in arrays], numbers, tables)
        except Exception:
            if depends and table.dtype in op.may_fail:
                self.note_failure()
            raise
        self.note_risk(depends and table.dtype in op.may_fail)
        results = result if isinstance(result, tuple) else (result,)
        if not depends and all(prod(each.shape) <= _MOST_FOLDED for each in results):
            return tuple(map(TracedArray, result)) if isinstance(result, tuple) else TracedArray(result)
        effect = Effect.RANDOM if op.random else Effect.VIEW if op.views else Effect.NONE
        node = Node(effect, op, table, [self._known(array, table) for array in arrays], dict(attributes))
        node.several = isinstance(result, tuple)
        if node.several:
            tables = tables if len(tables) > 1 else tables * len(results)
        outs = self._add(node, list(zip(tables, results, strict=False)))
        if op.host_reads:
            for out in outs:
                self._guard(self._known(out, table), tuple(out.shape))
        return tuple(outs) if node.several else outs[0]

    def _add(self, node: Node, results: Sequence[tuple[KernelTable, Any]]) -> list[TracedArray]:
        node.line, node.lates = source_line(), len(self.graph.lates)
        outs = []
        for table, array in results:
            value = self._value("node", table, array)
            value.node = node
            if node.effect is Effect.VIEW:
                value.base = node.inputs[0].base or node.inputs[0]
            node.outputs.append(value)
            outs.append(TracedArray(array, self, value))
            self._arrays.append(ref(outs[-1]))
        if node.effect is Effect.UPDATE or not self._changed.isdisjoint(node.inputs):
            self._changed.update(node.outputs)
        self.graph.nodes.append(node)
        if self.open_loops or self.knows.counted:
            self.knows.note(node, [array for _, array in results])
        return outs

    def copy(self, array: TracedArray, source: Device, target: Device) -> TracedArray:
        """Copy an array to another device."""
        there = target.copy_from(array.array, source)
        value = self._known(array, source.table(as_dtype(array.dtype)))
        node = Node(Effect.COPY, None, None, [value], {"source": source})
        return self._add(node, [(target.table(as_dtype(array.dtype)), there)])[0]

    def host(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType],
        has_sizes: bool = False,
        may_fail: bool = False,
        **attributes: Any,
    ) -> list[Tensor]:
        return node_on_host(self, function, inputs, dtypes, has_sizes, may_fail, attributes)

    def hosted(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        return hosted(self, function, arguments)

    def python(self, function: Callable[..., Any], inputs: Sequence[Tensor], dtypes: Sequence[DType]) -> list[Tensor]:
        self.refuse_loops()
        self.commit()
        self.note_risk(may_fail=True, calls=True)
        there = called_in_trace(self.handed, function, list(map(untraced, inputs)), dtypes)
        node = Node(Effect.PYTHON, None, None, list(map(self.value_of, inputs)), {"function": function})
        outs = self._behind(self._add(node, there))
        self.forget()
        return [self._tensor(out, table) for out, (table, _) in zip(outs, there, strict=True)]

    def _behind(self, outs: list[TracedArray]) -> list[TracedArray]:
        """What a function of the program has returned, or left in a variable: behind a write no branch may ask for it,
        since a call that goes another way begins anew."""
        if self.graph.finals:
            self._changed.update(out.value for out in outs if out.value is not None)
        return outs

    def _tensor(self, array: TracedArray, table: KernelTable) -> Tensor:
        return wrap(array, self.table(table), intern_shape(array.shape))

    # Variables

    def read(self, variable: Variable, tensor: Tensor) -> Tensor:
        self.renew(variable, tensor)
        found = self.state.get(variable)
        if found is None:
            self.initial.setdefault(variable, tensor)
            self.before[variable] = tensor
            found = self.state[variable] = self._read(variable, tensor)
        return self._in_loops(variable, found)

    def _read(self, variable: Variable, tensor: Tensor) -> Tensor:
        """A tensor that stands for what a variable has, the first time that it is read since Python was called."""
        if variable not in self.graph.variables:
            note(variable, "_trainable")
            note(variable, "_constraint")
            value = self.graph.variables[variable] = self._value("variable", tensor._table, tensor._array)
            value.variable = variable
        if self.seen is None:
            found = self.arguments.get(id(tensor))
            if found is None:
                found = self._watched(traced(tensor, self, self.graph.variables[variable]))
            self.entries[variable] = found
            return found
        node = Node(Effect.READ, None, None, [], {}, variables=[variable])
        (out,) = self._behind(self._add(node, [(tensor._table, tensor._array)]))
        found, before = self._tensor(out, tensor._table), self.seen.get(variable)
        if before is not None and before[0] is tensor and before[1]._watch is not None:
            # To a tape it is the tensor that it was, as in eager code.
            found._id, found._watch = before[1]._id, before[1]._watch
        return found

    def assign(self, variable: Variable, tensor: Tensor) -> None:
        self._present(variable)
        table = real_table(tensor)
        array = table.device.copy(untraced(tensor)._array)
        node = Node(Effect.ASSIGN, None, table, [self.value_of(tensor)], {}, variables=[variable])
        self._write([variable], self._add(node, [(table, array)]), table)
        self.note([variable], lambda present: [array])

    def update(
        self, op: Op, variables: Sequence[Variable], inputs: Sequence[Tensor], attributes: Mapping[str, Any]
    ) -> None:
        before = [self._present(variable) for variable in variables]
        table, others, numbers = real_table(before[0]), [untraced(x) for x in inputs], present_attributes(attributes)

        def updated(present: Sequence[Any]) -> Sequence[Any]:
            arrays = [table.device.copy(array) for array in present]
            return run_kernel(op, table, [*arrays, *[x._array for x in others]], numbers) or arrays

        try:
            after = updated([untraced(x)._array for x in before])
        except Exception:
            self.note_failure()
            raise
        values = [self.value_of(x) for x in (*before, *inputs)]
        node = Node(Effect.UPDATE, op, table, values, dict(attributes), variables=list(variables))
        may_fail = table.dtype in op.may_fail
        self.note_risk(may_fail)
        node.is_caught = may_fail and may_be_caught()
        self._write(variables, self._add(node, [(table, array) for array in after]), table)
        self.note(variables, updated)

    def _present(self, variable: Variable) -> Tensor:
        return variable._current()  # which asks `read`

    def _write(self, variables: Sequence[Variable], arrays: Sequence[TracedArray], table: KernelTable) -> None:
        for variable, array in zip(variables, arrays, strict=True):
            assert array.value is not None
            self.state[variable] = self._tensor(array, table)
            if variable not in self.temporaries:
                self.graph.finals[variable] = array.value
                self.finals[variable] = self.state[variable]

    # Python

    def known(self, tensor: Tensor) -> Tensor:
        return untraced(tensor)

    def truth(self, tensor: Tensor) -> bool | None:
        array = tensor._array
        if type(array) is not TracedArray or array.tracer is not self:
            return None
        value = self.value_of(tensor)
        if self.knows.look(value):
            return None
        outcome = self._outcomes.get(value)
        if outcome is None:
            outcome = bool(untraced(tensor)._item("bool"))
            self._guard(value, outcome)
            self._outcomes[value] = outcome
        return outcome

    def fixed(self, tensor: Tensor) -> Any:
        host = untraced(tensor)._host()
        self._decide(lambda other: np.array_equal(other, host), [tensor])
        return host

    def decided(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
        outcome = function(*[untraced(x)._host() for x in tensors])
        self._decide(lambda *hosts: function(*hosts) == outcome, tensors)
        return outcome

    def _decide(self, is_so: Callable[..., Any], tensors: Sequence[Tensor]) -> None:
        """Trace again where something does not hold of the values of tensors that holds in this call."""
        mine = [self.value_of(x) for x in tensors if type(x._array) is TracedArray and x._array.tracer is self]
        if mine and not self.knows.look_at_all(mine):
            (flag,) = self.host(lambda *hosts: [is_so(*hosts)], tensors, [bool_])
            self._guard(self.value_of(flag), True)

    def _guard(self, value: Value, outcome: Any) -> None:
        if value in self._changed:
            self.note_branch(source_line())
        else:
            self.graph.nodes.append(Node(Effect.GUARD, None, None, [value], {}, line=source_line(), outcome=outcome))

    def take(self) -> None:
        limit("element", source_line())

    def draw(self, op_seed: int | None, values: int) -> Any:
        source = generator()
        key = RandomKey(op_seed, values, source.reserve(op_seed, values))
        if source.gives_again:
            self.refuse_loops()
            return self._drawn_before(source, key)
        self.draws.append((source, key))
        return self._late(key)

    def _drawn_before(self, source: Generator, key: RandomKey) -> Any:
        """A key that was drawn before: here, in the call that this trace walks back, or in eager code."""
        for _, each in self.draws:
            if (each.op_seed, each.value) == (key.op_seed, key.value):
                return each
        tensor = source.keys.get((key.op_seed, key.value))
        if tensor is None:
            return key.value
        to_host = real_table(tensor).device.to_host

        def numbers(array: Any) -> tuple[int, ...]:
            return tuple([int(number) for number in to_host(array)])

        late = Late(numbers, numbers(untraced(tensor)._array), [self.value_of(tensor)])
        return self._late(late)

    def count_keys(self) -> int:
        return len(self.draws)

    def keys_after(self, count: int) -> dict[Any, Tensor]:
        keys = [key for _, key in self.draws[count:]]
        return {(key.op_seed, key.value): self.host(_alone, [], [uint64], number=key)[0] for key in keys}

    def recorded(self, tensor: Tensor) -> Tensor:
        return tensor if tensor._table.traces else traced(tensor)

    @contextmanager
    def eager_scope(self) -> Iterator[EagerScope]:
        with EagerScope(self) as scope:
            yield scope

    def late(self, function: Callable[[], Any]) -> Any:
        with self.eager_scope() as scope:
            value = function()
        late = scope.number(function, value)
        late.calls_python = scope.calls_python
        if scope.draws or scope.calls_python:
            self.refuse_loops()
        if scope.draws:
            late.draws = True
            self.draws += scope.draws
        self._late(late)
        if isinstance(value, Mapping):
            return {name: LateItem(late, name) if type(each) in (int, float) else each for name, each in value.items()}
        return late

    def operand(self, number: Any, dtype: DType) -> Any:
        if not isinstance(number, (Late, LateItem)):
            return number
        return self.host(_alone, [], [dtype], number=number)[0]

    def temporary(self, value: Tensor) -> Variable:
        hooks = creation_hooks.set(())  # nobody is told of it
        try:
            variable = Variable(value, trainable=False)
        finally:
            creation_hooks.reset(hooks)
        self.temporaries.add(variable)
        self._make_own(variable)
        self.state[variable] = value
        self.assign(variable, value)
        return variable

    def end(self) -> list[str]:
        """Let tensors that others hold be ordinary ones, with the values of this call; the lines that they come from.

        Nothing of the trace may be in use any more, but for its graph.
        """
        self.release()
        if self.alive():
            gc.collect()  # what only a circle holds is used by nobody
        return freed(self.alive())

    def alive(self) -> list[TracedArray]:
        """The traced arrays that something holds."""
        return [array for each in self._arrays if (array := each()) is not None]

    def put_back(self) -> None:
        """Put back what was drawn of random streams, and what variables have, because the call comes to nothing."""
        self.take_back()
        for source, key in reversed(self.draws):
            source.put_back(key.op_seed, key.values)


def _alone(number: Any) -> tuple[Any]:
    return (number,)
