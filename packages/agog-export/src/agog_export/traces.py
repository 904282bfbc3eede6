"""Traces: a function recorded several times, with other sizes in the place of unknown ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from agog_core import Tensor, TensorSpec, constant, nest
from agog_core.dtypes import string
from agog_core.tracing.graphs.graph import Graph, Late, LateItem, Value
from agog_core.tracing.graphs.passes import optimize
from agog_core.tracing.traces.first_call import Recorded
from agog_export.refusal import Refusal
from agog_export.sizes import Number, Symbol, fitted, stand_ins

# How often a function is recorded at least, also where no size is unknown: values may decide sizes inside of it.
_FEWEST = 3


class Traces:
    """The graphs of a function, which have the same nodes, as one: what differs depends on unknown sizes.

    Args:
        symbols: the unknown sizes.
    """

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self.symbols = symbols
        self.graphs: list[Graph] = []
        self.result: Any = None
        self._twins: dict[Value, tuple[Value, ...]] = {}  # the values of the first graph, to those of all

    def record(self, function: Callable[..., Any], arguments: Sequence[Sequence[Tensor]]) -> None:
        """Record the function on several lists of arguments; variables keep their values."""
        for given in arguments:
            recorded = Recorded(lambda args, _: function(*args), tuple(given), {}, may_create=True)
            recorded.trace.put_back()
            graph, tensors = recorded.trace.graph, recorded.results.tensors
            found, places = recorded.results(tensors), {id(x): place for place, x in enumerate(tensors)}
            returned = [places[id(x)] for x in nest.flatten(found) if isinstance(x, Tensor)]
            graph.outputs = [graph.outputs[place] for place in returned]  # without the masks that go along
            self.result = nest.map_structure(lambda x: None, found)
            optimize(graph)
            self.graphs.append(graph)
            recorded.release()
            recorded.trace.end()  # without the warning of tensors that others hold, such as terms of the loss
        self.join(self.graphs)

    def join(self, graphs: Sequence[Graph]) -> None:
        """Say which values of several graphs are one."""
        kinds = [[(node.effect, node.op, len(node.outputs)) for node in graph.nodes] for graph in graphs]
        if any(other != kinds[0] for other in kinds):
            raise Refusal(_parted(graphs))
        pools = [
            [
                *graph.inputs,
                *graph.variables.values(),
                *(value for node in graph.nodes for value in (*node.outputs, *node.inputs)),
                *graph.outputs,
            ]
            for graph in graphs
        ]
        for values in zip(*pools, strict=True):
            self._twins.setdefault(values[0], values)

    def shape(self, value: Value) -> tuple[Number, ...]:
        """The shape of a value of the first graph."""
        shapes = [twin.shape for twin in self._twins[value]]
        return tuple([fitted(sizes, self.symbols) for sizes in zip(*shapes, strict=True)])

    def arrays(self, value: Value) -> list[np.ndarray[Any, Any]]:
        """What a constant is in each trace."""
        return [np.asarray(twin.table.device.to_host(twin.array)) for twin in self._twins[value]]

    def attributes(self, nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The attributes of one node in all traces."""
        return {name: self._merged([each[name] for each in nodes]) for name in nodes[0]}

    def _merged(self, found: Sequence[Any]) -> Any:
        first = found[0]
        if isinstance(first, (Late, LateItem)):
            raise Refusal("it takes random numbers, or a number that is another one in each call")
        if isinstance(first, (tuple, list)):
            if any(len(each) != len(first) for each in found):
                raise Refusal("its attributes depend on unknown sizes")
            return tuple([self._merged(each) for each in zip(*found, strict=True)])
        if isinstance(first, (int, np.integer)) and not isinstance(first, bool):
            return fitted([int(each) for each in found], self.symbols)
        if any(each is not first and not np.array_equal(each, first) for each in found):
            raise Refusal(f"an attribute depends on unknown sizes: it is {', '.join(map(str, found))} in the traces")
        return first


def symbols_of(specs: Sequence[TensorSpec], *, are_joined: bool = False) -> list[Symbol]:
    """The unknown sizes of arguments: the batch, which is the first axis of all, and those of further axes.

    Args:
        specs: the arguments.
        are_joined: whether the unknown sizes of one axis are one in all arguments.
    """
    places: dict[str, tuple[int, int]] = {}
    for place, spec in enumerate(specs):
        for axis, name in enumerate(_named(place, spec, are_joined)):
            if isinstance(name, str):
                places.setdefault(name, (place, axis))
    sizes = stand_ins(len(places), max(_FEWEST, len(places) + 2))
    return [Symbol(name, *where, found) for (name, where), found in zip(places.items(), sizes, strict=True)]


def made_up(specs: Sequence[TensorSpec], *, are_joined: bool = False) -> tuple[list[Symbol], list[list[Tensor]]]:
    """The unknown sizes, and arguments for each trace: random ones, so that values decide other sizes in each."""
    symbols = symbols_of(specs, are_joined=are_joined)
    found = []
    for trace in range(max(_FEWEST, len(symbols) + 2)):
        rng = np.random.default_rng(trace)
        sizes = {symbol.name: symbol.sizes[trace] for symbol in symbols}
        arguments = []
        for place, spec in enumerate(specs):
            shape = [sizes[size] if isinstance(size, str) else size for size in _named(place, spec, are_joined)]
            arguments.append(_argument(spec, shape, rng))
        found.append(arguments)
    return symbols, found


def _named(place: int, spec: TensorSpec, are_joined: bool) -> list[int | str]:
    """The sizes of an argument, with names for those that are unknown."""
    if spec.shape.ndims is None:
        raise Refusal(f"argument {place} has a shape of unknown rank; give a TensorSpec with None for unknown sizes")
    names = [f"size_{axis}" if are_joined else f"size_{place}_{axis}" for axis in range(spec.shape.ndims)]
    sizes = spec.shape.as_list()
    return [("batch" if not axis else names[axis]) if size is None else size for axis, size in enumerate(sizes)]


def _argument(spec: TensorSpec, shape: Sequence[int], rng: np.random.Generator) -> Tensor:
    if spec.dtype is string:
        raise Refusal("strings are no tensors of ONNX's models; export what follows their encoding")
    array = rng.normal(size=shape) if spec.dtype.is_differentiable else rng.integers(0, 2, shape)
    return constant(array.astype(spec.dtype.numpy_dtype), spec.dtype)


def _parted(graphs: Sequence[Graph]) -> str:
    """Where the graphs of traces are not the same."""
    kinds = [[(node.effect, node.op, len(node.outputs)) for node in graph.nodes] for graph in graphs]
    place = next(n for n, each in enumerate(zip_longest(*kinds)) if len(set(each)) > 1)
    line = next(graph.nodes[place].line for graph in graphs if place < len(graph.nodes))
    return (
        f"at {line} the function does something else for other sizes: Python has looked at a size that the input "
        "signature leaves open. Give the size in the input signature, or compute with tensors"
    )
