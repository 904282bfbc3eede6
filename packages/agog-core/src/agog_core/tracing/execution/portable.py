"""Portable: a graph as a flat Python function that calls kernels, on every backend."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.tracing.errors import note_written, undone
from agog_core.tracing.execution.kernels import chosen, settled
from agog_core.tracing.execution.loops import Loop
from agog_core.tracing.execution.source import compiled
from agog_core.tracing.graphs.graph import WRITES, Effect, Graph, Late, LateItem, Node, Value

# ``run(inputs, variables)`` to outputs and finals; or to the number of a guard that failed.
Run = Callable[[Sequence[Any], Sequence[Any]], Any]

_TEXT = """\
def run(inputs, variables):
    try:
        {body}
    except Exception as error:
        note(error, variables)
        raise
"""
_FIRST = 3  # the number of the first line of the body


def portable(graph: Graph) -> Run:
    """A function that runs a graph: one line of Python for each of its kernels.

    It is called as ``run(inputs, variables)``, with arrays in the order of ``graph.inputs`` and ``graph.variables``,
    and may write those of variables in ``graph.finals``. It returns a tuple of the outputs' arrays and one of the
    finals'; where a guard fails, its number, before anything is written.
    """
    return Writer(graph).function()


class Writer:
    """Writes the function of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.nodes: dict[int, Node] = {}  # by the numbers of their lines
        self.scope: dict[str, Any] = {}
        self.lates: dict[Late, str] = {}
        self.last_use = _last_uses(graph)
        for place, node in enumerate(graph.nodes):
            if node.leaves_writes:
                for value in self.present(node):
                    self.last_use[value] = max(self.last_use.get(value, place), place)
        self.views: dict[Value, list[Value]] = {}  # that are used, of each value
        for value in self.last_use:
            if value.base is not None:
                self.views.setdefault(value.base, []).append(value)
        self.kept = {*graph.outputs, *graph.finals.values()}
        self.guards = 0
        # No variable is written before the last op that may fail: the function may catch the error.
        holds = [n for n, node in enumerate(graph.nodes) if node.may_fail and not node.leaves_writes]
        self.first_write = 1 + max(holds, default=-1)
        self.first_effect = sys.maxsize  # the line of the first write of a variable

    def function(self) -> Run:
        graph = self.graph
        for what, values in (("inputs", graph.inputs), ("variables", list(graph.variables.values()))):
            if values:
                self.lines.append(f"{''.join(f'{self.name(value)}, ' for value in values)}= {what}")
        for late in graph.lates:
            if not late.inputs:
                self.late(late)
        for place, node in enumerate(graph.nodes):
            start = len(self.lines)
            self.node(node, place)
            for line in range(start, len(self.lines)):
                self.nodes[line + _FIRST] = node
            dead = [value for value in {*node.inputs, *node.outputs} if self.dies(value, place)]
            if dead:
                self.lines.append(f"del {', '.join(self.name(value) for value in dead)}")
        for late in graph.lates:
            self.late(late)
        outputs, finals = (_tuple(map(self.name, values)) for values in (graph.outputs, graph.finals.values()))
        self.lines.append(f"return {outputs}, {finals}")
        body = "\n        ".join(self.lines)
        self.scope["note"] = _Notes(self.nodes, self.name, self.first_effect, self.present).add
        exec(compiled(_TEXT.format(body=body), "<traced function>"), self.scope)
        return self.scope.pop("run")  # type: ignore[no-any-return]  # it holds its scope, and not the other way

    def dies(self, value: Value, place: int) -> bool:
        return value.kind != "constant" and value not in self.kept and self.last_use.get(value, place) == place

    def name(self, value: Value) -> str:
        if value.kind == "constant":
            self.scope[f"c{value.number}"] = value.array
            return f"c{value.number}"
        return f"v{value.number}"

    def late(self, late: Late) -> str:
        """The name of a number that is computed at each run; where it first comes up, the line that computes it."""
        name = self.lates.get(late)
        if name is None:
            for other in self.graph.before(late):
                self.late(other)
            name = self.lates[late] = f"n{len(self.lates)}"
            self.scope[f"{name}_of"] = late.function
            self.lines.append(f"{name} = {name}_of({', '.join(map(self.name, late.inputs))})")
        return name

    def attribute(self, key: str, attribute: Any) -> str:
        if isinstance(attribute, Late):
            return self.late(attribute)
        if isinstance(attribute, LateItem):
            return f"{self.late(attribute.late)}[{attribute.name!r}]"
        name = f"a{len(self.scope)}_{key}"
        self.scope[name] = attribute
        return name

    def node(self, node: Node, place: int) -> None:
        attributes = {key: self.attribute(key, each) for key, each in node.attributes.items()}
        self.scope[f"f{place}"], self.scope[f"s{place}"], self.scope[f"T{place}"] = self.functions(node)
        inputs, outputs = [self.name(x) for x in node.inputs], [self.name(x) for x in node.outputs]
        keywords = [f"{key}={each}" for key, each in attributes.items()]
        call = f"f{place}({', '.join([*inputs, *keywords])})"
        if node.effect is Effect.GUARD:
            self.lines.append(f"if {call} != {node.outcome!r}: return {self.guards}")
            self.guards += 1
        elif node.effect is Effect.UPDATE:
            self.update(node, place, inputs, outputs, keywords)
        elif node.effect is Effect.ASSIGN:
            self.lines.append(f"{outputs[0]} = {inputs[0] if self.may_keep(node, place) else call}")
        elif node.effect is Effect.COPY:
            self.lines.append(f"{outputs[0]} = f{place}({inputs[0]})")
        elif node.effect is Effect.HOST:
            names = [*inputs, *keywords[1:]]
            self.lines.append(f"{_tuple(outputs)} = f{place}({', '.join(names)})")
        elif node.effect is Effect.LOOP:
            self.lines.append(f"{_tuple(outputs)} = f{place}({', '.join(inputs)})")
        else:
            made = "r" if node.several else outputs[0]
            settle = f"s{place}({made}, {_tuple(inputs)}, dict({', '.join(keywords)}))"
            self.lines.append(f"{made} = {call}")
            if node.several:
                self.lines += [f"{_tuple(outputs)} = {settle}", "del r"]
            else:
                self.lines.append(f"if type({made}) is not T{place}: {made} = {settle}")

    def effect(self) -> None:
        """Note that the next line has an effect."""
        self.first_effect = min(self.first_effect, len(self.lines) + _FIRST)

    def update(self, node: Node, place: int, inputs: list[str], outputs: list[str], keywords: list[str]) -> None:
        """The lines of an update: it writes into a copy where somebody else wants the value from before."""
        for position, out in enumerate(outputs):
            is_own = self.may_write(node, position, place)
            if is_own and node.inputs[position].variable is not None:
                self.effect()
            self.lines.append(f"{out} = {inputs[position] if is_own else f'copy{place}({inputs[position]})'}")
        assert node.table is not None
        self.scope[f"copy{place}"] = node.table.device.copy
        given = [*outputs, *inputs[len(outputs) :]]
        self.lines += [
            f"r = f{place}({', '.join([*given, *keywords])})",
            f"if r is not None and (r := s{place}(r, {_tuple(given)}, dict({', '.join(keywords)}))) is not None:",
            f"    {_tuple(outputs)} = r",
        ]

    def present(self, node: Node) -> list[Value]:
        """What the variables that are written have before a node."""
        found = {variable: self.graph.variables[variable] for variable in self.graph.finals}
        for each in sorted(self.graph.nodes, key=lambda other: other.turn):
            if each.variables and each.turn < node.turn:
                found.update({v: x for v, x in zip(each.variables, each.outputs, strict=False) if v in found})
        return list(found.values())

    def may_write(self, node: Node, position: int, place: int) -> bool:
        """Whether an update may write into the memory of its input, since nobody wants it any more; into a variable's
        only its final value, so that an interrupt leaves it with none from in between.
        """
        value = node.inputs[position]
        node_of = value.node
        is_final = (
            place >= self.first_write
            and value.variable is not None
            and self.graph.finals.get(value.variable) is node.outputs[position]
        )
        is_own = is_final or (node_of is not None and node_of.effect in WRITES and value.base is None)
        return is_own and node.inputs.count(value) == 1 and not self.is_wanted(value, node, place)

    def is_wanted(self, value: Value, node: Node, place: int) -> bool:
        """Whether somebody uses a value's memory at or after a node, beside the node itself."""
        views = self.views.get(value, ())
        shared = [other for other in node.inputs if other.base is value]
        later = value in self.kept or self.last_use.get(value, place) > place
        return later or bool(shared) or any(v in self.kept or self.last_use[v] > place for v in views)

    def may_keep(self, node: Node, place: int) -> bool:
        """Whether what is assigned to a variable is a fresh array that nobody else wants, so that it needs no copy."""
        value = node.inputs[0]
        made = value.node
        return (
            made is not None
            and made.effect is Effect.NONE
            and not made.several
            and value.layout == c_order(value)
            and not self.is_wanted(value, node, place)
        )

    def functions(self, node: Node) -> tuple[Callable[..., Any], Callable[..., Any] | None, type | None]:
        """What runs a node, what settles what it returns, and the type that needs no settling."""
        if node.effect is Effect.GUARD:
            return (_shape if isinstance(node.outcome, tuple) else _truth(node.inputs[0])), None, None
        if node.effect is Effect.COPY:
            return _copier(node.outputs[0].table.device, node.attributes["source"]), None, None
        if node.effect is Effect.HOST:
            return on_host(node), None, None
        if node.effect is Effect.LOOP:
            loop: Loop = node.attributes["loop"]
            return loop.function(node.outputs, self.graph.exact), None, None
        table, op = node.table, node.op
        assert table is not None
        if op is None:
            return table.device.copy, None, None

        def settle(result: Any, arrays: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
            return settled(op, table, tables, result, arrays, attributes)

        tables = [value.table for value in node.outputs]
        return chosen(op, table, [value.shape for value in node.inputs]), settle, tables[0].array_type


def _last_uses(graph: Graph) -> dict[Value, int]:
    """The place of the last node that uses each value; a value that numbers are computed of is used to the end."""
    uses = {value: place for place, node in enumerate(graph.nodes) for value in (*node.outputs, *node.inputs)}
    for late in graph.lates:
        uses.update(dict.fromkeys(late.inputs, len(graph.nodes)))
    return uses


def c_order(value: Value) -> tuple[int, ...] | None:
    """The strides of a value whose elements lie row by row; None where the backend's arrays have none."""
    if value.layout is None:
        return None
    strides, size = [], value.table.dtype.size
    for length in reversed(value.shape):
        strides.append(size)
        size *= length
    return tuple(reversed(strides))


def _tuple(names: Any) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"


def _shape(array: Any) -> tuple[int, ...]:
    return tuple(array.shape)


def _truth(value: Value) -> Callable[[Any], bool]:
    to_host = value.table.device.to_host

    def truth(array: Any) -> bool:
        return bool(to_host(array).reshape(())[()])

    return truth


def _copier(target: Device, source: Device) -> Callable[[Any], Any]:
    def copy(array: Any) -> Any:
        return target.copy_from(array, source)

    return copy


def on_host(node: Node) -> Callable[..., Any]:
    """What runs a Python function on the values of arrays, and brings what it returns back."""
    homes = [value.table.device for value in node.inputs]
    tables = [value.table for value in node.outputs]
    function = node.attributes["function"]

    def run(*arrays: Any, **attributes: Any) -> tuple[Any, ...]:
        results = function(*[home.to_host(x) for home, x in zip(homes, arrays, strict=True)], **attributes)
        return tuple(
            table.device.from_host(np.array(each, table.dtype.numpy_dtype, order="C"))
            for table, each in zip(tables, results, strict=True)
        )

    return run


class _Notes(NamedTuple):
    """What tells of the errors of a run which op and line of the program they come from.

    Args:
        nodes: by the numbers of the run's lines.
        name: what the run calls a value.
        first_effect: the line of the first write of a variable.
        present: what the variables that are written have before a node.
    """

    nodes: dict[int, Node]
    name: Callable[[Value], str]
    first_effect: int
    present: Callable[[Node], list[Value]]

    def add(self, error: Exception, variables: Sequence[Any]) -> None:
        """Add to an error which op raised it, and whether anything was done before."""
        trail = error.__traceback__  # which begins in the run
        if trail is None:
            return
        node = self.nodes.get(trail.tb_lineno)
        if trail.tb_lineno < self.first_effect:
            undone(error)
        if node is None:
            return
        known = trail.tb_frame.f_locals
        if trail.tb_lineno >= self.first_effect:
            left = [known.get(self.name(value)) for value in self.present(node)]
            note_written(error, [x if y is None else y for x, y in zip(variables, left, strict=False)])
        if node.op is not None and node.table is not None:
            found = [known.get(self.name(value), value.array) for value in node.inputs]
            note_failure(error, node.op, node.table, found)
        error.add_note(f"at {node.line}, in a traced function")
