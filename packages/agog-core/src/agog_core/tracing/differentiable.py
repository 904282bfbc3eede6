"""Differentiable: a traced function under a tape: one record on it, whose vjp is traced with the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial, reduce
from typing import Any

from agog_core.calls.call import call as run_op
from agog_core.gradients.accumulation import accumulate
from agog_core.gradients.tape import GradientTape
from agog_core.ops.array.creation import fill_like
from agog_core.recording import Recording, active, record_function, tapes_of_context
from agog_core.shapes import intern_shape
from agog_core.tensors.placement import copy_to_device
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.concrete import Concrete
from agog_core.tracing.device import untraced
from agog_core.tracing.errors import limit
from agog_core.tracing.first_call import Recorded
from agog_core.tracing.graph import Effect, Graph, Late, LateItem, Node, Value
from agog_core.tracing.kernels import run_kernel
from agog_core.tracing.leaves import Packing
from agog_core.tracing.passes import optimize
from agog_core.variables.variable import Variable, updating

# What is not run again for derivatives of higher order: its results are kept.
_ONCE = (Effect.UPDATE, Effect.ASSIGN, Effect.HOST, Effect.RANDOM)


class Differentiable:
    """A function and its vjp, traced as one graph, which is cut where the function's results are known.

    What crosses the cut is kept on the tape. Where a tape that was not there before records the walk back, its ops run
    one by one. Where a result has no gradient, the function's ops run again, since a gradient of zeros is another
    thing: what depends on that result alone has none, and zeros times infinity are NaN.

    Three things are left to eager calls. Under several tapes one may record what another one walks back: derivatives of
    higher order add up, at each value inside of the function, what comes over the function and over its vjp, in one
    order, so it cannot be one record. Functions with gradients of their own, inside of one with several results, have
    no ops that would give these gradients for some results alone. And a tensor from outside that is not an argument may
    be watched too.

    Args:
        function: what to trace, called as ``function(args, kwargs)``.
        args: its positional arguments.
        kwargs: its other arguments.
        watched: variables that tapes watch beside those that are trainable.
        may_create: whether it may create variables.
        wrap: makes a traced function of one.
        exact: whether results have the bits of eager calls, see `Graph`.

    Raises:
        TracingError: the function does what later calls could not do again.
    """

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        args: Any,
        kwargs: Any,
        watched: Sequence[Variable],
        may_create: bool,
        wrap: Callable[[Callable[..., Any]], Callable[..., Any]],
        exact: bool = True,
    ) -> None:
        tape, self._wrap = GradientTape(), wrap
        twins = [_twin(each) for each in tapes_of_context() if each.is_open]

        def call(args: Any, kwargs: Any) -> Any:
            with tape, ExitStack() as scope:
                for twin in twins:
                    twin.start()
                    scope.callback(twin.stop)
                tape.watch([x for x in Packing((args, kwargs)).tensors if x.dtype.is_differentiable])
                tape.watch(list(watched))
                return function(args, kwargs)

        recorded = Recorded(call, args, kwargs, may_create)
        with recorded.going_on():
            count = len(recorded.results.tensors)
            self._differentiate(recorded, tape)
        trace, graph = recorded.trace, recorded.trace.graph
        graph.exact = exact
        trace.put_back()  # nothing has happened yet: `__call__` is the call
        self.has_created = bool(recorded.created)
        self.branches: dict[int, Differentiable] = {}
        self.is_for_eager |= any(twin.records for twin in twins)
        self._pack = recorded.results
        optimize(graph)
        self._cut(graph, count)
        recorded.end()

    def _differentiate(self, recorded: Recorded, tape: GradientTape) -> None:
        """Go on with the trace: from gradients of the results to those of the arguments and variables."""
        trace, outputs = recorded.trace, recorded.results.tensors
        self._able = [place for place, x in enumerate(outputs) if tape.watches(x)]
        self.is_for_eager = tape.has_functions and len(self._able) > 1
        targets = [outputs[place] for place in self._able]
        seeds = [trace.input(fill_like(untraced(x), 1)) for x in targets]
        self._places = [place for place, x in enumerate(recorded.inputs) if x.dtype.is_differentiable]
        self._variables = list(tape.watched_variables())
        sources = [*[recorded.inputs[place] for place in self._places], *self._variables]
        self._gradients = Packing(tape.pull_back(targets, sources, seeds))
        trace.graph.outputs += [trace.value_of(x) for x in self._gradients.tensors]
        self._gradients.release()
        tape.reset()

    def _cut(self, graph: Graph, count: int) -> None:
        """Cut the graph into what gives the results and writes variables, and what gives the gradients."""
        seeds = graph.inputs[len(graph.inputs) - len(self._able) :]
        inputs = graph.inputs[: len(graph.inputs) - len(self._able)]
        outputs, gradients = graph.outputs[:count], graph.outputs[count:]
        first = _needed(graph, outputs, seeds)
        second = [node for node in graph.nodes if node not in first]
        made = {*inputs, *graph.variables.values(), *(value for node in first for value in node.outputs)}
        used = [value for node in second for value in node.inputs] + gradients
        crossing = [value for value in dict.fromkeys(used) if value in made]
        kept_once = [v for node in first if _is_once(node) for v in node.outputs]
        self._kept = [v for v in dict.fromkeys([*crossing, *kept_once]) if v.node is not None]
        self._inputs, self._entries, self._nodes = inputs, graph.variables, list(first)
        self._targets = [outputs[place] for place in self._able]
        # What running the ops again begins with; and the values that each variable has had.
        self._given = list(dict.fromkeys([*inputs, *graph.variables.values(), *kept_once]))
        self._values_of: dict[Variable, list[Value]] = {v: [entry] for v, entry in graph.variables.items()}
        for node in first:
            for variable, value in zip(node.variables, node.outputs, strict=False):
                self._values_of.setdefault(variable, []).append(value)
        self._walks: dict[tuple[int, ...], Callable[..., Any]] = {}
        self._taken = [v for v in crossing if v.node is None]  # of arguments and variables
        forward = Graph(inputs, graph.variables, graph.finals, list(first), [*outputs, *self._kept], graph.lates)
        forward.exact = graph.exact
        fresh = {v: _as_input(v) for v in [*seeds, *self._kept, *self._taken]}
        given = list(fresh.values())
        nodes = [_with_inputs(node, fresh) for node in second]
        backward = Graph(given, {}, {}, nodes, [fresh.get(v, v) for v in gradients], exact=graph.exact)
        is_plain = not any(v.node is not None and v.node.op is not None and v.node.op.reserve for v in self._kept)
        self._forward = Concrete(forward, list, is_portable=not is_plain)
        self._backward = Concrete(backward, list, is_portable=not is_plain)
        self._portable = Concrete(backward, list, is_portable=True)
        self._layouts = [v.layout for v in seeds]
        self._count = count

    @property
    def graph(self) -> Graph:
        """What gives the results."""
        return self._forward.graph

    @property
    def guards(self) -> list[Node]:
        """The branches of the function."""
        return self._forward.guards

    def __call__(self, tensors: Sequence[Tensor]) -> Any:
        """Call the function on the tensors of its arguments: its result, or the number of a guard that failed."""
        values = [variable.value() for variable in self._variables]  # of which the tapes hear
        with updating if self._entries else nullcontext():
            held = {variable: variable._current() for variable in self._entries}
            found = self._forward.run([x._array for x in tensors])
        if type(found) is int:
            return found
        outputs, kept = found[: self._count], found[self._count :]
        targets = tuple([outputs[place] for place in self._able])
        sources = [*[tensors[place] for place in self._places], *values]
        known = dict(zip(self._kept, kept, strict=True))
        known.update(zip(self._inputs, tensors, strict=True))
        known.update({entry: held[variable] for variable, entry in self._entries.items()})
        of_variable = dict(zip(self._variables, values, strict=True))
        known.update({self._entries[v]: x for v, x in of_variable.items() if v in self._entries})

        def vjp(gradients: Any) -> Any:
            seeds = gradients if isinstance(gradients, list) else [gradients]
            if any(g is None for g in seeds):
                return self._walked_back(seeds, [known[value] for value in self._given])
            kept = [known[value] for value in [*self._kept, *self._taken]]
            return self._pulled_back(seeds, kept)

        del held
        if targets:
            record_function(targets, sources, vjp)
        return self._pack(outputs)

    def _pulled_back(self, seeds: Sequence[Tensor], kept: Sequence[Tensor]) -> Any:
        if _is_recorded() and all(map(_is_op, self._backward.graph.nodes)):
            return self._gradients(self._by_ops([*seeds, *kept]))
        layouts = [getattr(x._array, "strides", None) for x in seeds]
        trace = self._backward if layouts == self._layouts else self._portable
        found = trace.run([x._array for x in [*seeds, *kept]])
        if type(found) is int:
            limit("gradient", trace.guards[found].line)
        return self._gradients(found)

    def _by_ops(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The gradients, op by op, so that tapes see how they are computed."""
        graph = self._backward.graph
        values = dict(zip(graph.inputs, tensors, strict=True))
        for node in graph.nodes:
            values.update(zip(node.outputs, _run(node, [_tensor(v, values) for v in node.inputs]), strict=True))
        return [_tensor(value, values) for value in graph.outputs]

    def _walked_back(self, seeds: Sequence[Tensor | None], given: Sequence[Tensor]) -> Any:
        """The gradients where some results have none: by the ops of the function again."""
        places = tuple([place for place, g in enumerate(seeds) if g is not None])
        tensors = [*[g for g in seeds if g is not None], *given]
        if _is_recorded():
            return self._walk(places, *tensors)
        walk = self._walks.get(places)
        if walk is None:
            walk = self._walks[places] = self._wrap(partial(self._walk, places))
        return walk(*tensors)

    def _walk(self, places: Sequence[int], *tensors: Tensor) -> list[Any]:
        """Run the function's ops again under a tape, and walk back from the results at some places."""
        seeds, given = tensors[: len(places)], tensors[len(places) :]
        values = dict(zip(self._given, given, strict=True))
        known, results = set(values), [self._targets[place] for place in places]
        sources = [[self._inputs[place]] for place in self._places]
        sources += [[v for v in self._values_of[variable] if v in known] for variable in self._variables]
        flat = [value for each in sources for value in each]
        tape = GradientTape(watch_accessed_variables=False)
        with tape:
            tape.watch([values[value] for value in flat])
            for node in _needed_by(self._nodes, results, known):
                outs = _run(node, [_tensor(value, values) for value in node.inputs])
                values.update(zip(node.outputs, outs, strict=True))
        found = tape.pull_back([_tensor(v, values) for v in results], [values[v] for v in flat], list(seeds))
        gradients = iter(found)
        return [_sum([next(gradients) for _ in each]) for each in sources]


