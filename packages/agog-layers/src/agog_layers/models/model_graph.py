"""Model graph: the calls of a model's layers as nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import Variable, nest
from agog_core.observers.graph_node import GraphNode, UniqueNames, variable_node
from agog_layers.layer.layer import Layer
from agog_layers.layer.symbolic import Symbolic
from agog_layers.models.graph import Graph
from agog_layers.models.input import InputLayer
from agog_layers.models.summary import any_batch
from agog_layers.naming.names import snake_case

__all__ = ["nodes_of_model"]


def nodes_of_model(model: Any) -> list[GraphNode]:
    """The calls of a model's layers, and the inputs and variables that they take, as nodes in order.

    Models inside are groups, and so are layers with their variables. A custom ``call`` alone knows the edges between
    layers: its layers are not connected. The graph of a tape is, then.

    >>> from agog_layers import Dense, Sequential
    >>> model = Sequential([Dense(3, input_shape=(4,), name="a"), Dense(1, use_bias=False, name="b")])
    >>> [(node.name, node.inputs) for node in nodes_of_model(model) if node.op == "Dense"]
    [('a', ('a_input', 'a/kernel', 'a/bias')), ('b', ('a', 'b/kernel'))]
    """
    nodes = _Nodes()
    nodes.add_model(model, "", None)
    return nodes.nodes


class _Nodes:
    """The nodes so far, and the names of those of variables."""

    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self._unique = UniqueNames()
        self._variables: dict[int, str] = {}

    def _add(self, name: str, op: str, *rest: Any) -> str:
        self.nodes.append(GraphNode(self._unique(name), op, *rest))
        return self.nodes[-1].name

    def add_model(self, model: Any, prefix: str, sources: Sequence[str] | None) -> list[str]:
        """The names of the nodes that the outputs come from; the inputs are nodes too if there are no sources."""
        graph, steps = _graph_of(model), getattr(model, "_layer_calls", None)
        if graph is not None:
            return self._add_graph(graph, prefix, sources)
        if steps is not None:
            outs = [self._add(f"{prefix}input", "Placeholder")] if sources is None else list(sources)
            for step, _ in steps:
                outs = self._add_step(step, prefix, outs)
            return outs
        self._add_variables(model._variables_in_attributes(), prefix)
        outs = [out for layer in model.layers for out in self._add_call(layer, prefix, ())]
        return outs[-1:]

    def _add_graph(self, graph: Graph, prefix: str, sources: Sequence[str] | None) -> list[str]:
        symbols = graph.input_symbols
        if sources is None or len(sources) != len(symbols):
            sources = [self._add(f"{prefix}{s.name}", "Placeholder", (), (s.shape,), s.dtype) for s in symbols]
        made = {id(symbol): source for symbol, source in zip(symbols, sources, strict=True)}
        for node in graph.nodes:
            if not isinstance(node.layer, InputLayer):
                inputs = [made[id(symbol)] for symbol in node.parents()]
                results: list[Symbolic] = nest.flatten(node.outputs)
                outs = self._add_call(node.layer, prefix, inputs, results)
                outs += outs[-1:] * (len(results) - len(outs))
                made.update((id(symbol), out) for symbol, out in zip(results, outs, strict=False))
        return [made[id(symbol)] for symbol in graph.output_symbols]

    def _add_step(self, step: Any, prefix: str, inputs: Sequence[str]) -> list[str]:
        if isinstance(step, Layer):
            return self._add_call(step, prefix, inputs)
        name = getattr(step, "__name__", type(step).__name__).strip("<>")
        return [self._add(f"{prefix}{name}", name, tuple(inputs))]

    def _add_call(
        self, layer: Layer, prefix: str, inputs: Sequence[str], symbols: Sequence[Symbolic] = ()
    ) -> list[str]:
        name = f"{prefix}{layer._name or snake_case(type(layer).__name__)}"
        if hasattr(layer, "__graph_nodes__"):  # a model
            return self.add_model(layer, f"{self._unique(name)}/", inputs)
        variables = self._add_variables(layer.weights, f"{name}/")
        shapes = tuple(symbol.shape for symbol in symbols)
        if not symbols and layer._called_shape is not None:
            shapes = tuple(any_batch(shape) for shape in nest.flatten(layer._called_shape) if shape is not None)
        dtype = symbols[0].dtype if symbols else layer.dtype
        return [self._add(name, type(layer).__name__, (*dict.fromkeys(inputs), *variables), shapes, dtype)]

    def _add_variables(self, variables: Sequence[Variable], prefix: str) -> list[str]:
        for variable in variables:
            if id(variable) not in self._variables:
                name = self._unique(prefix + variable.name.rpartition("/")[2].partition(":")[0])
                self.nodes.append(variable_node(variable, name))
                self._variables[id(variable)] = name
        return [self._variables[id(variable)] for variable in variables]


def _graph_of(model: Any) -> Graph | None:
    """The calls between a model's inputs and outputs, if they are known."""
    graph: Graph | None = model._graph
    if graph is not None or not (model._input_symbols and model._output_symbols):
        return graph
    return Graph(model.name, model._input_symbols, model._output_symbols)
