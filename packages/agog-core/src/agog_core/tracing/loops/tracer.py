"""Tracer: records loops and branches as nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.recording import source_line
from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.errors import limit as refuse
from agog_core.tracing.graphs.graph import Late, Node, Value
from agog_core.tracing.loops.conditional import choose, is_node
from agog_core.tracing.loops.constants import Known
from agog_core.tracing.loops.iterations import Iterations, iterate, may_be_node
from agog_core.tracing.state.device import TracedArray
from agog_core.tracing.state.variables import Failure, State
from agog_core.variables.variable import Variable


class LoopTracer(State):
    """A tracer whose loops may become nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.open_loops: list[Iterations] = []  # the loops that are being recorded, the outermost first
        self.behind: Value | None = None  # what the last loop that takes random numbers has given
        self.knows = Known()
        # Loops of which it is not compared whether there is an iteration, with what does so; and those that need it.
        self.free: list[tuple[Node, list[Node] | None]] = []
        self.compared: list[tuple[Node, list[Node] | None]] = []
        self.unites = False  # whether traces that part at `cond` alone may become one

    def refuse_loops(self) -> None:
        """Let the loops that are being recorded stay as they run."""
        for loop in self.open_loops:
            loop.is_refused = True

    def iterated(self, condition: Any, step: Any, values: Any, limit: int | None, is_same: Any) -> Any:
        if not may_be_node(values, may_be_taped=True):
            return super().iterated(condition, step, values, limit, is_same)
        return iterate(self, condition, step, values, limit, is_same)  # type: ignore[arg-type]  # a `Trace`

    def chosen(self, condition: Any, functions: dict[bool, Callable[[], Any]]) -> Any:
        trace: Any = self
        if not is_node(trace, condition):
            return super().chosen(condition, functions)
        return choose(trace, condition, functions)

    def over_rows(self, step: Any, carry: Any, rows: Sequence[Any], carries: bool) -> list[Any]:
        from agog_core.tracing.loops.rows import over_rows

        if len(rows) < 2 or not may_be_node((carry if carries else (), list(rows)), may_be_taped=not self.open_loops):
            return super().over_rows(step, carry, rows, carries)
        return over_rows(self, step, carry, rows, carries)  # type: ignore[arg-type]  # a `Trace`

    def look(self, array: TracedArray) -> None:
        value = array.value
        if value is None or self.knows.look(value):
            return
        if value not in self.knows.counted:
            refuse("read", source_line(), array)
        self.fixed(wrap(array, self.table(value.table), intern_shape(array.shape)))

    def note_tape(self) -> None:
        self.compared += self.free
        self.free = []

    def compare_loops(self) -> None:
        """Compare of loops whether there is an iteration, where a tape behind them tells what they were given from what
        they have made."""
        for loop, guards in self.compared:
            if guards is None or loop not in self.graph.nodes:
                reason = f"{loop.line}: a loop may give the tensors that it was given, and a tape is made behind it"
                self.failures.append(Failure(reason, is_final=True))
            else:
                place = self.graph.nodes.index(loop)
                self.graph.nodes[place:place] = guards

    def _in_loops(self, variable: Variable, tensor: Tensor) -> Tensor:
        """What a variable's value is within the loops that are being recorded."""
        for loop in self.open_loops:
            tensor = loop.read(variable, tensor)
        return tensor

    def _make_own(self, variable: Variable) -> None:
        """Note that the loops that are being recorded have made a variable for themselves."""
        for loop in self.open_loops:
            loop.own.add(variable)

    def _late(self, late: Late) -> Late:
        """Note what is known late."""
        if self.behind is not None:
            late.put_behind(self.behind)
        self.graph.lates.append(late)
        return late