def _needed(graph: Graph, outputs: Sequence[Value], seeds: Sequence[Value]) -> dict[Node, None]:
    """The nodes, in order, of results, of effects, and of numbers that are known late."""
    late = {value for each in graph.lates for value in each.inputs}
    needed = {*outputs, *graph.finals.values(), *late}
    from_seeds: set[Value] = set(seeds)
    for node in graph.nodes:
        if not from_seeds.isdisjoint(node.inputs):
            from_seeds.update(node.outputs)
    found: dict[Node, None] = {}
    for node in reversed(graph.nodes):
        has_effect = node.effect is Effect.GUARD or _is_once(node)
        if (has_effect and from_seeds.isdisjoint(node.inputs)) or not needed.isdisjoint(node.outputs):
            found[node] = None
            needed.update(node.inputs)
    return dict.fromkeys(reversed(found))


def _needed_by(nodes: Sequence[Node], targets: Sequence[Value], known: set[Value]) -> list[Node]:
    """The nodes, in order, that values depend on, up to those that are known."""
    needed = {value for value in targets if value not in known}
    found = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            found.append(node)
            needed.update(value for value in node.inputs if value not in known)
    return found[::-1]


def _sum(gradients: Sequence[Any]) -> Any:
    """The sum of the gradients that are there; None where there is none."""
    found = [gradient for gradient in gradients if gradient is not None]
    return reduce(accumulate, found) if found else None


