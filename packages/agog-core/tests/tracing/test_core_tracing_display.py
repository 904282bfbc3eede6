"""What graphs of traced functions show: tables, pictures, nodes for TensorBoard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import agog_core as ag
from agog_core.observers.graph_node import HasGraph
from agog_core.tracing.functions.function import function
from agog_core.tracing.graphs.graph import Graph


def traced() -> Graph:
    v = ag.Variable([1.0, 2.0], name="v")

    @function
    def step(x: Any) -> Any:
        y = ag.exp(x * v)
        if ag.reduce_sum(x) > 0.0:
            y = y + 1.0
        v.assign_add(y)
        return y

    for _ in range(2):
        step(ag.constant([1.0, 1.0]))
    graph: Graph = step.graph()
    return graph


def test_summary() -> None:
    with ag.device("/cpu:0"):  # whose plugin tells how it runs
        lines = traced().summary().splitlines()
    cells = [re.split(r"  +", line) for line in lines[1:-2]]
    assert [row[0] for row in cells] == ["multiply", "exp", "reduce_sum", "greater", "guard", "add", "apply_add"]
    assert cells[0][1] == "input 0, v:0"
    assert all(row[-1].partition(":")[0] == __file__ for row in cells)
    assert lines[-2] == "7 nodes, 1 input, 1 output, 1 variable, 1 variable written, 1 guard"
    assert re.fullmatch(r"runs as \d+ steps of NumPy(, .*)?; [\d,]+ bytes of memory stay between runs", lines[-1])


def test_pictures(tmp_path: Path) -> None:
    graph = traced()
    dot = graph.draw()
    assert dot.startswith("digraph function {\n")
    assert '[label="exp\\n' in dot
    assert graph.draw(format="mermaid").startswith("flowchart TD\n")
    assert graph.draw(str(tmp_path / "g.mmd")) == (tmp_path / "g.mmd").read_text()
    root = ElementTree.fromstring(graph._repr_svg_() or "")
    texts = [each.text or "" for each in root.iter() if each.tag.endswith("text")]
    assert {"exp", "guard", "input 0", "v:0", "output 0"} <= set(texts)
    with pytest.raises(ValueError, match=r"^Graph\.draw: format must be 'dot', 'mermaid' or 'svg'; got 'png'\.$"):
        graph.draw(format="png")


def test_nodes_for_those_who_show_graphs() -> None:
    graph = traced()
    assert isinstance(graph, HasGraph)
    nodes = graph.__graph_nodes__()
    names = [node.name for node in nodes]
    assert len(set(names)) == len(names)
    for number, node in enumerate(nodes):
        assert set(node.inputs) <= set(names[:number])
    by_name = {node.name: node for node in nodes}
    assert by_name["v"].op == "VariableV2"
    assert by_name["multiply"].inputs == ("input_0", "v")
    assert by_name["multiply"].attributes["line"].startswith(__file__)
