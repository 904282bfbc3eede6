"""Graphs of the examples' models are data enough to compute with: each is walked, node by node, by a few lines."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import agog as tf
from agog_core.calls.call import call, create
from agog_core.tracing.graphs.graph import Effect, Graph

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def images(count: int = 2) -> Any:
    return tf.constant(np.random.RandomState(0).rand(count, 8, 8, 1).astype("float32"))


# Example to its model, and an input.
MODELS: dict[str, Callable[[ModuleType], tuple[Any, Any]]] = {
    "linear_regression": lambda module: (module.Line(), tf.constant([1.0, 2.0])),
    "mnist": lambda module: (module.NeuralNet(), tf.reshape(images(), [2, 64])),
    "cnn": lambda module: (module.Network(), images()),
    "cnn_lstm": lambda module: (module.Network(), images()),
    "fit": lambda module: (module.make_model((8, 8)), images()[..., 0]),
    "gan": lambda module: (module.network(2), tf.random_normal([3, 8])),
    "char_rnn": lambda module: (module.Reader(11, 5), tf.constant([[1, 2, 3]])),
    "transformer": lambda module: (module.Transformer(width=8, heads=2, blocks=1), module.sequences(2)[:, :-1]),
}


def walk(graph: Graph, inputs: list[Any]) -> list[Any]:
    """Compute a graph's outputs by nothing but what the graph says."""
    known = dict(zip(graph.inputs, inputs, strict=True))
    known |= {value: variable.value() for variable, value in graph.variables.items()}

    def tensor(value: Any) -> Any:
        if value.kind == "constant":
            return tf.constant(value.table.device.to_host(value.array), value.table.dtype)
        return known[value]

    for node in graph.nodes:
        assert node.line != "unknown"
        assert node.effect in (Effect.NONE, Effect.VIEW)
        assert node.op is not None
        given = [tensor(value) for value in node.inputs]
        assert node.table is not None
        made = (
            call(node.op, *given, **node.attributes) if given else create(node.op, node.table.dtype, **node.attributes)
        )
        results = made if isinstance(made, tuple) else (made,)
        for value, result in zip(node.outputs, results, strict=True):
            assert tuple(result.shape.as_list()) == value.shape
            assert result.dtype is value.table.dtype
            known[value] = result
    return [tensor(value) for value in graph.outputs]


@pytest.mark.parametrize("name", MODELS)
def test_graph_of_an_example(name: str) -> None:
    tf.set_random_seed(1)
    model, x = MODELS[name](example(name))
    expected = tf.nest.flatten(model(x))
    traced = tf.function(lambda x: model(x))
    traced(x)
    graph = traced.graph()
    found = walk(graph, [x])
    assert len(found) == len(expected)
    for one, two in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())
    assert len(graph.summary().splitlines()) == len(graph.nodes) + 3
