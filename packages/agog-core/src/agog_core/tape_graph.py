"""The graph of a tape: its ops as nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from agog_core.dtypes import DType
from agog_core.graph_node import GraphNode, UniqueNames, variable_node
from agog_core.inspection import calls_of, op_of
from agog_core.nest import flatten
from agog_core.op import registry
from agog_core.recording import Id, Record, Recording
from agog_core.shapes import TensorShape
from agog_core.tensor import Tensor


def nodes_of_tape(tape: Recording) -> list[GraphNode]:
    """The ops of a tape as nodes, and the variables and tensors that they begin with.

    A tape keeps no more than gradients need, so the shapes, dtypes and devices of some nodes are not known.

    Args:
        tape: the tape. One that is not persistent and keeps no source lines must not have been used.

    Returns:
        The nodes, each after those that it takes from.

    >>> import agog_core as ag
    >>> x = ag.constant([1.0, 2.0])
    >>> with ag.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = ag.exp(x * x)
    >>> [(node.name, node.inputs) for node in nodes_of_tape(tape)][1:]
    [('multiply', ('tensor',)), ('exp', ('multiply',))]
    """
    unique, known = UniqueNames(), _known(tape)
    variables = {i: (variable, ids) for variable, ids in tape.variables.values() for i in ids}
    nodes: list[GraphNode] = []
    names: dict[Id, str] = {}

    def begin(source: Id) -> None:
        if source in variables:
            variable, ids = variables[source]
            nodes.append(variable_node(variable, unique(variable.name.partition(":")[0])))
        else:
            ids, name = [source], unique("tensor")
            nodes.append(_node(name, "Placeholder", (), [known.get(source, _Known())]))
        names.update(dict.fromkeys(ids, nodes[-1].name))

    for call in calls_of(tape):
        for source in call.sources:
            if source not in names:
                begin(source)
        inputs = tuple(dict.fromkeys(names[source] for source in call.sources))
        node = _node(unique(call.op.rpartition(".")[2]), call.op, inputs, [known.get(i, _Known()) for i in call.outs])
        nodes.append(node._replace(attributes={"line": call.line}) if call.line else node)
        names.update(dict.fromkeys(call.outs, node.name))
    return nodes


class _Known(NamedTuple):
    shape: TensorShape | None = None
    dtype: DType | None = None
    device: str = ""


def _node(name: str, op: str, inputs: tuple[str, ...], outputs: list[_Known]) -> GraphNode:
    shapes = [output.shape for output in outputs if output.shape is not None]
    dtype = next((output.dtype for output in outputs if output.dtype is not None), None)
    device = next((output.device for output in outputs if output.device), "")
    return GraphNode(name, op, inputs, tuple(shapes) if len(shapes) == len(outputs) else (), dtype, device)


def _known(tape: Recording) -> dict[Id, _Known]:
    """What a tape knows of tensors: it keeps variables, and what the ops' vjps take."""
    known: dict[Id, _Known] = {}
    for record in tape.records:
        for i, shape in _shapes_of_sources(record):
            known.setdefault(i, _Known(TensorShape(shape)))
    for record in tape.records:
        for value in flatten(list(record[3])):
            if type(value) is Tensor and hasattr(value, "_id"):
                known[value._id] = _Known(value.shape, value.dtype, value.device)
    for variable, ids in tape.variables.values():
        known.update(dict.fromkeys(ids, _Known(variable.shape, variable.dtype, variable.device)))
    return known


def _shapes_of_sources(record: Record) -> Iterator[tuple[Id, Any]]:
    """The shapes of inputs that a record keeps in place of the inputs."""
    out, source, vjp, saved = record
    sources: Any = (source,)
    if vjp.__name__ == "_vjp_summed" and source is not None:
        yield source, saved[1]
        return
    if out is None:
        sources, saved = saved[1], saved[2:]
    op = registry.get(op_of(vjp, saved))
    for edge in () if op is None else op.edges:
        if edge.vjp is vjp and edge.positions is not None:
            inputs = {f"{op.inputs[p]}_shape": i for p, i in zip(edge.positions, sources, strict=True)}  # type: ignore[union-attr]
            for name, value in zip(edge.saves, saved, strict=True):
                if inputs.get(name) is not None:
                    yield inputs[name], value
