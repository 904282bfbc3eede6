"""Segments: the parts of a graph between calls of Python, each of which commits what it writes.

No lock is held while Python runs, and Python sees what was written before it. A part takes what it reads of a variable
and what it writes under one hold, as a graph does that calls no Python.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from time import perf_counter_ns
from typing import Any

from agog_core.dispatch.kernels.observation import TracedStep, are_observed, are_steps_enough, tell, unobserved
from agog_core.dtypes import variant
from agog_core.random import generator
from agog_core.tracing.errors import is_undone
from agog_core.tracing.execution.executors import prepared
from agog_core.tracing.execution.portable import on_host
from agog_core.tracing.graphs.graph import WRITES, Effect, Graph, Late, LateItem, Node, RandomKey, Value
from agog_core.tracing.state.python_results import HandedOn
from agog_core.tracing.state.rollback import Rollback
from agog_core.tracing.traces.aliases import Echoes
from agog_core.tracing.traces.concrete import Concrete
from agog_core.variables.variable import Variable


class Segments:
    """What runs a graph that calls Python.

    Args:
        graph: the graph.
        is_portable: whether kernels are called one by one, whatever the backend could do.
    """

    def __init__(self, graph: Graph, is_portable: bool = False) -> None:
        self._graph = graph
        self._here = threading.local()  # the numbers that are known late, of the run that goes on in this thread
        stands = {late: self._standing_for(late) for late in graph.lates}
        lists = list(_split(graph))
        entries = _entries(graph, lists)
        used = {*graph.outputs, *(value for late in graph.lates for value in late.inputs)}
        self._parts: list[_Part | _Call] = []
        for nodes, own in zip(reversed(lists), reversed(entries), strict=True):
            made = _Call(nodes[0]) if _calls(nodes) else _Part(graph, nodes, own, used, stands, is_portable)
            self._parts.append(made)
            used |= {value for node in nodes for value in node.inputs}
        self._parts.reverse()
        written = [variable for part in self._parts for variable in part.written]
        self._often = [[v for v in part.written if written.count(v) > 1] for part in self._parts]
        place = {late: n for n, late in enumerate(graph.lates)}
        self._due = [max([_due(node, place) for node in nodes], default=0) for nodes in lists]

    def _standing_for(self, late: Late) -> Late:
        """What gives a part the number that this run has computed before it."""
        return Late(lambda: self._here.numbers[late], late.value, is_never_zero=late.is_never_zero)

    @property
    def summary(self) -> str:
        """What is planned of each part, in a line; see `Graph.summary`."""
        graphs = [part.graph for part in self._parts if isinstance(part, _Part) and part.graph.nodes]
        plans = [prepared(graph).summary for graph in graphs]
        calls = len(self._parts) - sum(isinstance(part, _Part) for part in self._parts)
        return "\n".join([*plans, f"in {len(plans)} part{'s'[len(plans) == 1 :]}, between calls of Python: {calls}"])

    def explain(self) -> dict[Node, list[tuple[str, str]]]:
        """What runs each node; see `Graph.explain`."""
        found: dict[Node, list[tuple[str, str]]] = {}
        for part in self._parts:
            if isinstance(part, _Call):
                found[part.node] = [("a function of Python", "")]
                continue
            explained = prepared(part.graph).explain()
            found |= {node: explained[copy] for node, copy in part.copies.items() if copy in explained}
        return found

    def __call__(self, inputs: Sequence[Any], variables: Sequence[Any]) -> Any:
        """See `Run` in `agog_core.tracing.execution.portable`; parts read and write variables, so there are none."""
        values: dict[Value, Any] = dict(zip(self._graph.inputs, inputs, strict=True))
        numbers: dict[Late, Any] = {}
        rollback, handed, guards, is_begun = Rollback(), HandedOn(), 0, False
        try:
            for part, often, due in zip(self._parts, self._often, self._due, strict=True):
                self._compute(numbers, values, due)
                self._here.numbers = numbers
                run = partial(part.run, values, handed)
                failed = rollback.writing(often, run) if often else run()
                if failed is not None:
                    _put_back(numbers)
                    handed.leave()
                    return guards + failed
                guards += part.guards
                is_begun = is_begun or part.has_effect
            self._compute(numbers, values, len(self._graph.lates))
        except Exception as error:
            if is_begun:
                error.agog_undone = False  # type: ignore[attr-defined]  # what this part knows of itself
            elif is_undone(error):
                _put_back(numbers)
            raise
        except BaseException:  # a Ctrl-C
            rollback.take_back()
            raise
        return tuple([_array(value, values) for value in self._graph.outputs]), ()

    def _compute(self, numbers: dict[Late, Any], values: dict[Value, Any], due: int) -> None:
        """Compute numbers that are known late, up to one, in their order; those whose inputs are not there yet wait."""
        for late in self._graph.lates[:due]:
            if late not in numbers and all(value.kind == "constant" or value in values for value in late.inputs):
                numbers[late] = late.function(*[_array(value, values) for value in late.inputs])


class _Call:
    """A call of Python."""

    written: tuple[Variable, ...] = ()
    guards = 0
    has_effect = True

    def __init__(self, node: Node) -> None:
        self.node = node
        self._function = on_host(node)
        home = (*node.inputs, *node.outputs)[0].table.device.type if node.inputs or node.outputs else "cpu"
        size = sum(value.table.dtype.size * math.prod(value.shape) for value in node.outputs)
        self._step = TracedStep(("host",), home, "agog-core", "a function of Python", (node.line,), size)

    def run(self, values: dict[Value, Any], handed: HandedOn) -> None:
        """Call it on the values that are there, and add its results to them."""
        results = handed.result(self.node.line, partial(self._called, values))
        values.update(zip(self.node.outputs, results, strict=True))

    def _called(self, values: dict[Value, Any]) -> Sequence[Any]:
        is_told = are_observed() and are_steps_enough()
        start = perf_counter_ns()
        try:
            with unobserved() if is_told else nullcontext():
                results = self._function(*[_array(value, values) for value in self.node.inputs])
        except Exception as error:
            error.add_note(f"at {self.node.line}, in a traced function")
            raise
        if is_told:
            tell(self._step, start)
        return results  # type: ignore[no-any-return]  # `on_host` gives a list


class _Part:
    """The nodes between two calls of Python, as a graph of their own."""

    def __init__(
        self,
        whole: Graph,
        nodes: list[Node],
        entries: dict[Variable, Value],
        used: set[Value],
        stands: dict[Late, Late],
        portable: bool,
    ) -> None:
        inner = [node for node in nodes if node.effect is not Effect.READ]
        made = [*entries.values(), *(value for node in inner for value in node.outputs)]
        needed = {value for node in inner for value in node.inputs if value.kind != "constant"}
        self._given = [value for value in dict.fromkeys(needed) if value not in set(made)]
        self._gives = [value for value in made if value in used]
        fresh = {value: _fresh(value, "input") for value in self._given}
        fresh |= {value: replace(_fresh(value, "variable"), variable=variable) for variable, value in entries.items()}
        graph = Graph([fresh[value] for value in self._given], exact=whole.exact)
        graph.variables = {variable: fresh[value] for variable, value in entries.items()}
        lates: dict[Late, None] = {}
        self.copies: dict[Node, Node] = {}
        for node in inner:
            copy = self.copies[node] = replace(
                node, inputs=[fresh.get(value, value) for value in node.inputs], outputs=[]
            )
            copy.attributes = {name: _standing(each, stands, lates) for name, each in node.attributes.items()}
            for value in node.outputs:
                base = None if value.base is None else fresh.get(value.base, value.base)
                fresh[value] = replace(value, node=copy, base=base)
                copy.outputs.append(fresh[value])
            for variable, value in zip(node.variables, copy.outputs, strict=False):
                if variable in whole.finals:
                    graph.finals[variable] = value
            graph.nodes.append(copy)
        graph.lates, graph.outputs = list(lates), [fresh[value] for value in self._gives]
        self.written = tuple(graph.finals)
        self.guards = sum(node.effect is Effect.GUARD for node in inner)
        self.has_effect = bool(graph.finals)
        self.graph = graph
        # What a kernel keeps for its gradient's is for kernels alone.
        is_plain = all(value.table.dtype is not variant for value in self._gives)
        echoes = self._echoes = Echoes.of_variables(graph.variables, graph.finals, graph.outputs) or None
        self._concrete = Concrete(graph, None if echoes is None else list, portable or not is_plain, echoes)

    def run(self, values: dict[Value, Any], handed: HandedOn) -> int | None:
        """Run on the values that are there, and add others to them; the number of a guard that failed, or None."""
        found = self._concrete.run([values[value] for value in self._given])
        if type(found) is int:
            return found
        arrays = found if self._echoes is None else [tensor._array for tensor in found]
        values.update(zip(self._gives, arrays, strict=True))
        return None


def _split(graph: Graph) -> Iterator[list[Node]]:
    """The nodes in parts, the first of which may be empty; each call of Python is one by itself. A node whose number is
    known late comes in a part behind that of which the number is computed. Once Python was called, a node that may fail
    comes behind all that was written before, and before the numbers that the program draws behind it.
    """
    place = {late: n for n, late in enumerate(graph.lates)}
    part: list[Node] = []
    made: set[Value] = set()
    is_first, has_called = True, False
    for node in graph.nodes:
        is_call = node.effect is Effect.PYTHON
        may_lose = has_called and node.may_fail and any(each.effect in WRITES for each in part)
        has_called = has_called or is_call
        due = _due(node, place)
        waits = any(value in made for each in graph.lates[:due] for value in each.inputs)
        waits = waits or (has_called and any(each.may_fail and each.lates < due for each in part))
        if (is_call or waits or may_lose) and (part or is_first):
            yield part
            part, made, is_first = [], set(), False
        if is_call:
            yield [node]
        else:
            part.append(node)
            made.update(node.outputs)
    if part:
        yield part


def _entries(graph: Graph, parts: Sequence[list[Node]]) -> list[dict[Variable, Value]]:
    """The values of variables that each part begins with: those that it reads, and those of what it writes."""
    present, found = dict(graph.variables), [dict(graph.variables)]
    for nodes in parts:
        reads = {node.variables[0]: node.outputs[0] for node in nodes if node.effect is Effect.READ}
        writes = [each for each in nodes if each.effect in WRITES]
        present |= reads
        own = {v: present[v] for node in writes for v in node.variables if v in graph.finals and v in present}
        found[-1] |= reads | {v: value for v, value in own.items() if v not in found[-1]}
        present.update({v: value for node in writes for v, value in zip(node.variables, node.outputs, strict=False)})
        found.append({})
    return found[:-1]


def _calls(nodes: list[Node]) -> bool:
    return bool(nodes) and nodes[0].effect is Effect.PYTHON


def _due(node: Node, place: dict[Late, int]) -> int:
    """How many of the numbers known late are computed before a node: those that it uses; and those that the program has
    computed, where it calls Python or may fail."""
    least = node.lates if node.effect is Effect.PYTHON or node.may_fail else 0
    return max([least, *[place[each] + 1 for each in _lates(node)]])


def _lates(node: Node) -> list[Late]:
    found = [each.late if isinstance(each, LateItem) else each for each in node.attributes.values()]
    return [each for each in found if isinstance(each, Late)]


def _standing(attribute: Any, stands: dict[Late, Late], lates: dict[Late, None]) -> Any:
    """What stands for a number that is known late in the attributes of a part's node; it is noted."""
    late = attribute.late if isinstance(attribute, LateItem) else attribute
    if not isinstance(late, Late):
        return attribute
    lates[stands[late]] = None
    return LateItem(stands[late], attribute.name) if isinstance(attribute, LateItem) else stands[late]


def _fresh(value: Value, kind: str) -> Value:
    return Value(value.number, kind, value.table, value.shape, layout=value.layout)


def _array(value: Value, values: dict[Value, Any]) -> Any:
    return value.array if value.kind == "constant" else values[value]


def _put_back(numbers: dict[Late, Any]) -> None:
    """Put back what a run has drawn of random streams, because it comes to nothing."""
    for late in numbers:
        if isinstance(late, RandomKey):
            generator().put_back(late.op_seed, late.values)
