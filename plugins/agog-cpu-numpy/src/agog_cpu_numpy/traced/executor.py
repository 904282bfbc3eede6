"""Executor: what runs traced functions on the device "cpu"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agog_core.plugin import Compiler
from agog_cpu_numpy.traced.claims import claimed
from agog_cpu_numpy.traced.code import Code, Run
from agog_cpu_numpy.traced.grouping import group
from agog_cpu_numpy.traced.lowering import lower
from agog_cpu_numpy.traced.ordering import with_early_updates
from agog_cpu_numpy.traced.plan import live, plan
from agog_cpu_numpy.traced.simplification import joined_in_place, without_copies

if TYPE_CHECKING:
    from agog_core.tracing.graph import Graph


def executor(graph: Graph, compilers: Sequence[Compiler]) -> Run | None:
    """A function ``run(inputs, variables)`` that runs a graph; None for a graph of several devices.

    Several threads may call it at once: each call takes memory that no other one has at that time.
    """
    if any(node.effect.value == "copy" for node in graph.nodes):
        return None
    code = compiled(graph, compilers)
    if not code.has_memory:
        alone = code.instance()
        alone.summary = code.summary  # type: ignore[attr-defined]
        return alone
    waiting = [code.instance()]

    def run(inputs: Sequence[Any], variables: Sequence[Any]) -> Any:
        try:
            instance = waiting.pop()
        except IndexError:  # every other one is at work
            instance = code.instance()
        try:
            return instance(inputs, variables)
        finally:
            waiting.append(instance)

    run.code = code  # type: ignore[attr-defined]  # for those who want to see it
    run.summary = code.summary  # type: ignore[attr-defined]
    return run


def compiled(graph: Graph, compilers: Sequence[Compiler] = ()) -> Code:
    """The code of a graph."""
    lowered = lower(graph, claimed(graph, compilers))
    wanted = [*lowered.outputs, *(value for _, value in lowered.finals)]
    without_copies(lowered.program.steps)
    steps = live(lowered.program.steps, wanted)
    joined_in_place(steps, wanted)
    homes = {value: lowered.variables[n] for n, value in lowered.finals}
    for compiler in compilers:
        steps = group(steps, wanted, homes, compiler, graph.exact)
    steps = with_early_updates(lowered, steps)
    return Code(lowered, plan(lowered, steps))
