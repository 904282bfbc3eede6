"""Code: the compiled function of a program, with instances that each own their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.compiler import note_written, undone
from agog_cpu_executor.emission import calls
from agog_cpu_executor.emission.emitter import Emitter
from agog_cpu_executor.lowering.graphs import LoweredGraph
from agog_cpu_executor.planning.places import Plan
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import Kind
from agog_cpu_executor.program.steps import GroupStep

Run = Callable[[Any, Any], Any]

_FILE = "<traced by agog>"


class Code:
    """The source of a function, its global names, and what allocates the memory of each instance."""

    def __init__(self, lowered: LoweredGraph, plan: Plan, is_timed: bool = False) -> None:
        emitter = Emitter(lowered, plan, is_timed)
        emitter.emit()
        self.source = emitter.source()
        self.size = plan.size
        self.summary = _summary(plan)
        self._names, self._static = emitter.names, emitter.static
        self._steps, self._first_effect, self._present = emitter.steps, emitter.first_effect, emitter.present
        self._names["note"] = self._note
        self._compiled = compile(self.source, _FILE, "exec")

    @property
    def has_memory(self) -> bool:
        """Whether instances own memory, so that each is run by one thread at a time."""
        return bool(self._static)

    def instance(self) -> Run:
        """A function ``run(inputs, variables)`` with memory of its own."""
        names = dict(self._names)
        memory = np.empty(self.size + layouts.ALIGNMENT, np.uint8)
        memory = memory[-memory.ctypes.data % layouts.ALIGNMENT :]
        for name, make in self._static.items():
            names[name] = make(memory, names)
        exec(self._compiled, names)
        run: Run = names["run"]
        return run

    def _note(self, error: Exception) -> None:
        """Add notes to an error: the op that raised it, and the line of the program."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != _FILE:
            trace = trace.tb_next
        step = None if trace is None else self._steps.get(trace.tb_lineno)
        if trace is not None and step is not None:
            calls.note(error, step)
            if trace.tb_lineno < self._first_effect and step.kind is not Kind.GROUP:
                undone(error)
            elif step in self._present:
                names = {**trace.tb_frame.f_globals, **trace.tb_frame.f_locals}
                given = names["variables"]
                left = [given[n] if name is None else names[name] for n, name in self._present[step]]
                note_written(error, [x if any(x is y for y in given) else np.array(x, order="C") for x in left])


def _summary(plan: Plan) -> str:
    """The counts of steps and the memory of a plan, in a sentence."""
    groups = [step for step in plan.steps if isinstance(step, GroupStep)]
    fused = sum(step.count for step in groups)
    alone = len(plan.steps) - len(groups)
    names = ", ".join(sorted({step.name for step in groups}))
    parts = [f"{alone} step{'' if alone == 1 else 's'} of NumPy"]
    if groups:
        parts.append(f"{fused} more in {len(groups)} group{'' if len(groups) == 1 else 's'} fused by {names}")
    return f"runs as {', '.join(parts)}; {plan.size:,} bytes of memory stay between runs"
