"""By ops: runs a graph by ops, so that tapes and traces see each of them."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core.calls.call import call as run_op
from agog_core.shapes import intern_shape
from agog_core.tensors.placement import copy_to_device
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.errors import limit
from agog_core.tracing.execution.kernels import run_kernel
from agog_core.tracing.graphs.graph import Effect, Graph, Node, Value


def by_ops(graph: Graph, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The outputs of a graph for tensors, op by op; TracingError where a node is none."""
    known = dict(zip(graph.inputs, tensors, strict=True))
    for variable, value in graph.variables.items():
        known[value] = variable.value()
    for node in graph.nodes:
        if (node.op is None and node.effect is not Effect.COPY) or node.effect is Effect.UPDATE:
            limit("steps", node.line)
        inputs = [_tensor(value, known) for value in node.inputs]
        known.update(zip(node.outputs, _run(node, inputs), strict=True))
    return [_tensor(value, known) for value in graph.outputs]


def _tensor(value: Value, known: dict[Value, Tensor]) -> Tensor:
    if value.kind == "constant":
        return wrap(value.array, value.table, intern_shape(value.shape))
    return known[value]


def _run(node: Node, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """The outputs of a node, by the op itself."""
    if node.effect is Effect.COPY:
        return [copy_to_device(inputs[0], node.outputs[0].table.device)]
    op, table = node.op, node.table
    assert op is not None
    assert table is not None
    if not inputs:
        results = run_kernel(op, table, [], node.attributes)
        listed = results if isinstance(results, tuple) else (results,)
        return [wrap(each, v.table, intern_shape(v.shape)) for each, v in zip(listed, node.outputs, strict=True)]
    is_plain = op.elementwise and not node.attributes
    outs = op.function(*inputs) if is_plain else run_op(op, *inputs, **node.attributes)
    return outs if isinstance(outs, tuple) else [outs]
