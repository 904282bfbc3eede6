"""Control flow: both ways of a branch, and the body of a loop, each recorded once as a block of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agog_core import nest
from agog_core.ops.array import stack
from agog_core.recording import source_line, tapes_of_context
from agog_core.tensors.tensor import Tensor
from agog_core.tracers import Tracer
from agog_core.tracing.programs.steps import Block, Step
from agog_core.tracing.state.device import real_table, untraced
from agog_core.tracing.state.leaves import Packing, key_of_structure
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.programs.recorder import Recorder


_MOST_BRANCHES = 48  # of Python, one after the other


class _Abandoned(Exception):
    """What was recorded as a block of its own cannot be one."""


class ControlFlow(Tracer):
    """The part of a `Recorder` that opens and closes blocks."""

    script: Sequence[bool]

    def __init__(self) -> None:
        self.count = 0
        self.blocks = [Block()]
        self.state: dict[Variable, Tensor] = {}  # what was read of variables, and holds still
        self.written: set[Variable] = set()
        self.outcomes: list[bool] = []  # of branches of Python outside of blocks

    @property
    def block(self) -> Block:
        """The innermost block."""
        return self.blocks[-1]

    def branch(self, number: int, sample: bool) -> bool:
        """Which way Python goes at a branch."""
        way = sample
        if len(self.outcomes) >= _MOST_BRANCHES:
            recorder: Recorder = self  # type: ignore[assignment]  # a part of it
            recorder.refuse(
                "Python looks at tensors again and again, as in a loop; write it with tf.while_loop on tensors"
            )
        if len(self.blocks) == 1:
            place = len(self.outcomes)
            way = self.script[place] if place < len(self.script) else sample
            self.outcomes.append(way)
        step = Step("branch", "", [number], attributes={"outcome": way}, line=source_line())
        self.block.steps.append(step)
        return way

    def chosen(self, condition: Any, functions: dict[bool, Callable[[], Any]]) -> Any:
        recorder: Recorder = self  # type: ignore[assignment]  # a part of it
        if not recorder.is_mine(condition) or _is_taped():
            return super().chosen(condition, functions)
        blocks, ends = [], []
        try:
            for way in (True, False):
                block, result = self._inside(functions[way], fresh=False)
                blocks.append(block)
                ends.append(result)
            first, second = ends
            if not _are_alike(first, second):
                raise _Abandoned
        except _Abandoned:
            return super().chosen(condition, functions)
        for block, result in zip(blocks, ends, strict=True):
            block.outputs = [recorder.number_of(x) for x in _tensors(result)]
        step = Step("cond", "", [recorder.number_of(condition)], blocks=list(blocks))
        packing = Packing(first)
        samples = [untraced(x) for x in packing.tensors]
        return packing(recorder.add(step, [(x._table, x._array) for x in samples]))

    def iterated(self, condition: Any, step: Any, values: Any, limit: int | None, is_same: Any) -> Any:
        recorder: Recorder = self  # type: ignore[assignment]  # a part of it
        if not _is_of_tensors(values) or not nest.flatten(values) or _is_taped():
            return super().iterated(condition, step, values, limit, is_same)
        packing = Packing(values)
        starts = packing.tensors

        def given() -> Any:
            return packing([recorder.input(x) for x in starts])

        try:
            asks, flag = self._inside(lambda: condition(*given()), fresh=True)
            if not recorder.is_mine(flag):
                raise _Abandoned
            takes, results = self._inside(lambda: step(given(), 1), fresh=True)
            if not _are_alike(values, results):
                raise _Abandoned
        except _Abandoned:
            return super().iterated(condition, step, values, limit, is_same)
        asks.outputs, takes.outputs = [recorder.number_of(flag)], [recorder.number_of(x) for x in _tensors(results)]
        made = Step("while", "", [recorder.number_of(x) for x in starts], blocks=[asks, takes])
        made.attributes = {"limit": limit}
        return packing(recorder.add(made, [(real_table(x), untraced(x)._array) for x in _tensors(results)]))

    def over_rows(self, step: Any, carry: Any, rows: Sequence[Any], carries: bool) -> list[Any]:
        recorder: Recorder = self  # type: ignore[assignment]  # a part of it
        is_of_tensors = _is_of_tensors(list(rows)) and (not carries or _is_of_tensors(carry))
        if len(rows) < 2 or not is_of_tensors or _is_taped():
            return super().over_rows(step, carry, rows, carries)
        packed, carried = Packing(rows[0]), Packing(carry if carries else ())
        sources = recorder.slices.of_rows([[recorder.number_of(x) for x in _tensors(row)] for row in rows])
        if sources is None:
            return super().over_rows(step, carry, rows, carries)

        def once() -> Any:
            first = carried([recorder.input(x) for x in carried.tensors]) if carries else carry
            return step(first, packed([recorder.input(x) for x in packed.tensors]))

        try:
            block, result = self._inside(once, fresh=True)
            if not _is_of_tensors(result) or (carries and not _are_alike(carry, result)):
                raise _Abandoned
        except _Abandoned:
            return super().over_rows(step, carry, rows, carries)
        form = Packing(result)
        block.outputs = [recorder.number_of(x) for x in form.tensors]
        made = Step("rows", "", [*map(recorder.number_of, carried.tensors), *sources.numbers], blocks=[block])
        made.attributes = {"carried": len(carried.tensors), "first": sources.first, "last": sources.last}
        stacks = [stack([untraced(x)] * len(rows)) for x in form.tensors]
        outs = recorder.add(made, [(x._table, x._array) for x in stacks])
        for out in outs:
            recorder.slices.note_rows(recorder.number_of(out))
        return [form([out[place] for out in outs]) for place in range(len(rows))]

    def _inside(self, function: Callable[[], Any], fresh: bool) -> tuple[Block, Any]:
        """Call a function in a block of its own. In a fresh one, variables are read anew."""
        state, written, block = self.state, self.written, Block()
        self.state, self.written = {} if fresh else dict(state), set()
        self.blocks.append(block)
        try:
            result = function()
        finally:
            assert self.blocks.pop() is block
            now = self.written
            self.state, self.written = {v: x for v, x in state.items() if v not in now}, written | now
        return block, result


def _is_taped() -> bool:
    """Whether a tape inside the function looks on: it sees the steps that a sample takes."""
    return any(tape.is_open for tape in tapes_of_context())


def _is_of_tensors(structure: Any) -> bool:
    return all(isinstance(leaf, Tensor) for leaf in nest.flatten(structure))


def _tensors(structure: Any) -> list[Tensor]:
    return Packing(structure).tensors


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two structures have one form, and tensors of equal dtypes and shapes in the same places."""
    if not (_is_of_tensors(one) and _is_of_tensors(other)) or key_of_structure(one) != key_of_structure(other):
        return one is None and other is None
    pairs = zip(_tensors(one), _tensors(other), strict=True)
    return all(real_table(x).dtype is real_table(y).dtype and x._shape == y._shape for x, y in pairs)
