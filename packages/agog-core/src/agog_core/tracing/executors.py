"""Executors: what runs a graph, which is the backend's own function where it has one, or else `portable`."""

from __future__ import annotations

from agog_core.dispatch.compilers import compilers_of
from agog_core.dispatch.observation import are_observed
from agog_core.dispatch.reference import load_reference
from agog_core.tracing.execute import Run, portable
from agog_core.tracing.graph import Graph


def executable(graph: Graph) -> Run:
    """A function that runs a graph; while somebody observes kernels, and on several devices, one that calls each."""
    values = [*graph.inputs, *graph.variables.values(), *(value for node in graph.nodes for value in node.outputs)]
    devices = {value.table.device for value in values}
    if len(devices) != 1 or are_observed():
        return portable(graph)
    (device,) = devices
    executor = load_reference(device.backend.executor)
    run: Run | None = None if executor is None else executor(graph, compilers_of(device.type))
    return portable(graph) if run is None else run
