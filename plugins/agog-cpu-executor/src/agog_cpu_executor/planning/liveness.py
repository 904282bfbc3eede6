"""Liveness: dead-step elimination."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agog_cpu_executor.program.kinds import IN_ORDER, RAISING, Kind
from agog_cpu_executor.program.steps import Step, Value


def live(steps: Sequence[Step], wanted: Iterable[Value]) -> list[Step]:
    """The steps that have effects or whose results are used, in their order."""
    needed, kept = {each.root for each in wanted} | set(wanted), []
    for step in reversed(steps):
        if step.kind in IN_ORDER or may_fail(step) or any(each in needed for each in step.outputs):
            kept.append(step)
            for each in step.inputs:
                needed |= {each, each.root}
    return kept[::-1]


def may_fail(step: Step) -> bool:
    """Whether a step raises for some values."""
    if step.kind is Kind.UPDATE:
        return step.node is not None and step.node.is_caught
    return step.kind in RAISING and step.node is not None and step.node.may_fail
