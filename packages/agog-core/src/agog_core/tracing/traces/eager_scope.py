"""Eager scope: runs ops eagerly while a function is traced, for initial values and late numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from agog_core.dispatch.devices.table import KernelTable
from agog_core.interrupts import begins_in_peace
from agog_core.random import Generator, generator
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import Tracer, tracer_of_context, tracing
from agog_core.tracing.graphs.graph import Late, RandomKey, Value
from agog_core.tracing.state.device import traced, untraced
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace


class EagerScope(Tracer):
    """Lets ops run as in eager code, on the values that a trace has by now, and notes which variables they read."""

    records = False

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.reads: dict[Variable, Value] = {}
        self.calls_python = False
        self.draws: list[tuple[Generator, RandomKey]] = []

    def __enter__(self) -> Self:
        self._before = tracer_of_context.get()
        tracer_of_context.set(self)
        return self

    @begins_in_peace
    def __exit__(self, *error: object) -> None:
        tracer_of_context.set(self._before)

    def table(self, table: KernelTable) -> KernelTable:
        return table

    def read(self, variable: Variable, tensor: Tensor) -> Tensor:
        present = self.trace.read(variable, tensor)
        self.reads[variable] = self.trace.value_of(present)
        return untraced(present)

    def assign(self, variable: Variable, tensor: Tensor) -> None:
        before = tracer_of_context.get()
        tracer_of_context.set(self.trace)
        try:
            self.trace.assign(variable, traced(tensor))
        finally:
            tracer_of_context.set(before)

    def note_python(self) -> None:
        self.calls_python = True

    def known(self, tensor: Tensor) -> Tensor:
        return untraced(tensor)

    def truth(self, tensor: Tensor) -> bool | None:
        return None

    def fixed(self, tensor: Tensor) -> Any:
        return untraced(tensor)._host()

    def decided(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
        return function(*[untraced(x)._host() for x in tensors])

    def draw(self, op_seed: int | None, values: int) -> Any:
        value = generator().reserve(op_seed, values)
        self.draws.append((generator(), RandomKey(op_seed, values, value)))
        return value

    def late(self, function: Callable[[], Any]) -> Any:
        return function()

    def temporary(self, value: Tensor) -> Variable:
        return Variable(value, trainable=False)

    @contextmanager
    def eager_scope(self) -> Iterator[EagerScope]:
        yield self

    def number(self, function: Callable[[], Any], value: Any) -> Late:
        """What is computed anew at each run, by a function that has read these variables and given this value.

        What the traced function has changed of them before is handed over; the others it reads itself.
        """
        changed = {variable: read for variable, read in self.reads.items() if read.kind != "variable"}
        if not changed:
            return Late(function, value)
        variables = list(changed)

        def given(*arrays: Any) -> Any:
            with Given(dict(zip(variables, arrays, strict=True))):
                return function()

        return Late(given, value, list(changed.values()))


class Given(Tracer):
    """Lets some variables have other values than their own, where a function reads them at a run."""

    records = False

    def __init__(self, arrays: dict[Variable, Any]) -> None:
        self.arrays = arrays

    def __enter__(self) -> Self:
        self._before = tracer_of_context.get()
        try:
            tracing.append(self)
            tracer_of_context.set(self)
        except BaseException:  # a Ctrl-C: nobody will leave the block
            self._leave()
            raise
        return self

    @begins_in_peace
    def __exit__(self, *error: object) -> None:
        try:
            self._leave()
        except BaseException:  # a Ctrl-C
            self._leave()
            raise

    def _leave(self) -> None:
        tracer_of_context.set(self._before)
        if self in tracing:
            tracing.remove(self)

    def table(self, table: KernelTable) -> KernelTable:
        return table

    def read(self, variable: Variable, tensor: Tensor) -> Tensor:
        array = self.arrays.get(variable)
        return tensor if array is None else wrap(array, tensor._table, tensor._shape)

    def known(self, tensor: Tensor) -> Tensor:
        return tensor

    def truth(self, tensor: Tensor) -> bool | None:
        return None

    def fixed(self, tensor: Tensor) -> Any:
        return untraced(tensor)._host()

    def decided(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
        return function(*[untraced(x)._host() for x in tensors])

    def draw(self, op_seed: int | None, values: int) -> Any:
        return generator().reserve(op_seed, values)

    def late(self, function: Callable[[], Any]) -> Any:
        return function()

    @contextmanager
    def eager_scope(self) -> Iterator[Given]:
        yield self