def _twin(tape: Recording) -> Recording:
    """A tape that records what is done with tensors that another one watches, none of which is traced."""
    twin = Recording(watch_accessed_variables=False)
    twin.serial, twin.watching = tape.serial, tape.watching
    return twin


def _is_recorded() -> bool:
    return bool(active) and any(tape.is_recording or tape.is_forward for tape in tapes_of_context())


def _is_op(node: Node) -> bool:
    return node.op is not None or node.effect is Effect.COPY


def _is_once(node: Node) -> bool:
    has_late = any(isinstance(each, (Late, LateItem)) for each in node.attributes.values())
    return node.effect in _ONCE or has_late


def _as_input(value: Value) -> Value:
    return Value(value.number, "input", value.table, value.shape, layout=value.layout)


def _with_inputs(node: Node, fresh: dict[Value, Value]) -> Node:
    """A node like another one that takes other values, and gives its own."""
    copied = Node(node.effect, node.op, node.table, [], node.attributes, line=node.line, outcome=node.outcome)
    copied.several = node.several
    copied.inputs = [fresh.get(value, value) for value in node.inputs]
    for value in node.outputs:
        own = Value(value.number, "node", value.table, value.shape, layout=value.layout, node=copied)
        own.base = None if value.base is None else fresh.get(value.base, value.base)
        fresh[value] = own
        copied.outputs.append(own)
    return copied


def _tensor(value: Value, known: dict[Value, Tensor]) -> Tensor:
    if value.kind == "constant":
        return wrap(value.array, value.table, intern_shape(value.shape))
    return known[value]


def _run(node: Node, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """The outputs of a node, by the op itself."""
    if node.effect is Effect.COPY:
        return [copy_to_device(inputs[0], node.outputs[0].table.device)]
    op, table = node.op, node.table
    assert op is not None
    assert table is not None
    if not inputs:
        results = run_kernel(op, table, [], node.attributes)
        listed = results if isinstance(results, tuple) else (results,)
        return [wrap(each, v.table, intern_shape(v.shape)) for each, v in zip(listed, node.outputs, strict=True)]
    outs: Any = (
        op.function(*inputs) if op.elementwise and not node.attributes else run_op(op, *inputs, **node.attributes)
    )
    return outs if isinstance(outs, tuple) else [outs]


def watched_beside(tapes: Sequence[Recording]) -> list[Variable]:
    """The variables that tapes watch for another reason than that they are trainable and were read."""
    found: dict[Variable, None] = {}
    for tape in tapes:
        for variable, _ in tape.variables.values():
            if not variable.trainable or not tape.watch_accessed_variables:
                found[variable] = None
    return list(found)
