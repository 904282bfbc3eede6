"""Interpreter: runs a graph node by node, without compiling it first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dispatch.kernels.failure import note_failure
from agog_core.tracing.errors import note_written, undone
from agog_core.tracing.execution.kernels import chosen, settled
from agog_core.tracing.execution.portable import Run, Writer
from agog_core.tracing.graphs.graph import Effect, Graph, Late, LateItem, Node, Value

_PLAIN = frozenset((Effect.NONE, Effect.VIEW, Effect.RANDOM))
_KNOWN = _PLAIN | {Effect.GUARD, Effect.UPDATE, Effect.ASSIGN, Effect.COPY, Effect.HOST, Effect.LOOP}
_FOR_HOSTS = ("function", "source")  # attributes that no kernel takes

# What is done with all values, by their places; the number of a guard that failed, or None.
Action = Callable[[list[Any]], "int | None"]
# A kernel, the places of its arrays, its attributes, the place of its result, the type that needs no settling, and its
# node; or an action, and None. Then the places of what ends there.
Step = tuple[Any, ...]


def interpreted(graph: Graph) -> Run | None:
    """A function that runs a graph as `portable` does; None where it does not support a node."""
    if any(node.effect not in _KNOWN for node in graph.nodes):
        return None
    return _Interpreter(graph).run


class _Interpreter(Writer):
    """The steps of a graph, for which the writer of code knows what runs each node, and what may be written."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.blank: list[Any] = []  # all values before a run: constants, and None
        self.places: dict[Value | Late, int] = {}
        self.steps: list[Step] = []
        self.owners: list[Node | None] = []  # of the steps
        self.first_effect_step: int | None = None
        self.given = len(graph.inputs), len(graph.inputs) + len(graph.variables)
        for value in (*graph.inputs, *graph.variables.values()):
            self.places[value] = len(self.blank)
            self.blank.append(None)
        for late in graph.lates:
            if not late.inputs:
                self.place_of_late(late)
        ends: dict[int, list[Value]] = {}  # by the numbers of nodes
        for value, last in self.last_use.items():
            if self.dies(value, last):
                ends.setdefault(last, []).append(value)
        for number, node in enumerate(graph.nodes):
            self.add(node, number, ends.get(number, ()))
        for late in graph.lates:
            self.place_of_late(late)
        self.outputs = [self.place(value) for value in graph.outputs]
        self.finals = [self.place(value) for value in graph.finals.values()]

    def place(self, value: Value) -> int:
        found = self.places.get(value)
        if found is None:
            found = self.places[value] = len(self.blank)
            self.blank.append(value.array if value.kind == "constant" else None)
        return found

    def place_of_late(self, late: Late) -> int:
        """The place of a number that each run computes, by a step that is added at its first use."""
        if late not in self.places:
            for other in self.graph.before(late):
                self.place_of_late(other)
            place = self.places[late] = len(self.blank)
            self.blank.append(None)
            function, inputs = late.function, [self.place(value) for value in late.inputs]

            def compute(values: list[Any]) -> None:
                values[place] = function(*[values[each] for each in inputs])

            self.steps.append((compute, None, ()))
            self.owners.append(None)
        return self.places[late]

    def add(self, node: Node, number: int, ends: Sequence[Value]) -> None:
        """Add the step of a node."""
        attributes, late = node.attributes, {}
        if any(isinstance(given, (Late, LateItem)) for given in attributes.values()):
            late = {
                name: self.named(given) for name, given in attributes.items() if isinstance(given, (Late, LateItem))
            }
        inputs = tuple([self.place(x) for x in node.inputs])
        is_plain = node.effect in _PLAIN
        if is_plain and not node.several and not late:
            assert node.op is not None
            assert node.table is not None
            [value] = node.outputs
            kernel = chosen(node.op, node.table, [x.shape for x in node.inputs])
            place, dead = self.place(value), tuple([self.place(x) for x in ends])
            self.steps.append((kernel, inputs, attributes, place, value.table.array_type, node, dead))
            self.owners.append(node)
            return
        outputs = tuple([self.place(x) for x in node.outputs])
        function, settle, kind = self.functions(node)
        fixed = {name: each for name, each in attributes.items() if name not in _FOR_HOSTS or is_plain}

        def named(values: list[Any]) -> dict[str, Any]:
            """The attributes in this run."""
            found = {name: values[place] if key is None else values[place][key] for name, (place, key) in late.items()}
            return {**fixed, **found}

        action: Action
        if is_plain:
            action = _calling(function, settle, kind, inputs, outputs, named, node.several)
        elif node.effect is Effect.GUARD:
            action = _comparing(function, inputs[0], node.outcome, self.guards)
            self.guards += 1
        elif node.effect is Effect.UPDATE:
            assert node.table is not None
            own = [self.may_write(node, position, number) for position in range(len(outputs))]
            copies = [None if each else node.table.device.copy for each in own]
            action = _updating(function, settle, inputs, outputs, named, copies)
            if any(each and x.variable is not None for each, x in zip(own, node.inputs, strict=False)):
                self.note_effect()
        elif node.effect is Effect.ASSIGN and self.may_keep(node, number):
            action = _moving(inputs[0], outputs[0])
        elif node.effect is Effect.LOOP:
            action = _spreading(function, inputs, outputs, lambda values: {}, several=True)
        else:
            action = _spreading(function, inputs, outputs, named, node.effect is Effect.HOST)
        self.steps.append((action, None, tuple([self.place(x) for x in ends])))
        self.owners.append(node)

    def named(self, given: Late | LateItem) -> tuple[int, str | None]:
        """The place of a number that each run computes, and its name among several."""
        if isinstance(given, LateItem):
            return self.place_of_late(given.late), given.name
        return self.place_of_late(given), None

    def note_effect(self) -> None:
        """Note that the next step has a side effect."""
        if self.first_effect_step is None:
            self.first_effect_step = len(self.steps)

    def run(self, inputs: Sequence[Any], variables: Sequence[Any]) -> Any:
        """See `portable`."""
        values = self.blank.copy()
        first, last = self.given
        values[:first], values[first:last] = inputs, variables
        number = 0
        try:
            for number, step in enumerate(self.steps):  # noqa: B007  # the step that has raised
                if step[1] is None:
                    if (failed := step[0](values)) is not None:
                        return failed
                else:
                    kernel, places, attributes, place, kind, node, _ = step
                    arrays = [values[each] for each in places]
                    result = kernel(*arrays, **attributes)
                    values[place] = result if type(result) is kind else _settled(node, result, arrays)
                    del arrays, result
                for place in step[-1]:
                    values[place] = None
        except Exception as error:
            self.note(error, number, values, variables)
            raise
        return tuple([values[each] for each in self.outputs]), tuple([values[each] for each in self.finals])

    def note(self, error: Exception, number: int, values: list[Any], variables: Sequence[Any]) -> None:
        """Add notes to an error: the op, the line, and whether a side effect came before."""
        if self.first_effect_step is None or number < self.first_effect_step:
            undone(error)
        node = self.owners[number]
        if node is not None:
            if self.first_effect_step is not None and number >= self.first_effect_step:
                left = [values[self.places[value]] for value in self.present(node)]
                note_written(error, [x if y is None else y for x, y in zip(variables, left, strict=False)])
            if node.op is not None and node.table is not None:
                note_failure(error, node.op, node.table, [values[self.places[value]] for value in node.inputs])
            error.add_note(f"at {node.line}, in a traced function")


