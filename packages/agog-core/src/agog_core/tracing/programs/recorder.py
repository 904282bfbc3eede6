"""Recorder: a tracer that keeps a call of a function step by step, with both ways of its branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, NoReturn
from weakref import ref

import numpy as np

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType, as_dtype
from agog_core.errors import TracingError
from agog_core.random import generator
from agog_core.recording import source_line
from agog_core.shapes import TensorShape, intern_shape
from agog_core.tensors.host_functions import HostFunction
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import Tracer
from agog_core.tracing.execution.kernels import homes, run_kernel, run_on_host
from agog_core.tracing.graphs.graph import RandomKey, Value
from agog_core.tracing.programs.control_flow import ControlFlow
from agog_core.tracing.programs.slices import Slices
from agog_core.tracing.programs.steps import Step
from agog_core.tracing.state.device import TracedArray, freed, traced, tracing_device, untraced
from agog_core.tracing.traces.eager_scope import EagerScope
from agog_core.variables.variable import Variable, creation_hooks


class Recorder(ControlFlow, Tracer):
    """Keeps what a function does on sample arguments. Its variables are not written.

    Args:
        script: which way to go at the first branches of Python on tensors; behind them the samples decide.
    """

    def __init__(self, script: Sequence[bool] = ()) -> None:
        super().__init__()
        self.script = script
        self.keys: dict[RandomKey, int] = {}
        self.constants: dict[int, Tensor] = {}
        self.made: set[Variable] = set()
        self.values: dict[Variable, Tensor] = {}  # of variables, as samples
        self.sizes: list[tuple[int, int, int]] = []  # that depend on values: of which value, its axis, and the size
        self.slices = Slices()
        self._numbers: dict[int, Value] = {}  # of constants, by the ids of their arrays
        self._arrays: list[ref[TracedArray]] = []
        self._outcomes: dict[int, bool] = {}

    # Values

    def value(self, table: KernelTable, array: Any) -> Value:
        """A new value."""
        self.count += 1
        return Value(self.count, "node", table, tuple(array.shape))

    def tensor(self, value: Value, array: Any) -> Tensor:
        """A tensor that stands for a value."""
        made = TracedArray(array, self, value)
        self._arrays.append(ref(made))
        return wrap(made, self.table(value.table), intern_shape(tuple(array.shape)))

    def input(self, tensor: Tensor) -> Tensor:
        """A tensor that stands for an argument, of the innermost block."""
        sample = untraced(tensor)
        value = self.value(sample._table, sample._array)
        self.block.inputs.append(value.number)
        return self.tensor(value, sample._array)

    def number_of(self, tensor: Tensor) -> int:
        """The number of a tensor; a constant is kept, where it is none of this recorder's."""
        array = tensor._array
        if type(array) is TracedArray and array.tracer is self and array.value is not None:
            return array.value.number
        real = untraced(tensor)
        return self._constant(real._table, real._array)

    def value_of(self, tensor: Tensor) -> Value:
        """The value of a tensor; of a constant a stand-in."""
        array = tensor._array
        if type(array) is TracedArray and array.tracer is self and array.value is not None:
            return array.value
        real = untraced(tensor)
        self._constant(real._table, real._array)
        return self._numbers[id(real._array)]

    def is_mine(self, tensor: Any) -> bool:
        """Whether a value is a tensor that depends on arguments or variables."""
        array = tensor._array if type(tensor) is Tensor else None
        return type(array) is TracedArray and array.tracer is self

    def _constant(self, table: KernelTable, array: Any) -> int:
        found = self._numbers.get(id(array))
        if found is None:
            found = self._numbers[id(array)] = self.value(table, array)
            self.constants[found.number] = wrap(array, table, intern_shape(tuple(array.shape)))
        return found.number

    def _number(self, array: TracedArray, table: KernelTable) -> int:
        if array.tracer is self and array.value is not None:
            return array.value.number
        return self._constant(table.device.table(as_dtype(array.dtype)), array.array)

    # Ops

    def table(self, table: KernelTable) -> KernelTable:
        return tracing_device(table.device.untraced).table(table.dtype)

    def call(self, op: Op, table: KernelTable, arrays: Sequence[TracedArray], attributes: Mapping[str, Any]) -> Any:
        """Run a kernel on samples, and keep the call where it depends on more than constants."""
        depends = op.random or any(array.tracer is self for array in arrays)
        present = {name: each.value if type(each) is RandomKey else each for name, each in attributes.items()}
        tables = homes(op, table, present)
        try:
            result = run_kernel(op, table, [array.array for array in arrays], present, tables)
        except Exception:
            if not (depends and table.dtype in op.may_fail):
                raise
            result = _zeros(op, table, tables, arrays, present)
        results = result if isinstance(result, tuple) else (result,)
        if not depends:
            return tuple(map(TracedArray, result)) if isinstance(result, tuple) else TracedArray(result)
        kept = dict(attributes)
        if not op.inputs:
            kept = {name: each for name, each in kept.items() if name not in ("dtype", "index")}
            kept = {"dtype": table.dtype, "attributes": kept}
        inputs = [self._number(array, table) for array in arrays]
        step = Step("op" if op.inputs else "create", op.name, inputs)
        step.attributes = kept
        step.is_kept = table.dtype in op.may_fail
        tables = tables if len(tables) == len(results) else list(tables) * len(results)
        self._join_rows(step, table, result)
        outs = self.add(step, list(zip(tables, results, strict=False)))
        if op.host_reads:
            self.note_sizes(step)
        self.slices.note(op.name, inputs, attributes, step.outputs[0])
        return tuple(x._array for x in outs) if isinstance(result, tuple) else outs[0]._array

    def _join_rows(self, step: Step, table: KernelTable, whole: Any) -> None:
        """Let a step that joins rows take them together, so that it is one for any number of them."""
        parts = self.slices.runs(step.name, step.inputs, step.attributes)
        if parts is not None:
            places, first = [], 0
            for part in parts:
                ((start, stop, _),) = part.attributes["key"]
                count = abs((-1 if stop is None else stop) - start)
                sample = wrap(whole, table, intern_shape(tuple(whole.shape)))[first : first + count]
                places.append(self.add(part, [(sample._table, sample._array)])[0])
                first += count
            step.inputs = list(map(self.number_of, places))

    def add(self, step: Step, results: Sequence[tuple[KernelTable, Any]]) -> list[Tensor]:
        """Add a step to the innermost block; the tensors of its results."""
        step.line = step.line or source_line()
        outs = []
        for table, array in results:
            value = self.value(table, array)
            step.outputs.append(value.number)
            step.shapes.append(value.shape)
            outs.append(self.tensor(value, array))
        self.block.steps.append(step)
        return outs

    def note_sizes(self, step: Step) -> None:
        """Note that sizes of a step's results depend on values."""
        if len(self.blocks) > 1:
            self.refuse("the sizes of what an op gives inside of a loop or branch depend on values")
        for number, shape in zip(step.outputs, step.shapes, strict=True):
            self.sizes += [(number, axis, size) for axis, size in enumerate(shape)]

    def copy(self, array: TracedArray, source: Device, target: Device) -> TracedArray:
        """Copy an array to another device."""
        there = target.copy_from(array.array, source)
        step = Step("copy", "", [self._number(array, source.table(as_dtype(array.dtype)))], is_kept=False)
        step.attributes = {"device": f"{target.type}:{target.index}"}
        found: TracedArray = self.add(step, [(target.table(as_dtype(array.dtype)), there)])[0]._array
        return found

    def host(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType],
        has_sizes: bool = False,
        may_fail: bool = False,
        **late: Any,
    ) -> list[Tensor]:
        if not any(map(self.is_mine, inputs)) and not late:
            found = run_on_host(function, list(map(untraced, inputs)), dtypes)
            return [wrap(array, table, intern_shape(tuple(array.shape))) for table, array in found]
        if not (dtypes or late):
            return []  # an assertion; see docs/saved_models.md
        if not isinstance(function, HostFunction) or late:
            self.refuse("Python computes there what no op does")
        step = Step("host", function.name, list(map(self.number_of, inputs)))
        step.attributes = {"data": function.data, "dtypes": list(dtypes)}
        outs = self.add(step, run_on_host(function.sample, list(map(untraced, inputs)), dtypes))
        if has_sizes:
            self.note_sizes(step)
        return outs

    def hosted(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        if not any(map(self.is_mine, arguments)):
            return function(*arguments)
        if isinstance(function, HostFunction) and all(isinstance(each, Tensor) for each in arguments):
            kinds = function.result_dtypes
            return (
                self.host(function, arguments, kinds)[0] if len(kinds) == 1 else self.host(function, arguments, kinds)
            )
        self.refuse("Python computes there what no op does")

    def python(self, function: Callable[..., Any], inputs: Sequence[Tensor], dtypes: Sequence[DType]) -> NoReturn:
        self.refuse("it calls a function of Python at each run, as tf.py_function and tf.print do")

    def refuse(self, why: str) -> NoReturn:
        """Raise, because a step cannot be data."""
        raise TracingError(f"{source_line()}: the function cannot be kept as data: {why}.")

    # Variables

    def read(self, variable: Variable, tensor: Tensor) -> Tensor:
        found = self.state.get(variable)
        if found is None:
            sample = self.values.setdefault(variable, tensor)
            step = Step("read", variables=[variable], is_kept=False)
            (found,) = self.add(step, [(sample._table, sample._array)])
            self.state[variable] = found
        return found

    def assign(self, variable: Variable, tensor: Tensor) -> None:
        variable._current()  # so that it is known
        self.add(Step("assign", "", [self.number_of(tensor)], variables=[variable]), [])
        self._wrote([variable], [untraced(tensor)])

    def update(
        self, op: Op, variables: Sequence[Variable], inputs: Sequence[Tensor], attributes: Mapping[str, Any]
    ) -> None:
        before = [untraced(variable._current()) for variable in variables]
        table, others = before[0]._table, [untraced(x)._array for x in inputs]
        arrays = [table.device.copy(x._array) for x in before]
        after = run_kernel(op, table, [*arrays, *others], attributes) or arrays
        step = Step("update", op.name, list(map(self.number_of, inputs)), variables=list(variables))
        step.attributes = dict(attributes)
        self.add(step, [])
        self._wrote(variables, [wrap(array, table, x._shape) for array, x in zip(after, before, strict=True)])

    def _wrote(self, variables: Sequence[Variable], samples: Sequence[Tensor]) -> None:
        for variable, sample in zip(variables, samples, strict=True):
            self.values[variable] = sample
            self.state.pop(variable, None)
            self.written.add(variable)

    def temporary(self, value: Tensor) -> Variable:
        hooks = creation_hooks.set(())  # nobody is told of it
        try:
            variable = Variable(untraced(value), trainable=False)
        finally:
            creation_hooks.reset(hooks)
        self.add(Step("temporary", "", [self.number_of(value)], variables=[variable]), [])
        self.values[variable] = untraced(value)
        return variable

    # Python

    def known(self, tensor: Tensor) -> Tensor:
        return untraced(tensor)

    def truth(self, tensor: Tensor) -> bool | None:
        if not self.is_mine(tensor):
            return None
        number, sample = self.number_of(tensor), bool(untraced(tensor)._item("bool"))
        if len(self.blocks) > 1:
            return self.branch(number, sample)
        if number not in self._outcomes:
            self._outcomes[number] = self.branch(number, sample)
        return self._outcomes[number]

    def fixed(self, tensor: Tensor) -> Any:
        host = untraced(tensor)._host()
        if self.is_mine(tensor):
            step = Step("fixed", "", [self.number_of(tensor)])
            step.attributes = {"value": np.asarray(host).tolist()}
            self.add(step, [])
        return host

    def decided(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
        if any(map(self.is_mine, tensors)):
            self.refuse("the values of tensors decide there what is computed")
        return function(*[untraced(x)._host() for x in tensors])

    def look(self, array: TracedArray) -> None:
        if array.value is not None:
            self.refuse("it reads the value of a tensor, as by .numpy()")

    def take(self) -> None:
        self.refuse("it takes an element of a dataset")

    def draw(self, op_seed: int | None, values: int) -> Any:
        source = generator()
        key = RandomKey(op_seed, values, source.reserve(op_seed, values))
        if source.gives_again:
            for each in self.keys:
                if (each.op_seed, each.value) == (key.op_seed, key.value):
                    return each
            self.refuse("it computes again what it has drawn before")
        self.count += 1
        self.keys[key] = self.count
        step = Step("key", outputs=[self.count], attributes={"seed": op_seed, "values": values})
        self.add(step, [])
        return key

    def recorded(self, tensor: Tensor) -> Tensor:
        return tensor if tensor._table.traces else traced(tensor)

    @contextmanager
    def eager_scope(self) -> Iterator[EagerScope]:
        with EagerScope(self) as scope:  # type: ignore[arg-type]  # it asks for what this class has
            yield scope

    def late(self, function: Callable[[], Any]) -> Any:
        with self.eager_scope() as scope:
            value = function()
        if scope.reads or scope.draws or scope.calls_python:
            self.refuse("Python computes a number such as a learning rate there at each call, from variables")
        return value

    def end(self) -> None:
        """Let tensors that others hold be ordinary ones."""
        self.state.clear()
        freed([array for each in self._arrays if (array := each()) is not None])

    def note(self, variable: Variable) -> None:
        """Note that the function has made a variable."""
        self.made.add(variable)


def _zeros(op: Op, table: KernelTable, tables: Any, arrays: Sequence[TracedArray], attributes: Any) -> Any:
    """Results in the place of those that a kernel cannot compute of the samples."""
    shapes = op.shape(*[tuple(array.shape) for array in arrays], **attributes)
    several = isinstance(shapes, list)
    made = []
    for home, shape in zip(tables, shapes if several else [shapes], strict=False):
        sizes = [size or 0 for size in shape.as_list()] if isinstance(shape, TensorShape) else shape
        host = np.zeros(prod(sizes), home.dtype.numpy_dtype).reshape(tuple(sizes))
        made.append(home.device.from_host(host))
    return tuple(made) if several else made[0]
