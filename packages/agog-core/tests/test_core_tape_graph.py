"""The graph of a tape: nodes, edges, and what is known of them."""

from __future__ import annotations

from typing import Any

import agog_core as ag
from agog_core.graph_node import GraphNode, HasGraph


def nodes_of(tape: Any) -> dict[str, GraphNode]:
    nodes = tape.__graph_nodes__()
    by_name = {node.name: node for node in nodes}
    assert len(by_name) == len(nodes)
    # Each comes after those that it takes from.
    for number, node in enumerate(nodes):
        assert set(node.inputs) <= {before.name for before in nodes[:number]}
    return by_name


def test_ops_variables_and_watched_tensors_are_nodes() -> None:
    kernel, bias = ag.Variable(ag.ones([3, 4]), name="layer/w"), ag.Variable(ag.zeros([4]), name="layer/b")
    x = ag.ones([5, 3])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.nn.relu(ag.matmul(x, kernel) + bias)
        ag.reduce_mean(y * y)
    nodes = nodes_of(tape)
    edges = {name: node.inputs for name, node in nodes.items()}
    assert edges == {
        "tensor": (),
        "layer/w": (),
        "matmul": ("tensor", "layer/w"),
        "layer/b": (),
        "add": ("matmul", "layer/b"),
        "relu": ("add",),
        "multiply": ("relu",),
        "reduce_mean": ("multiply",),
    }
    assert [nodes[name].op for name in ("tensor", "layer/w", "add")] == ["Placeholder", "VariableV2", "add"]
    for name, shape in {"tensor": (5, 3), "layer/w": (3, 4), "layer/b": (4,), "relu": (5, 4)}.items():
        assert nodes[name].shapes == (ag.TensorShape(shape),)
        assert (nodes[name].dtype, nodes[name].device) == (ag.float32, x.device)
    assert nodes["reduce_mean"] == GraphNode("reduce_mean", "reduce_mean", ("multiply",))


def test_names_that_come_again_are_numbered() -> None:
    first, second = ag.Variable(2.0, name="add"), ag.Variable(3.0, name="add")
    with ag.GradientTape() as tape:
        (first + second) + (first + 1.0)
    assert {name: node.inputs for name, node in nodes_of(tape).items()} == {
        "add": (),
        "add_1": (),
        "add_2": ("add", "add_1"),
        "add_3": ("add",),
        "add_4": ("add_2", "add_3"),
    }


def test_a_variable_is_one_node_after_it_changed() -> None:
    v = ag.Variable(2.0, name="v")
    with ag.GradientTape() as tape:
        y = v * 2.0
        v.assign(3.0)
        y + v
    assert nodes_of(tape)["add"].inputs == ("multiply", "v")


def test_several_outputs_have_several_shapes() -> None:
    x = ag.ones([4, 6])
    with ag.GradientTape() as tape:
        tape.watch(x)
        first, second = ag.split(x, [2, 4], axis=1)
        ag.reduce_sum(first * first) + ag.reduce_sum(second * second)
    assert nodes_of(tape)["split"].shapes == (ag.TensorShape([4, 2]), ag.TensorShape([4, 4]))


def test_shapes_that_a_vjp_takes_are_known() -> None:
    x = ag.ones([4, 6])
    with ag.GradientTape() as tape:
        tape.watch(x)
        ag.reduce_sum(ag.transpose(x))
    assert nodes_of(tape)["transpose"].shapes == (ag.TensorShape([6, 4]),)


def test_functions_with_gradients_of_their_own_are_nodes() -> None:
    @ag.custom_gradient
    def twice(x: Any) -> Any:
        return x * 2.0, lambda g: g * 2.0

    x = ag.constant(1.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        ag.exp(twice(x))
    nodes = nodes_of(tape)
    assert nodes["exp"].inputs == ("custom_gradient",)
    assert (nodes["custom_gradient"].op, nodes["custom_gradient"].inputs) == (
        "agog_core.gradients.custom_gradient",
        ("tensor",),
    )


def test_lines_are_attributes_and_stay_when_the_tape_is_used() -> None:
    x = ag.constant(1.0)
    with ag.GradientTape(source_lines=True) as tape:
        tape.watch(x)
        y = ag.exp(x)
    tape.gradient(y, x)
    assert "test_core_tape_graph.py" in nodes_of(tape)["exp"].attributes["line"]


def test_a_used_tape_has_no_nodes() -> None:
    x = ag.constant(1.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.exp(x)
    tape.gradient(y, x)
    assert nodes_of(tape) == {}


def test_tapes_have_graphs_and_tensors_have_none() -> None:
    assert isinstance(ag.GradientTape(), HasGraph)
    assert not isinstance(ag.constant(1.0), HasGraph)
