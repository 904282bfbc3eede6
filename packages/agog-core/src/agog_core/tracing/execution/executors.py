"""Executors: what runs a graph: the plugins' executors where one takes it, else `portable`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from agog_core.dispatch.kernels.observation import are_observed, are_steps_enough
from agog_core.dispatch.plugins.compilers import Compiler, compilers_of
from agog_core.dispatch.plugins.executors import Executable, Executor, executors_of
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.errors import PluginWarning, describe_error, describe_value
from agog_core.tracing.execution.portable import Run, portable
from agog_core.tracing.graphs.graph import Graph


def executable(graph: Graph, is_portable: bool = False) -> Run:
    """The function that runs a graph; see `prepared`."""
    return prepared(graph, is_portable).run


def prepared(graph: Graph, is_portable: bool = False) -> Executable:
    """What the first executor that takes a graph makes of it.

    Each kernel is called by itself on several devices, where a graph is to be portable, and while observers want more
    than the steps of what is compiled. `agog_core.tracing.traces.segments` runs graphs that call Python.
    """
    if is_portable:
        return Executable(portable(graph))
    values = [*graph.inputs, *graph.variables.values(), *(value for node in graph.nodes for value in node.outputs)]
    devices = {value.table.device for value in values}
    if len(devices) != 1 or not are_steps_enough():
        return Executable(portable(graph))
    (device,) = devices
    compilers = compilers_of(device.type)
    made = (_prepared(executor, graph, compilers) for executor in executors_of(device.type))
    found = next((each for each in made if each is not None), None)
    if found is not None and are_observed():
        found = None if found.timed is None else replace(found, run=found.timed())
    return Executable(portable(graph)) if found is None else found


def _prepared(executor: Executor, graph: Graph, compilers: Sequence[Compiler]) -> Executable | None:
    """What an executor makes of a graph; None where it declines, or fails, which is warned of."""
    try:
        found = Executable.of(load_reference(executor.prepare)(graph, compilers))
        if found is None or isinstance(found, Executable):
            return found
        why = f"prepare must return a function, an Executable or None; it returned {describe_value(found)}"
    except Exception as error:
        why = describe_error(error)
    warnings.warn(
        f"The executor {executor.name!r} failed, and a traced function runs without it: {why}",
        PluginWarning,
        stacklevel=2,
    )
    return None
