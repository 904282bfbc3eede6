"""Graphs, and events that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.graph_pb2 import GraphDef

import agog_core as ag
import agog_summary as summary
from agog_core.errors import DataLossError, InvalidArgumentError
from agog_core.observers.graph_node import GraphNode
from agog_testing import says


class Shown:
    """Something with a graph."""

    def __init__(self, *nodes: GraphNode) -> None:
        self.nodes = nodes

    def __graph_nodes__(self) -> list[GraphNode]:
        return list(self.nodes)


def written_graph(folder: Path, param: Any, events_of: Any) -> Any:
    with summary.create_file_writer(folder).as_default():
        summary.graph(param, step=7)
    _, event = events_of(folder)
    assert event.step == 7
    return GraphDef.FromString(event.graph_def)


def test_nodes_with_all_that_is_known(tmp_path: Path, events_of: Any) -> None:
    shapes = (ag.TensorShape([None, 3]), ag.TensorShape(None), ag.TensorShape([]))
    node = GraphNode("a/b", "Dense", ("x", "y"), shapes, ag.float16, "/device:CPU:0", {"line": "train.py:3"})
    graph = written_graph(tmp_path, Shown(GraphNode("x", "Placeholder"), node), events_of)
    bare, full = graph.node
    assert (bare.name, bare.op, list(bare.input), bare.device, dict(bare.attr)) == ("x", "Placeholder", [], "", {})
    assert (full.name, full.op, list(full.input), full.device) == ("a/b", "Dense", ["x", "y"], "/device:CPU:0")
    assert (full.attr["line"].s, full.attr["dtype"].type) == (b"train.py:3", 19)
    first, second, third = full.attr["_output_shapes"].list.shape
    assert [dim.size for dim in first.dim] == [-1, 3]
    assert (second.unknown_rank, third.unknown_rank, len(third.dim)) == (True, False, 0)


def test_dtypes_that_the_messages_lack_are_left_out(tmp_path: Path, events_of: Any) -> None:
    (node,) = written_graph(tmp_path, Shown(GraphNode("x", "cast", dtype=ag.uint64)), events_of).node
    assert dict(node.attr) == {}


def test_the_graph_of_a_tape(tmp_path: Path, events_of: Any) -> None:
    v = ag.Variable([1.0, 2.0], name="v")
    with ag.GradientTape() as tape:
        ag.exp(v * v)
    nodes = written_graph(tmp_path, tape, events_of).node
    assert [(node.name, list(node.input)) for node in nodes] == [("v", []), ("multiply", ["v"]), ("exp", ["multiply"])]
    assert nodes[0].device == v.device


def test_the_graph_of_a_traced_function(tmp_path: Path, events_of: Any) -> None:
    v = ag.Variable([1.0, 2.0], name="v")
    f = ag.function(lambda x: ag.exp(x * v))
    f(ag.constant([3.0, 4.0]))
    for name, param in (("function", f), ("graph", f.graph())):
        nodes = written_graph(tmp_path / name, param, events_of).node
        assert [(node.name, node.op, list(node.input)) for node in nodes] == [
            ("input_0", "Placeholder", []),
            ("v", "VariableV2", []),
            ("multiply", "multiply", ["input_0", "v"]),
            ("exp", "exp", ["multiply"]),
        ]
        assert [dim.size for dim in nodes[3].attr["_output_shapes"].list.shape[0].dim] == [2]
        assert nodes[3].attr["line"].s.decode().startswith(__file__)
    assert [dim.size for dim in nodes[2].attr["_output_shapes"].list.shape[0].dim] == [2]


@pytest.mark.parametrize(
    "give", [lambda m: m, lambda m: m.SerializeToString(), lambda m: ag.constant(m.SerializeToString())]
)
def test_messages_are_written_as_they_are(tmp_path: Path, give: Any, events_of: Any) -> None:
    message = GraphDef(node=[{"name": "a", "op": "NoOp"}])
    assert written_graph(tmp_path, give(message), events_of) == message


def test_graphs_ask_no_policy_but_need_a_writer(tmp_path: Path, events_of: Any) -> None:
    with summary.always_record_summaries():
        summary.graph("not looked at")
        summary.import_event("not looked at")
    assert list(tmp_path.iterdir()) == []
    with summary.create_file_writer(tmp_path).as_default(), summary.never_record_summaries():
        summary.graph(GraphDef())
    assert len(events_of(tmp_path)) == 2


@pytest.mark.parametrize("as_tensor", [False, True])
def test_events_made_elsewhere(tmp_path: Path, as_tensor: bool, events_of: Any) -> None:
    event = Event(wall_time=5.0, step=6, summary={"value": [{"tag": "a", "simple_value": 1.5}]})
    data = event.SerializeToString()
    with summary.create_file_writer(tmp_path).as_default():
        summary.import_event(ag.constant(data) if as_tensor else data)
    assert events_of(tmp_path)[1] == event


@pytest.mark.parametrize(
    ("function", "argument", "error", "text"),
    [
        (
            summary.graph,
            Shown(),
            InvalidArgumentError,
            "summary.graph: the Shown has nothing to show. A tape that is not persistent forgets its records when "
            "gradient is called: write the graph before; a model needs layers.",
        ),
        (
            summary.graph,
            1.0,
            InvalidArgumentError,
            "summary.graph: expected a tape, a model or a GraphDef; got a tensor of float32 of shape ().",
        ),
        (
            summary.import_event,
            ["a", "b"],
            InvalidArgumentError,
            "summary.import_event: expected a serialized Event; got a tensor of string of shape (2,).",
        ),
        (
            summary.import_event,
            b"\xff\xff",
            DataLossError,
            "summary.import_event: the 2 bytes are no serialized Event.",
        ),
    ],
)
def test_errors(tmp_path: Path, function: Any, argument: Any, error: Any, text: str) -> None:
    with summary.create_file_writer(tmp_path).as_default(), says(error, text):
        function(argument)


def test_what_is_no_graph_at_all(tmp_path: Path) -> None:
    thing = object()
    with (
        summary.create_file_writer(tmp_path).as_default(),
        says(
            InvalidArgumentError,
            f"summary.graph: expected a tape, a model or a GraphDef; got {thing!r} of type object.",
        ),
    ):
        summary.graph(thing)
