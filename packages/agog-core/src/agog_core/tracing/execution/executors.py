"""Executors: what runs a graph: the plugins' executors where one takes it, else `portable`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from agog_core.dispatch.kernels.observation import are_observed, are_steps_enough
from agog_core.dispatch.plugins.compilers import Compiler, compilers_of
from agog_core.dispatch.plugins.executors import Executor, executors_of
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.errors import PluginWarning, describe_error, describe_value
from agog_core.tracing.execution.portable import Run, portable
from agog_core.tracing.graphs.graph import Graph


def executable(graph: Graph, is_portable: bool = False) -> Run:
    """A function that runs a graph: what the first executor that takes it makes of it; on several devices, one that
    calls each kernel. So does it while somebody observes kernels, unless all who do take the steps of what is compiled
    as well, and the executor can tell them; and where it is to be portable. A graph that calls Python has other ones,
    see `agog_core.tracing.traces.segments`.
    """
    if is_portable:
        return portable(graph)
    values = [*graph.inputs, *graph.variables.values(), *(value for node in graph.nodes for value in node.outputs)]
    devices = {value.table.device for value in values}
    if len(devices) != 1 or not are_steps_enough():
        return portable(graph)
    (device,) = devices
    compilers = compilers_of(device.type)
    prepared = (_prepared(executor, graph, compilers) for executor in executors_of(device.type))
    run: Run | None = next((run for run in prepared if run is not None), None)
    if run is not None and are_observed():
        timed = getattr(run, "timed", None)
        run = None if timed is None else timed()
    return portable(graph) if run is None else run


def _prepared(executor: Executor, graph: Graph, compilers: Sequence[Compiler]) -> Run | None:
    """What an executor makes of a graph; None where it leaves it to others, or fails, which is warned of."""
    try:
        run: Run | None = load_reference(executor.prepare)(graph, compilers)
        if run is None or callable(run):
            return run
        why = f"prepare must return a function or None; it returned {describe_value(run)}"
    except Exception as error:
        why = describe_error(error)
    warnings.warn(
        f"The executor {executor.name!r} failed, and a traced function runs without it: {why}",
        PluginWarning,
        stacklevel=2,
    )
    return None
