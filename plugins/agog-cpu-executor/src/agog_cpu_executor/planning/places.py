"""Places: where each value of a program lies: a scalar, memory that stays between runs, a variable's, or a new array.

Memory that stays is one piece, in which values that are not wanted at the same time share places. A result takes the
place of an operand that ends with it where NumPy computes element by element.
"""

from __future__ import annotations

from bisect import insort

from agog_cpu_executor.lowering.graphs import LoweredGraph
from agog_cpu_executor.planning.liveness import may_fail
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import (
    ALLOCATING,
    ELEMENTWISE,
    ENDING,
    GIVING_ARRAYS,
    PRODUCTS,
    Home,
    Kind,
    Source,
)
from agog_cpu_executor.program.steps import GroupStep, KernelStep, Step, Value


class Buffer:
    """A part of the memory that stays: its size, and its live range, from the first step to the last."""

    def __init__(self, size: int, birth: int, death: int) -> None:
        self.size, self.birth, self.death = size, birth, death
        self.offset = 0


class Place:
    """The place of a value: its home, and the buffer or the variable of that home."""

    def __init__(
        self, home: Home, buffer: Buffer | None = None, variable: int = -1, replaces: Value | None = None
    ) -> None:
        self.home, self.buffer, self.variable = home, buffer, variable
        self.replaces = replaces  # what lay there and is changed in place


class Plan:
    """The steps in order, the place and the last use of each value that owns memory, and the size of the memory."""

    def __init__(
        self,
        steps: list[Step],
        places: dict[Value, Place],
        last: dict[Value, int],
        size: int,
        holders: dict[int, Value],
    ) -> None:
        self.steps, self.places, self.last, self.size = steps, places, last, size
        self.holders = holders  # what lies in each variable's memory at the end


def plan(lowered: LoweredGraph, steps: list[Step]) -> Plan:
    """Allocate a place for each value."""
    return _Planner(lowered, steps).run()


