"""First call: a real call under tapes, recorded as a graph and on a twin of each tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from agog_core.dtypes import variant
from agog_core.recording import Recording, next_id
from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import present_tracer
from agog_core.tracing.graphs.graph import Value
from agog_core.tracing.graphs.passes import optimize
from agog_core.tracing.state.device import TracedArray, untraced
from agog_core.tracing.state.leaves import Packing
from agog_core.tracing.state.rollback import held
from agog_core.tracing.state.variables import Failure
from agog_core.tracing.tapes.calls import Call, Origin, Taped, Walk
from agog_core.tracing.tapes.tangents import Tangent
from agog_core.tracing.tapes.template import Binding, Template
from agog_core.tracing.tapes.twins import Acting, Twin
from agog_core.tracing.traces.concrete import Concrete
from agog_core.tracing.traces.first_call import Recorded
from agog_core.tracing.traces.trace import Trace

# The result of a call of which nothing was kept, because another thread has changed a variable meanwhile.
AGAIN = object()


class Function(NamedTuple):
    """What is traced under tapes.

    Args:
        python: what to call, as ``python(args, kwargs)``.
        name: its name.
        walk: see `Taped`.
        may_create: whether it may create variables.
        exact: whether results have the bits of eager calls, see `Graph`.
        pack: makes what makes the function's result of tensors, of a `Packing` of it.
    """

    python: Callable[[Any, Any], Any]
    name: str
    walk: Walk
    may_create: bool
    exact: bool = True
    pack: Callable[[Packing], Callable[[list[Tensor]], Any]] = lambda packing: packing


class TapedCall(NamedTuple):
    """A call that was traced.

    Args:
        taped: what later calls run.
        result: what the function returned; `AGAIN` where nothing was kept.
        has_created: whether it has created variables; then it is not what later calls do.
        failed: why it is not run again, though it has come to its end.
        captures: whether it has used tensors from outside that tapes watch: then neither is it.
    """

    taped: Taped
    result: Any
    has_created: bool
    failed: Failure | None
    captures: bool


def trace_taped(
    function: Function,
    args: Any,
    kwargs: Any,
    tapes: Sequence[Recording],
    before: Call | None = None,
    tangents: Sequence[Tangent] = (),
) -> TapedCall | None:
    """Call a function and record what it does, as later calls under such tapes will do it.

    Args:
        function: the function.
        args: its positional arguments.
        kwargs: its other arguments.
        tapes: the tapes that are open, the outermost first.
        before: the call whose records it walks back.
        tangents: those of what the function uses; their tensors are its last arguments.

    Returns:
        The call; None where nothing has happened, because the function asks the tapes for gradients.

    Raises:
        TracingError: the function does what later calls could not do again.
    """
    given = args, kwargs, [each.tensor for each in tangents]
    taping = _Taping(function, Packing(given).tensors, tapes, before, tangents)
    with nullcontext() if before is None else before.taped.lock, taping.binding:
        try:
            recorded = Recorded(taping.call, given, {}, function.may_create)
        except Exception:
            taping.tell_reads()
            raise
        if taping.acting.is_beyond:
            recorded.trace.put_back()
            recorded.release()
            del taping
            recorded.trace.end()
            return None
        try:
            return taping.finish(recorded)
        except BaseException:  # a Ctrl-C
            recorded.trace.put_back()
            raise


class _Taping:
    """One call that is traced."""

    def __init__(
        self,
        function: Function,
        tensors: Sequence[Tensor],
        tapes: Sequence[Recording],
        before: Call | None,
        tangents: Sequence[Tangent],
    ) -> None:
        self.function, self.tensors, self.tapes, self.before = function, tensors, tapes, before
        self.tangents = tangents
        self.places: list[tuple[int, int, int]] = []  # see `Taped.tangents`
        self.inherited = [] if before is None else before.kept
        self.twins = [Twin(tape, None if before is None else before.twin(tape)) for tape in tapes]
        self.acting = Acting(tapes, self.twins)
        self.binding = Binding([] if before is None else before.taped.arrays, self.inherited)
        self._start = next_id()
        self.inputs: list[Tensor] = []  # the traced tensors that the function gets
        self._own = [x for _, x in self._inherited()]
        pairs = zip(self.inherited, self._own, strict=False)
        watched = [(x, y) for x, y in pairs if any(tape.watches(x) for tape in tapes)]
        self._watched = [[tape.watches(x) for x in tensors] for tape in tapes]
        self._watched_before = [[y for x, y in watched if tape.watches(x)] for tape in tapes]

    def call(self, args: Any, kwargs: Any) -> Any:
        """Call the function on traced arguments; one that comes twice is one tensor, as outside."""
        trace = present_tracer()
        assert isinstance(trace, Trace)
        packing = Packing(args)
        self.inputs = [trace.arguments.setdefault(id(x), y) for x, y in zip(self.tensors, packing.tensors, strict=True)]
        self.binding.begin(trace)
        args, kwargs, _ = packing(self.inputs)
        del packing
        with self.acting:
            for tape, places, others in zip(self.tapes, self._watched, self._watched_before, strict=True):
                for x, is_watched in zip(self.inputs, places, strict=True):
                    if is_watched:
                        tape.watch_tensor(x)
                for x in others:
                    tape.watch_tensor(x)
            for each, tangent in zip(self.tangents, self.inputs[len(self.inputs) - len(self.tangents) :], strict=True):
                self._begin(each, tangent)
            result = self.function.python(args, kwargs)
            self.packing = Packing(result)
            return result, self._tangents()

    def _begin(self, each: Tangent, tangent: Tensor) -> None:
        """Let an accumulator know the tangent of a traced tensor."""
        accumulator: Any = self.tapes[each.tape]
        if each.kind == "variable":
            x = each.of._current()
            accumulator.watch_variable(each.of, x)
        else:
            x = self.inputs[each.of] if each.kind == "argument" else self._own[each.of]
            accumulator.watch_tensor(x)
        accumulator._tangents.setdefault(x._id, tangent)

    def _tangents(self) -> list[Tensor]:
        """The tangents of the results, and those of these, which are results too."""
        results = list(self.packing.tensors)
        count = len(results)
        seen: set[int] = set()
        for place, x in enumerate(results):  # which grows
            for index, tape in enumerate(self.tapes) if id(x) not in seen else ():
                accumulator: Any = tape
                if tape.is_forward and (tangent := accumulator._tangent(x)) is not None:
                    self.places.append((index, place, len(results)))
                    results.append(tangent)
            seen.add(id(x))
        return results[count:]

    def tell_reads(self) -> None:
        """Let the tapes watch the variables that a function has read which has failed."""
        for tape, twin in zip(self.tapes, self.twins, strict=True):
            for variable, ids in twin.variables.values():
                if ids:
                    tape.watch_variable(variable, variable._current())

    def finish(self, recorded: Recorded) -> TapedCall:
        """What later calls run, and the result of this one."""
        trace, graph = recorded.trace, recorded.trace.graph
        graph.exact = self.function.exact
        results = self._results(recorded)
        outputs = [untraced(x) for x in recorded.results.tensors]
        places = {variable: self._place(x) for variable, x in trace.entries.items()}
        inputs = [(place, x._id) for place, x in enumerate(self.inputs) if _has_id(x)]
        inherited = [(place, x._id) for place, x in self._inherited() if _has_id(x)]
        pack = self.function.pack(self.packing)
        count = len(self.packing.tensors)
        self.packing.release()
        is_kept = trace.commit(merges=graph.calls_python)
        self.inputs, self._watched_before, self._own = [], [], []
        recorded.release()
        template, kept, exported = self._kept(trace, len(outputs))
        graph.outputs += exported.values
        optimize(graph)
        taped = Taped(
            concrete=Concrete(graph, None, is_portable=exported.has_variant),
            pack=pack,
            name=self.function.name,
            walk=self.function.walk,
            twins=self.twins,
            results=results,
            template=template,
            kept=kept,
            inputs=inputs,
            inherited=inherited,
            entries=places,
            start=self._start,
            captured=self._captured(),
            count=count,
            tangents=[each for each in self.places if results[each[1]].kind == "result"],
        )
        outputs += exported.tensors
        if template is None:
            recorded.end()
        else:
            recorded.warn(template.let_go([] if self.before is None else self.before.taped.arrays))
        if is_kept:
            result = taped.finish(self.tensors, outputs, trace.initial, self.tapes, self.before)
        else:
            trace.put_back()
            result = AGAIN
        failed = next(iter(trace.failures), None)
        return TapedCall(taped, result, bool(recorded.created), failed, bool(taped.captured))

    def _captured(self) -> set[int]:
        """The ids of tensors from outside that the function has used and tapes watch."""
        known = {x._id for _, x in self._inherited() if _has_id(x)}
        before = self.before
        while before is not None:
            known |= {i for twin in before.taped.twins for i in twin.ids}
            before = before.before
        return {i for twin in self.twins for i in twin.sources if i < self._start} - known

    def _results(self, recorded: Recorded) -> list[Origin]:
        """Where each result comes from; the twins note what later calls repeat."""
        trace, tensors = recorded.trace, recorded.results.tensors
        self._roles = {id(x): Origin("result", place) for place, x in reversed(list(enumerate(tensors)))}
        finals = {v: trace.state[v] for v in trace.graph.finals if v in trace.state}
        self._roles |= {id(x): Origin("final", v) for v, x in finals.items()}
        self._roles |= {id(x): Origin("entry", v) for v, x in trace.entries.items()}
        self._roles |= {id(x): Origin("argument", place) for place, x in reversed(list(enumerate(self.inputs)))}
        origins = [self._roles[id(x)] if type(x._array) is TracedArray else Origin("constant", x) for x in tensors]
        ids = {x._id: "final" for x in finals.values() if _has_id(x)}
        ids |= {x._id: "entry" for x in trace.entries.values() if _has_id(x)}
        ids |= {x._id: "final" for x in self._unchanged(trace) if _has_id(x) and id(x) not in map(id, tensors)}
        fresh = {place: x for place, x in enumerate(tensors) if origins[place] == Origin("result", place)}
        for twin, watched in zip(self.twins, self._watched, strict=True):
            others = {place: x for place, x in enumerate(self.inputs) if not watched[place]}
            twin.settle(others, fresh, ids)
        known = set().union(*[twin.ids for twin in self.twins])
        for twin in self.twins:
            twin.tangents = {i: x for i, x in twin.tangents.items() if i in known}
        return origins

    def _unchanged(self, trace: Trace) -> Iterator[Tensor]:
        """What the function had written of variables when it called Python, which has left them as they were."""
        for variable, (own, tensor) in (trace.seen or {}).items():
            if variable in trace.graph.finals and variable not in trace.state and held(variable) is own:
                yield tensor

    def _kept(self, trace: Trace, count: int) -> tuple[Template | None, list[Origin], _Exported]:
        """The tensors that the records keep, where each comes from in a call, and what is exported for that."""
        exported = _Exported(trace.graph.inputs, len(self.tensors), count)
        if not any(twin.records for twin in self.twins):
            return None, [], exported
        template = Template(trace, [[twin.records, twin.tangents] for twin in self.twins])
        own = {id(x): Origin("inherited", place) for place, x in self._inherited()}
        kept = []
        for x in template.tensors:
            role = own.get(id(x)) or self._roles.get(id(x))
            kept.append(exported.origin(x._array) if role is None or role.kind == "final" else role)
        return template, kept + [exported.origin(array) for array in template.hidden], exported

    def _inherited(self) -> Iterator[tuple[int, Tensor]]:
        """The traced tensors of the call before, by the places of what they stand for."""
        template = None if self.before is None else self.before.taped.template
        return iter(enumerate([] if template is None else template.tensors))

    def _place(self, tensor: Tensor) -> int | None:
        role = self._roles.get(id(tensor))
        return role.of if role is not None and role.kind == "argument" else None


class _Exported:
    """The outputs of a graph that are kept, after its results."""

    def __init__(self, inputs: Sequence[Value], arguments: int, count: int) -> None:
        self._inputs, self._arguments, self._count = inputs, arguments, count
        self._places: dict[Value, int] = {}
        self.tensors: list[Tensor] = []

    @property
    def values(self) -> list[Value]:
        """The values in the graph."""
        return list(self._places)

    @property
    def has_variant(self) -> bool:
        """Whether one is for kernels alone."""
        return any(value.table.dtype is variant for value in self._places)

    def origin(self, array: TracedArray) -> Origin:
        """Where the memory of a traced tensor comes from in a call."""
        value = array.value
        assert value is not None
        if value.kind == "input":
            place = self._inputs.index(value)
            is_argument = place < self._arguments
            kind = "argument" if is_argument else "inherited"
            return Origin(kind, place if is_argument else place - self._arguments, False)
        is_own = value not in self._places  # a second tensor with this memory, as of `stop_gradient`, stays another one
        if is_own:
            self._places[value] = self._count + len(self._places)
            self.tensors.append(wrap(array.array, value.table, intern_shape(value.shape)))
        return Origin("output", self._places[value], is_own)


def _has_id(tensor: Tensor) -> bool:
    return hasattr(tensor, "_id")
