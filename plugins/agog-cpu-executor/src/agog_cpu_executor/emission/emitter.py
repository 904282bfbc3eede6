"""Emitter: the source of one flat Python function for a planned program."""

from __future__ import annotations

from collections.abc import Sequence

from agog_cpu_executor.emission.steps import PLAIN, StepWriter
from agog_cpu_executor.emission.writer import listed
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.description import shown
from agog_cpu_executor.program.kinds import Home
from agog_cpu_executor.program.steps import CallStep, Step, Value

_LARGE = 1 << 16  # bytes: a larger array is deleted right after its last use


class Emitter(StepWriter):
    """Writes the function."""

    def emit(self) -> None:
        """Write all lines."""
        self.lines += ["def run(inputs, variables):", "    try:"]
        for letter, source, values in (
            ("i", "inputs", self.lowered.inputs),
            ("v", "variables", self.lowered.variables),
        ):
            self.arrays.update((value, f"{letter}{n}") for n, value in enumerate(values))
            if values:
                self.line(f"[{', '.join(f'{letter}{n}' for n in range(len(values)))}] = {source}")
        self.users: dict[Value, list[Step]] = {}
        for step in self.plan.steps:
            for value in step.inputs:
                self.users.setdefault(value, []).append(step)
        ends: dict[int, list[Value]] = {}
        for value, i in self.plan.last.items():
            if value in self.plan.places and self.plan.places[value].home is Home.NEW and value.array.nbytes >= _LARGE:
                ends.setdefault(i, []).append(value)
        if self.is_timed:
            self.line("t = clock()")
        for i, step in enumerate(self.plan.steps):
            self.step, before = step, len(self.lines)
            if isinstance(step, CallStep) and step.node.leaves_writes:
                self.present[step] = self._written_before(step, i)
            self.write(step)
            self._forget(ends.get(i, ()))
            if self.is_timed and len(self.lines) > before:
                self.line(f"t = tell({self.known(shown(step))}, t)")
        self.step = None
        self._return()
        self.lines += ["    except Exception as error:", "        note(error)", "        raise"]

    def _written_before(self, step: CallStep, i: int) -> list[tuple[int, str | None]]:
        """The name of each written variable's value before a step; None where it has not changed."""
        found: dict[int, Value] = {}
        for node, n, value in self.lowered.writes:
            if node.turn >= step.node.turn:
                break
            found[n] = value
        alive = {n: value for n, value in found.items() if self.plan.last.get(value.root, -1) >= i}
        names = {n: self.arrays.get(value) or self.scalars.get(value) for n, value in alive.items()}
        return [(n, names.get(n)) for n, _ in self.lowered.finals]

    def _forget(self, ended: Sequence[Value]) -> None:
        """Delete the names of dead values and of their views, but for memory that a later value takes over."""
        if ended:
            gone = [value for value in self.arrays if value.root in ended]
            names = dict.fromkeys(self.arrays.pop(value) for value in gone)
            kept = {*self.names, *self.arrays.values()}
            if free := [name for name in names if name not in kept]:
                self.line(f"del {', '.join(free)}")

    def _return(self) -> None:
        finals: list[str] = []
        taken: set[Value] = set()
        outputs = {value.root for value in self.lowered.outputs}
        for n, value in self.lowered.finals:
            place = self.plan.places.get(value)
            is_free = self.plan.last.get(self.lowered.variables[n], -1) < len(self.plan.steps)
            if place is not None and place.home is Home.SCALAR and is_free:
                self.line(f"v{n}[()] = {self.scalars[value]}")
                finals.append(f"v{n}")
            elif place is not None and place.home is Home.VARIABLE and place.variable == n:
                finals.append(f"v{n}")
            elif place is not None and place.home is Home.NEW and value not in outputs | taken:
                finals.append(self.array(value))
            else:
                finals.append(f"array({self.operand(value)}, order='C')")
            taken.add(value)
        given = []
        for value in self.lowered.outputs:
            place = self.plan.places.get(value.root)
            if place is not None and place.home is Home.SCALAR:
                is_plain = value in self.scalars and value.array.dtype in PLAIN  # whose scalars take a shorter way
                given.append(f"{self.operand(value)}.__array__()" if is_plain else f"asarray({self.operand(value)})")
            elif place is not None and place.home is Home.NEW:
                given.append(self.array(value))
            else:
                copy = "array" if layouts.is_dense(value.array) else self.known(layouts.copy)
                given.append(f"{copy}({self.array(value)})")
        self.line(f"return ({listed(given)}), ({listed(finals)})")