class _Planner:
    def __init__(self, lowered: LoweredGraph, steps: list[Step]) -> None:
        self.lowered, self.steps = lowered, steps
        self.end = len(steps)
        self.places: dict[Value, Place] = {}
        self.last: dict[Value, int] = {}
        for i, step in enumerate(steps):
            for each in (*step.outputs, *step.inputs):
                self.last[each.root] = i
        finals = [value for _, value in lowered.finals]
        self.escaping = {each.root for each in (*lowered.outputs, *finals)}
        self.last.update(dict.fromkeys(self.escaping, self.end))
        held = [step for step in steps if _keeps_inputs(step)]
        self.escaping |= {each.root for step in held for each in step.inputs if each.array is not None}
        # A function may catch what a step raises, so nothing is written before either.
        holds = [i for i, step in enumerate(steps) if step.kind in ENDING or may_fail(step)]
        self.first_write = 1 + max(holds, default=-1)
        kept = {each.root for step in held for each in step.inputs}
        self.homes = {
            value: n
            for n, value in lowered.finals
            if value.source is Source.STEP and value.base is None and value not in kept
        }
        self.holders = {n: lowered.variables[n] for n, _ in lowered.finals}
        self.buffers: list[Buffer] = []

    def run(self) -> Plan:
        for value in (*self.lowered.inputs, *self.lowered.variables):
            self.places[value] = Place(Home.GIVEN)
        self._spread_escapes()
        for i, step in enumerate(self.steps):
            for k, value in enumerate(step.outputs):
                if value.base is None and value.source is not Source.NUMBER and value not in self.places:
                    self.places[value] = self._place(i, step, k, value)
        size = pack(self.buffers)
        return Plan(self.steps, self.places, self.last, size, self.holders)

    def _spread_escapes(self) -> None:
        """Allocate a result that is written part by part as a new array, before the first part."""
        for i in range(self.end - 1, -1, -1):
            step = self.steps[i]
            is_part = step.kind is Kind.PUT and step.outputs[0] in self.escaping
            if is_part and self._ends_in(i, step, step.inputs[0], step.outputs[0]):
                self.escaping.add(step.inputs[0])

    def _place(self, i: int, step: Step, k: int, value: Value) -> Place:
        if step.kind is Kind.UPDATE:
            return self._updated(i, step, k, value)
        if value.whole is not None:
            whole, _ = value.whole
            if whole not in self.places:
                self.places[whole] = Place(Home.BUFFER, self._buffer(whole.array.nbytes, i, self.last[whole]))
            return Place(Home.PART)
        if value.array.ndim == 0 and step.kind not in GIVING_ARRAYS:
            return Place(Home.SCALAR)
        is_filled = isinstance(step, KernelStep) and step.fill is not None
        if (step.kind in ALLOCATING and not is_filled) or not value.array.nbytes:
            return Place(Home.NEW)
        # An interrupt may come while a kernel fills an array.
        if not is_filled and value in self.homes and self._is_free(i, step, value, self.homes[value]):
            return self._at_home(self.homes[value], value)
        if value in self.escaping:
            before = step.inputs[0] if step.kind is Kind.PUT and self._ends_in(i, step, step.inputs[0], value) else None
            is_new = before is not None and before in self.places and self.places[before].home is Home.NEW
            return Place(Home.NEW, replaces=before if is_new else None)
        if not layouts.is_dense(value.array):
            return Place(Home.NEW)
        if step.kind in PRODUCTS and not value.array.flags.c_contiguous:
            return Place(Home.NEW)
        for each in step.inputs:
            place = self.places.get(each)
            if place is not None and place.home is Home.BUFFER and self._ends_in(i, step, each, value):
                assert place.buffer is not None
                if place.buffer.death == i:  # no other result has taken it
                    place.buffer.death = self.last[value]
                    return Place(Home.BUFFER, place.buffer, replaces=each)
        return Place(Home.BUFFER, self._buffer(value.array.nbytes, i, self.last[value]))

    def _updated(self, i: int, step: Step, k: int, value: Value) -> Place:
        """The place of an updated value: that of the old value if nothing else needs it. A variable's memory takes the
        final value only, so that an interrupt never leaves it with an intermediate one.
        """
        old = step.inputs[k]
        uses = sum(each.root is old.root for each in step.inputs)
        is_last = self.last[old.root] == i and uses == 1 and old.base is None
        n = next((n for n, holder in self.holders.items() if holder is old), None)
        if is_last and n is None and old.step is not None and old.step.kind is Kind.UPDATE:
            return Place(Home.NEW, replaces=old)
        if is_last and n is not None and self.homes.get(value) == n and i >= self.first_write:
            place = self._at_home(n, value)
            place.replaces = old
            return place
        return Place(Home.NEW)

    def _at_home(self, n: int, value: Value) -> Place:
        old, self.holders[n] = self.holders[n], value
        return Place(Home.VARIABLE, variable=n, replaces=old)

    def _is_free(self, i: int, step: Step, value: Value, n: int) -> bool:
        """Whether a step may compute a value in a variable's memory: behind all guards, after the last use of what lies
        there, and by a single write, so that an interrupt leaves the old value or the new one.
        """
        holder, memory = self.holders[n], self.lowered.variables[n].array
        fits = memory.shape == value.array.shape and memory.dtype == value.array.dtype
        if i < self.first_write or not fits or not layouts.are_equal(memory, value.array):
            return False
        if step.kind is Kind.PUT and holder is not step.inputs[0]:
            return False
        last = self.last.get(holder, -1)
        return last < i or self._ends_in(i, step, holder, value)

    def _ends_in(self, i: int, step: Step, x: Value, value: Value) -> bool:
        """Whether a step is the last user of an operand, and may write its result over it."""
        if x.base is not None or self.last.get(x) != i or x.array is None:
            return False
        if any(each.root is x and each is not x for each in step.inputs):
            return False
        if step.kind is Kind.PUT:
            return x is step.inputs[0] and sum(each is x for each in step.inputs) == 1
        if isinstance(step, GroupStep):
            return (value, x) in step.overwrites
        same = x.array.shape == value.array.shape and x.array.dtype == value.array.dtype
        return step.kind in ELEMENTWISE and same and layouts.are_equal(x.array, value.array)

    def _buffer(self, size: int, birth: int, death: int) -> Buffer:
        # With a gap behind it: NumPy before 2.3 takes arrays that touch for ones that overlap, and computes other bits.
        buffer = Buffer((size // layouts.ALIGNMENT + 1) * layouts.ALIGNMENT, birth, death)
        self.buffers.append(buffer)
        return buffer


def _keeps_inputs(step: Step) -> bool:
    """Whether a step may keep references to its inputs."""
    has_reserve = isinstance(step, KernelStep) and step.node.op is not None and bool(step.node.op.reserve)
    return step.kind is Kind.HOST or has_reserve


def pack(buffers: list[Buffer]) -> int:
    """Choose offsets, large buffers first, so that no two live ones overlap; the size of all."""
    placed: list[Buffer] = []  # by their offsets
    for buffer in sorted(buffers, key=lambda each: -each.size):
        offset = 0
        for each in placed:
            if each.birth <= buffer.death and buffer.birth <= each.death:
                if each.offset - offset >= buffer.size:
                    break
                offset = max(offset, each.offset + each.size)
        buffer.offset = offset
        insort(placed, buffer, key=lambda each: each.offset)
    return max((each.offset + each.size for each in buffers), default=0)
