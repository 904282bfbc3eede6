"""Order: the steps of updates run as early as possible, which frees the memory of gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agog_cpu_executor.lowering.graphs import LoweredGraph
from agog_cpu_executor.program.kinds import BEFORE_WRITES, NUMBERS
from agog_cpu_executor.program.steps import Step, Value


def with_early_updates(lowered: LoweredGraph, steps: Sequence[Step]) -> list[Step]:
    """Move each step that only updates variables up to its inputs and the last reader of the old values."""
    old = {value: lowered.variables[n] for n, value in lowered.finals}
    made = {value: step for step in steps for value in step.outputs}
    users: dict[Value, set[Step]] = {}
    for step in steps:
        for value in step.inputs:
            for each in (value, value.root):
                users.setdefault(each, set()).add(step)
    last = max((n for n, step in enumerate(steps) if step.kind in BEFORE_WRITES), default=-1)
    behind = steps[last + 1 :]
    numbers = [step for step in behind if step.kind in NUMBERS]
    order = [*steps[: last + 1], *numbers, *[step for step in behind if step.kind not in NUMBERS]]
    moved = {*steps[: last + 1], *numbers}
    kept = {value.root for value in lowered.outputs}
    for step in reversed(behind):
        if step in moved or not any(value in old for value in step.outputs):
            continue
        part = _part(step, made, users, kept) - moved
        moved |= part
        needed = {made.get(value.root) for each in part for value in each.inputs}
        needed |= {made.get(value) for each in part for value in each.inputs}
        for value in {value for each in part for value in each.outputs if value in old}:
            needed |= users.get(old[value], set())
        place = {each: n for n, each in enumerate(order)}
        start = 1 + max([last, *[place[each] for each in needed - part if each is not None]])
        rest = order[start:]
        order[start:] = [each for each in rest if each in part] + [each for each in rest if each not in part]
    return order


def _part(last: Step, made: Mapping[Value, Step], users: Mapping[Value, set[Step]], kept: set[Value]) -> set[Step]:
    """A step, and the steps whose results only it uses."""
    part, todo = {last}, [last]
    while todo:
        for value in todo.pop().inputs:
            step = made.get(value)
            if step is None or step in part or step.kind in BEFORE_WRITES:
                continue
            if not any(each in kept or each.root in kept or users.get(each, set()) - part for each in step.outputs):
                part.add(step)
                todo.append(step)
    return part
