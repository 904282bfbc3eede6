"""Translation: the nodes of traces, as nodes of an ONNX graph, by the rules of their ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core.errors import UnimplementedError
from agog_core.tracing.graphs.graph import WRITES, Effect, Graph, Node, Value
from agog_core.variables.variable import Variable
from agog_export.refusal import Refusal
from agog_export.rules import REASONS, RULES
from agog_export.sizes import Size, fitted
from agog_export.traces import Traces
from agog_export.writer import Array, Operand, Writer

_HOST = "it computes on the host with a function of Python, or Python goes another way by a value"
# Why nodes that are no ops cannot be exported.
_EFFECTS = {
    Effect.HOST: _HOST,
    Effect.PYTHON: "it calls a function of the program",
    Effect.READ: "it calls a function of the program",
    Effect.RANDOM: "it takes random numbers, which no other runtime draws as agog does; export what runs in inference",
    Effect.GUARD: (
        "Python goes another way by a value of a tensor, and a model has one way; choose with tf.where, or make the "
        "condition a Python value"
    ),
    Effect.LOOP: "it is a loop or a branch, for which there is no rule",
    **dict.fromkeys(WRITES, "it gives a variable a new value, and a model's weights are constants"),
}
# Constants of at most so many elements, which are numbers that depend on sizes, are computed.
_FEW = 64


class Translation:
    """A graph of traces that is translated.

    Args:
        traces: the traces.
        op: writes the ONNX graph.
    """

    def __init__(self, traces: Traces, op: Writer) -> None:
        self._traces, self._op = traces, op
        self._operands: dict[Value, Operand] = {}
        self._unread: dict[Value, Variable] = {}

    def enter(self, graph: Graph, names: Sequence[str]) -> list[Operand]:
        """The inputs of the graph; variables become weights when a node reads them."""
        for value, name in zip(graph.inputs, names, strict=True):
            self._operands[value] = self._op.input(name, value.table.dtype.numpy_dtype, self._traces.shape(value))
        self._unread = {value: variable for variable, value in graph.variables.items()}
        return [self._operands[value] for value in graph.inputs]

    def run(self, graphs: Sequence[Graph]) -> list[Operand]:
        """Translate the nodes; returns the outputs."""
        for nodes in zip(*(graph.nodes for graph in graphs), strict=True):
            self._translate(nodes)
        return [self._operand(value) for value in graphs[0].outputs]

    def shape(self, value: Value) -> tuple[int | Size, ...]:
        """The shape of a value of the first graph."""
        return self._traces.shape(value)

    def _translate(self, nodes: Sequence[Node]) -> None:
        node = nodes[0]
        if node.effect is Effect.GUARD and isinstance(node.outcome, tuple):
            self._see_that_values_decide(nodes)
            return
        if node.effect is Effect.HOST and not node.outputs:  # a check of values, such as that they are finite
            return
        try:
            if node.effect is Effect.COPY:
                results: Any = self._operand(node.inputs[0])
            elif node.effect in _EFFECTS or node.op is None:
                raise Refusal(_EFFECTS[node.effect])
            else:
                results = self._by_rule(nodes)
        except Refusal as reason:
            what = node.effect.value if node.op is None else node.op.name
            raise UnimplementedError(f"tf.export.onnx: {what} at {node.line}: {reason}.") from None
        results = results if isinstance(results, (list, tuple)) else [results]
        for value, result in zip(node.outputs, results, strict=False):
            if result is not None:
                self._operands[value] = _like(result, value, self._traces.shape(value))

    def _by_rule(self, nodes: Sequence[Node]) -> Any:
        assert nodes[0].op is not None
        name = nodes[0].op.name
        rule = RULES.get(name)
        if rule is None:
            raise Refusal(REASONS.get(name, "there is no rule for it"))
        self._op.outputs = [_described(value, self._traces.shape(value)) for value in nodes[0].outputs]
        attributes = self._traces.attributes([node.attributes for node in nodes])
        return rule(self._op, *[self._operand(value) for value in nodes[0].inputs], **attributes)

    def _see_that_values_decide(self, nodes: Sequence[Node]) -> None:
        """A size that values decide must differ between traces, or what follows would take it for a fixed one."""
        node = nodes[0]
        if len(nodes) > 1 and len({tuple(each.outcome) for each in nodes}) == 1:
            raise UnimplementedError(
                f"tf.export.onnx: {node.line}: values decide a shape here, which was {node.outcome} for all made-up "
                "arguments; what follows cannot be told from what has that size always. Use tf.where in place of masks."
            )

    def _operand(self, value: Value) -> Operand:
        found = self._operands.get(value)
        if found is None:
            found = self._operands[value] = self._weight(value) if value in self._unread else self._constant(value)
        return found

    def _weight(self, value: Value) -> Operand:
        variable = self._unread[value]
        return self._op.constant(np.asarray(variable.numpy()), variable.name.removesuffix(":0"))

    def _constant(self, value: Value) -> Operand:
        """A constant, or what it depends on."""
        arrays, shape = self._traces.arrays(value), self._traces.shape(value)
        first = arrays[0]
        if any(isinstance(size, Size) for size in shape):
            return self._grown(arrays, shape)
        if all(np.array_equal(first, each, equal_nan=first.dtype.kind in "fc") for each in arrays[1:]):
            return self._op.constant(first)
        if first.size > _FEW or any((each != np.rint(each)).any() for each in arrays):
            raise Refusal("a constant among its inputs depends on unknown sizes in a way that is no line of them")
        symbols = self._traces.symbols
        numbers = [fitted([int(n) for n in each], symbols) for each in zip(*(x.flat for x in arrays), strict=True)]
        vector = self._op.cast(self._op.sizes(numbers), first.dtype)
        return _described(value, shape, self._op.Reshape(vector, list(first.shape)).name)

    def _grown(self, arrays: Sequence[Array], shape: Sequence[int | Size]) -> Operand:
        """A constant of an unknown size: the same along it, or an arithmetic progression."""
        first = arrays[0]
        axes = [axis for axis, size in enumerate(shape) if isinstance(size, Size)]
        one = first[tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(first.ndim))]
        if all(np.array_equal(np.broadcast_to(one, each.shape), each) for each in arrays):
            found = self._op.Expand(one, list(shape))
        elif len(axes) == 1 and (step := _step(arrays, axes[0])) is not None:
            count = self._op.Squeeze(self._op.sizes([shape[axes[0]]]), [0])
            places = self._op.cast(self._op.Range(np.int64(0), count, np.int64(1)), first.dtype)
            spread = self._op.Reshape(places, [-1 if axis in axes else 1 for axis in range(first.ndim)])
            found = self._op.Add(self._op.Mul(spread, step), one)
        else:
            raise Refusal("a constant among its inputs is another one for other sizes, and not the same along them")
        return Operand(found.name, first.dtype, tuple(shape))


def _step(arrays: Sequence[Array], axis: int) -> Array | None:
    """The difference of neighbours, where all arrays are one progression along an axis; else None."""
    longest = max(arrays, key=lambda each: each.shape[axis])
    if longest.dtype.kind not in "iuf":
        return None
    rows = np.moveaxis(longest, axis, 0)
    steps = np.arange(len(rows), dtype=rows.dtype).reshape(-1, *[1] * (rows.ndim - 1)) * (rows[1] - rows[0])
    progression = np.moveaxis(rows[0] + steps, 0, axis)
    of_all = [progression.take(range(each.shape[axis]), axis) for each in arrays]
    is_one = all(np.array_equal(part, each) for part, each in zip(of_all, arrays, strict=True))
    return np.expand_dims(rows[1] - rows[0], axis) if is_one else None


def _described(value: Value, shape: tuple[int | Size, ...], name: str = "") -> Operand:
    return Operand(name, value.table.dtype.numpy_dtype, shape)


def _like(result: Operand, value: Value, shape: tuple[int | Size, ...]) -> Operand:
    """A result of a rule, with the dtype and shape that the op's rules have."""
    return Operand(result.name, value.table.dtype.numpy_dtype, shape, result.array)
