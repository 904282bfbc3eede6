"""Display: graphs of traced functions as tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import basename
from typing import Any

from agog_core.dispatch.plugins.compilers import explain_compilers
from agog_core.dispatch.plugins.executors import Executable
from agog_core.observers import drawing
from agog_core.observers.graph_node import GraphNode, UniqueNames, variable_node
from agog_core.shapes import TensorShape
from agog_core.tracing.execution.branches import Choice
from agog_core.tracing.execution.executors import prepared
from agog_core.tracing.graphs.graph import Effect, Graph, Late, LateItem, Node, Value
from agog_core.tracing.traces.segments import Segments

_KINDS = {
    **{Effect.ASSIGN: "assign", Effect.COPY: "copy", Effect.GUARD: "guard", Effect.READ: "read"},
    **{Effect.HOST: "host function", Effect.PYTHON: "python function", Effect.LOOP: "loop"},
}


def kind_of(node: Node) -> str:
    """What a node does, in a word: the op's name, or what there is beside ops."""
    if isinstance(node.attributes.get("loop"), Choice):
        return "cond"
    return _KINDS[node.effect] if node.op is None else node.op.name


def names_of(graph: Graph) -> dict[Value, str]:
    """A name for each value: of variables theirs, of others ``"input 0"``, ``"constant 3"``, or ``"%2"``."""
    names = {value: f"input {number}" for number, value in enumerate(graph.inputs)}
    names |= {value: variable.name for variable, value in graph.variables.items()}
    counts = {"%": 0, "constant ": 0}
    for value in _values(graph):
        if value not in names:
            kind = "%" if value.kind == "node" else "constant "
            names[value] = f"{kind}{counts[kind]}"
            counts[kind] += 1
    return names


def _values(graph: Graph) -> Iterator[Value]:
    for node in graph.nodes:
        yield from (*node.inputs, *node.outputs)
    for late in graph.lates:
        yield from late.inputs
    yield from (*graph.outputs, *graph.finals.values())


def summary(graph: Graph) -> str:
    """A table of a graph; see `Graph.summary`."""
    names = names_of(graph)
    rows = [("op", "from", "to", "shape", "line")]
    for node in graph.nodes:
        taken = [names[value] for value in node.inputs] + _late_names(node)
        to = [names[value] for value in node.outputs] + [variable.name for variable in node.variables]
        shapes = ", ".join(dict.fromkeys(str(value.shape) for value in node.outputs))
        rows.append((kind_of(node), ", ".join(taken), ", ".join(to), shapes, node.line))
    return "\n".join([*_columns(rows), *_facts(graph)])


def explain(graph: Graph) -> str:
    """What runs each node of a graph; see `Graph.explain`."""
    devices = dict.fromkeys(value.table.device.type for node in graph.nodes for value in (*node.inputs, *node.outputs))
    found = _prepared(graph).explain()
    idle = "nothing: it is known before, computed elsewhere, or not used" if found else "its kernel, by itself"
    rows = [("op", "line", "what runs it")]
    for node in graph.nodes:
        given = [f"{what}: {why}" if why else what for what, why in found.get(node, [(idle, "")])]
        rows += [(kind_of(node), node.line, each) for each in given]
    return "\n".join([*map(explain_compilers, devices), *_columns(rows)])


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, in which all but the last cells are of one width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, (*widths, 0), strict=True)).rstrip() for row in rows]


def _late_names(node: Node) -> list[str]:
    return [f"{name} at each run" for name, each in node.attributes.items() if isinstance(each, (Late, LateItem))]


def _facts(graph: Graph) -> list[str]:
    """What there is to say of a graph as a whole, and of what runs it."""
    guards = sum(node.effect is Effect.GUARD for node in graph.nodes)
    counts = (
        (len(graph.nodes), "node"),
        (len(graph.inputs), "input"),
        (len(graph.outputs), "output"),
        (len(graph.variables), "variable"),
        (len(graph.finals), "variable written"),
        (guards, "guard"),
    )
    return [", ".join(_counted(*each) for each in counts), _prepared(graph).summary]


def _prepared(graph: Graph) -> Segments | Executable:
    """What runs a graph."""
    return Segments(graph) if graph.calls_python else prepared(graph)


def _counted(count: int, noun: str) -> str:
    first, *rest = noun.split(" ")
    return " ".join([str(count), first if count == 1 else f"{first}s", *rest])


def picture_of(graph: Graph) -> drawing.Picture:
    """What the picture of a graph shows: inputs, variables and constants as boxes, nodes as ellipses."""
    names = names_of(graph)
    nodes: list[tuple[str, str, str]] = []
    edges: list[tuple[str, str]] = []
    place: dict[Value, str] = {}

    def begin(value: Value) -> str:
        if value not in place:
            place[value] = f"x{value.number}"
            nodes.append((f"x{value.number}", f"{names[value]}\n{value.table.dtype.name} {value.shape}", "box"))
        return place[value]

    for number, node in enumerate(graph.nodes):
        name = f"op{number}"
        edges += [(begin(value), name) for value in node.inputs]
        where = "" if node.line == "unknown" else f"\n{basename(node.line)}"
        nodes.append((name, kind_of(node) + where, "ellipse"))
        place |= dict.fromkeys(node.outputs, name)
        if node.variables:
            written = f"w{number}"
            nodes.append((written, ", ".join(variable.name for variable in node.variables), "box"))
            edges.append((name, written))
    for number, value in enumerate(graph.outputs):
        start = begin(value)
        nodes.append((f"out{number}", f"output {number}", "box"))
        edges.append((start, f"out{number}"))
    return drawing.Picture("function", nodes, list(dict.fromkeys(edges)))


def draw(graph: Graph, path: Any = None, format: str | None = None) -> str:
    """The picture of a graph; see `Graph.draw`."""
    return drawing.draw("Graph.draw", picture_of(graph), path, format)


def svg_of_graph(graph: Graph) -> str | None:
    """The picture of a graph for notebooks; None where it has too many nodes to look at."""
    return drawing.svg_of(picture_of(graph))


def nodes_of_graph(graph: Graph) -> list[GraphNode]:
    """The graph as nodes for those who show graphs, such as TensorBoard's summaries."""
    unique, names = UniqueNames(), names_of(graph)
    nodes: list[GraphNode] = []
    place: dict[Value, str] = {}

    def begin(value: Value) -> str:
        if value not in place:
            name = unique(names[value].partition(":")[0].replace(" ", "_").replace("%", "value_"))
            kind = "Const" if value.kind == "constant" else "Placeholder"
            found = GraphNode(name, kind, (), (TensorShape(value.shape),), value.table.dtype, value.table.device.name)
            nodes.append(found if value.variable is None else variable_node(value.variable, name))
            place[value] = name
        return place[value]

    for node in graph.nodes:
        inputs = tuple(dict.fromkeys(begin(value) for value in node.inputs))
        table = node.outputs[0].table if node.outputs else None
        nodes.append(
            GraphNode(
                unique(kind_of(node).replace(" ", "_")),
                kind_of(node),
                inputs,
                tuple(TensorShape(value.shape) for value in node.outputs),
                None if table is None else table.dtype,
                "" if table is None else table.device.name,
                {"line": node.line},
            )
        )
        place |= dict.fromkeys(node.outputs, nodes[-1].name)
    return nodes