Named = Callable[[list[Any]], dict[str, Any]]
Places = tuple[int, ...]


def _settled(node: Node, result: Any, arrays: Sequence[Any]) -> Any:
    """Adopt the result of a kernel as an array of its device."""
    assert node.op is not None
    assert node.table is not None
    return settled(node.op, node.table, [node.outputs[0].table], result, tuple(arrays), node.attributes)


def _calling(
    function: Any, settle: Any, kind: Any, inputs: Places, outputs: Places, named: Named, several: bool
) -> Action:
    """A call of a kernel with several results, or with numbers that each run computes."""

    def call(values: list[Any]) -> None:
        arrays, attributes = tuple([values[place] for place in inputs]), named(values)
        result = function(*arrays, **attributes)
        if several:
            for place, each in zip(outputs, settle(result, arrays, attributes), strict=True):
                values[place] = each
        else:
            values[outputs[0]] = result if type(result) is kind else settle(result, arrays, attributes)

    return call


def _comparing(function: Any, place: int, outcome: Any, number: int) -> Action:
    """A guard."""
    return lambda values: None if function(values[place]) == outcome else number


def _moving(source: int, target: int) -> Action:
    """An assignment of an array that has no other user."""

    def move(values: list[Any]) -> None:
        values[target] = values[source]

    return move


def _spreading(function: Any, inputs: Places, outputs: Places, named: Named, several: bool) -> Action:
    """A copy, an assignment, or a function of Python."""

    def spread(values: list[Any]) -> None:
        result = function(*[values[place] for place in inputs], **named(values))
        for place, each in zip(outputs, result if several else (result,), strict=True):
            values[place] = each

    return spread


def _updating(
    function: Any, settle: Any, inputs: Places, outputs: Places, named: Named, copies: Sequence[Any]
) -> Action:
    """An update of arrays in place, or of copies of them."""

    def update(values: list[Any]) -> None:
        given, attributes = [values[place] for place in inputs], named(values)
        for position, copy in enumerate(copies):
            if copy is not None:
                given[position] = copy(given[position])
        result = function(*given, **attributes)
        if result is not None:
            result = settle(result, tuple(given), attributes)
        for place, each in zip(outputs, given if result is None else result, strict=False):
            values[place] = each

    return update
