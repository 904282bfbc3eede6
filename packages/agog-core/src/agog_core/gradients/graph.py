"""Graph: the ops of a tape as nodes."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter, signature
from typing import Any, NamedTuple

from agog_core.dispatch.op import Op, registry
from agog_core.dtypes import DType
from agog_core.gradients.inspection import calls_of, op_of
from agog_core.nest import flatten
from agog_core.observers.graph_node import GraphNode, UniqueNames, variable_node
from agog_core.recording import Id, Recording
from agog_core.shapes import TensorShape
from agog_core.tensors.tensor import Tensor


def nodes_of_tape(tape: Recording) -> list[GraphNode]:
    """The ops of a tape as nodes, each after those it takes from, and the variables and tensors that they begin with.

    A tape keeps no more than gradients need. The ops' rules tell of most outputs, but some are not known.

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


def _node(name: str, op: str, inputs: tuple[str, ...], outputs: list[_Known]) -> GraphNode:
    shapes = [output.shape for output in outputs if output.shape is not None]
    dtype = next((output.dtype for output in outputs if output.dtype is not None), None)
    device = next((output.device for output in outputs if output.device is not None), "")
    return GraphNode(name, op, inputs, tuple(shapes) if len(shapes) == len(outputs) else (), dtype, device)


class _Known(NamedTuple):
    shape: TensorShape | None = None
    dtype: DType | None = None
    device: str | None = None


class _Call(NamedTuple):
    """The record of a call: its outputs, its watched inputs, and the vjps' values by name."""

    op: Op
    outs: tuple[Id, ...]
    sources: dict[int, Id]
    values: dict[str, Any]


def _known(tape: Recording) -> dict[Id, _Known]:
    """What is known of tensors: the tape keeps variables, and what vjps take; the ops' own rules tell of outputs."""
    known: dict[Id, _Known] = {}
    calls = list(_calls(tape))
    for call in calls:
        for position, source in call.sources.items():
            if not call.op.variadic and f"{call.op.inputs[position]}_shape" in call.values:
                known[source] = _Known(TensorShape(call.values[f"{call.op.inputs[position]}_shape"]))
    for record in tape.records:
        for value in flatten(list(record[3])):
            if type(value) is Tensor and hasattr(value, "_id"):
                known[value._id] = _Known(value.shape, value.dtype, value.device)
    for variable, ids in tape.variables.values():
        known.update(dict.fromkeys(ids, _Known(variable.shape, variable.dtype, variable.device)))
    for call in calls:
        for out, inferred in zip(call.outs, _outputs(call, known), strict=True):
            facts: Any = zip(known.get(out, _Known()), inferred, strict=True)
            known[out] = _Known(*(by_rule if kept is None else kept for kept, by_rule in facts))
    return known


def _calls(tape: Recording) -> Iterator[_Call]:
    """The calls of ops; the records of a call lie side by side."""
    call: _Call | None = None
    for out, source, vjp, saved in tape.records:
        outs, sources, kept = (out, (source,), saved) if out is not None else (*saved[:2], saved[2:])
        outs = outs if isinstance(outs, tuple) else (outs,)
        shape = None
        if vjp.__name__ == "_vjp_summed":
            vjp, shape, kept = kept[0], kept[1], kept[2:]
        op = registry.get(op_of(vjp, kept))
        if op is None:  # a function with a gradient of its own
            continue
        if call is None or call.outs != outs:
            if call is not None:
                yield call
            call = _Call(op, outs, {}, {})
        edge = next(edge for edge in op.edges if edge.vjp is vjp)
        positions = range(len(sources)) if edge.positions is None else edge.positions
        call.sources.update((p, i) for p, i in zip(positions, sources, strict=True) if i is not None)
        call.values.update(zip(edge.saves, kept, strict=True))
        if shape is not None:
            call.values[f"{op.inputs[positions[0]]}_shape"] = shape
    if call is not None:
        yield call


def _outputs(call: _Call, known: dict[Id, _Known]) -> list[_Known]:
    """The outputs of a call by the op's rules: shapes where the tape keeps what the rule takes."""
    op, sources = call.op, {position: known.get(i, _Known()) for position, i in call.sources.items()}
    shapes: list[Any] = _output_shapes(call, sources) or [None] * len(call.outs)
    dtype = op.dtype if isinstance(op.dtype, DType) else None
    if op.dtype is None:
        dtype = next((each.dtype for position, each in sources.items() if op.variadic or position in op.alike), None)
    # A kernel's result is where its inputs are; only copies go elsewhere.
    device = None if op.name == "copy" else next((each.device for each in sources.values() if each.device), None)
    return [_Known(shape, dtype, device) for shape in shapes]


def _output_shapes(call: _Call, sources: dict[int, _Known]) -> list[TensorShape] | None:
    inputs = call.values.get("shapes") if call.op.variadic else _input_shapes(call, sources)
    if inputs is None or None in inputs:
        return None
    taken = list(signature(call.op.shape).parameters.values())
    by_name = (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)
    attributes = [each.name for n, each in enumerate(taken) if each.kind in by_name or n >= len(inputs)]
    if not call.values.keys() >= set(attributes):  # also where the rule takes any attribute
        return None
    results = call.op.shape(*inputs, **{name: call.values[name] for name in attributes})
    return [TensorShape(shape) for shape in (results if isinstance(results, list) else [results])]


def _input_shapes(call: _Call, sources: dict[int, _Known]) -> list[Any]:
    shapes = []
    for position, name in enumerate(call.op.inputs):
        value, of_source = call.values.get(name), sources.get(position, _Known()).shape
        kept = value._shape if type(value) is Tensor else call.values.get(f"{name}_shape")
        if kept is None and of_source is not None and of_source.is_fully_defined():
            kept = tuple(of_source.as_list())
        shapes.append(kept)
    return shapes
