"""Executor: what runs traced functions on the device "cpu"."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from agog_core.compiler import Compiler, Effect, Executable, Graph, Node, unobserved
from agog_cpu_executor.emission.code import Code, Run
from agog_cpu_executor.explanation import explained
from agog_cpu_executor.grouping.copies import joined_in_place, without_copies
from agog_cpu_executor.grouping.partition import group
from agog_cpu_executor.lowering.claims import claimed
from agog_cpu_executor.lowering.graphs import LoweredGraph, lower
from agog_cpu_executor.planning.liveness import live
from agog_cpu_executor.planning.order import with_early_updates
from agog_cpu_executor.planning.places import plan
from agog_cpu_executor.program.steps import Step

# Emitted functions warn of no division by zero and no overflow, as ops do not; NumPy in the user's program does.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"agog_cpu_executor\b")


def prepare(graph: Graph, compilers: Sequence[Compiler]) -> Executable | None:
    """The function that runs a graph, and what is said of it; None for a graph of several devices."""
    if any(node.effect is Effect.COPY for node in graph.nodes):
        return None
    code = compiled(graph, compilers)
    return Executable(
        _running(code),
        code.summary,
        explain=lambda: explain(graph, compilers),
        timed=lambda: _told(_running(compiled(graph, compilers, is_timed=True))),
    )


def _running(code: Code) -> Run:
    """A function that several threads may call at once, each with memory of its own."""
    if not code.has_memory:
        return code.instance()
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

    return run


def _told(run: Run) -> Run:
    """A run that reports its steps, and hides the kernels that they call."""

    def told(inputs: Sequence[Any], variables: Sequence[Any]) -> Any:
        with unobserved():
            return run(inputs, variables)

    return told


def compiled(graph: Graph, compilers: Sequence[Compiler] = (), is_timed: bool = False) -> Code:
    """The code of a graph; with ``is_timed``, it reports each step."""
    lowered = lower(graph, claimed(graph, compilers))
    return Code(lowered, plan(lowered, _grouped(lowered, compilers, graph.exact)), is_timed)


def explain(graph: Graph, compilers: Sequence[Compiler] = ()) -> dict[Node, list[tuple[str, str]]]:
    """For each node of a graph, what runs it, and why that is no compiler's."""
    lowered = lower(graph, claimed(graph, compilers))
    return explained(_grouped(lowered, compilers, graph.exact), lowered.opaque, compilers)


def _grouped(lowered: LoweredGraph, compilers: Sequence[Compiler], is_exact: bool) -> list[Step]:
    """The steps of a program, in the groups that compilers take."""
    wanted = [*lowered.outputs, *(value for _, value in lowered.finals)]
    without_copies(lowered.program.steps)
    steps = live(lowered.program.steps, wanted)
    joined_in_place(steps, wanted)
    homes = {value: lowered.variables[n] for n, value in lowered.finals}
    for compiler in compilers:
        steps = group(steps, wanted, homes, compiler, is_exact)
    return with_early_updates(lowered, steps)
