"""Calls: a function traced under tapes, and what a call of it leaves on each tape."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from agog_core import recording
from agog_core.recording import Id, Recording, next_id, watch_output
from agog_core.settable import Reads
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.graphs.graph import Graph, Node
from agog_core.tracing.state.device import TracedArray
from agog_core.tracing.tapes.replay import Replay, replay
from agog_core.tracing.tapes.template import Template
from agog_core.tracing.tapes.twins import Twin, add_check
from agog_core.tracing.traces.concrete import Concrete
from agog_core.tracing.traces.matching import Matcher, matcher
from agog_core.variables.variable import Variable

# ``walk(call, index, gradients, keep)``: the gradients that walking back the records for a tape adds or changes; by the
# ids of traced tensors.
Walk = Callable[["Call", int, dict[Id, Any], frozenset[Id]], Mapping[Id, Any]]


class Origin(NamedTuple):
    """Where a tensor of a call comes from.

    Args:
        kind: "argument", "inherited" from the call whose records are walked back, "entry" or "final" for a value of a
            variable, "result", "output" for another output of the graph, or "constant".
        of: a place among such tensors, a variable, or the constant.
        is_own: whether it is that tensor, and not another one with its memory.
    """

    kind: str
    of: Any
    is_own: bool = True


class Call:
    """One call of a function under tapes.

    Args:
        taped: what runs it.
        before: the call whose records it walks back, or None.
        serials: the serial numbers of the tapes that are open.

    Attributes:
        kept: what the records need, in the order of ``taped.kept``.
    """

    __slots__ = ("_names", "before", "kept", "serials", "taped")

    def __init__(self, taped: Taped, before: Call | None, serials: Sequence[int]) -> None:
        self.taped, self.before, self.serials = taped, before, serials
        self.kept: list[Tensor] = []
        self._names: dict[Id, Id] = {}  # from the ids of traced tensors to those on the tapes

    def give(self, traced: Id, name: Id) -> None:
        """Say which id a tensor of the trace has on the tapes."""
        self._names[traced] = name

    def name(self, traced: Id) -> Id | None:
        """The id that a tensor of the trace has on the tapes, if it has one."""
        found = self._names.get(traced)
        return self.before.name(traced) if found is None and self.before is not None else found

    def named(self, traced: Id) -> Id:
        """The id that a tensor of the trace has on the tapes; one inside of the call before gets its first here."""
        found = self.name(traced)
        if found is None:
            call = self
            while call.before is not None and traced < call.taped.start:
                call = call.before
            found = call._names[traced] = next_id()
        return found

    def names(self) -> Mapping[Id, Id]:
        """All ids that tensors of the trace have on the tapes so far, by those in the trace."""
        return self._names if self.before is None else {**self._names, **self.before.names()}

    def twin(self, tape: Recording) -> Twin | None:
        """What tells which traced tensors a tape watches."""
        if tape.serial in self.serials:
            return self.taped.twins[self.serials.index(tape.serial)]
        return None if self.before is None else self.before.twin(tape)


class Section(recording.Section):
    """The records of one call on one tape.

    Args:
        call: the call.
        index: which of its tapes it is.
    """

    __slots__ = ("call", "index", "outs", "sources")

    def __init__(self, call: Call, index: int) -> None:
        self.call, self.index = call, index
        twin = call.taped.twins[index]
        named = [(call.name(place), place) for _, place in twin.results]
        self.outs = tuple([name for name, _ in named if name is not None])
        self.sources = tuple([call.named(traced) for traced in twin.sources])

    @property
    def __name__(self) -> str:
        return self.call.taped.name

    def walk_back(self, gradients: dict[Id, Any], keep: set[Id]) -> None:
        """Walk the records of the call back: take the gradients of what it has made, and give those of its sources."""
        call, twin = self.call, self.call.taped.twins[self.index]
        names = {traced: name for traced, name in call.names().items() if traced in twin.ids}
        known = {traced: gradients[names[traced]] for traced in sorted(names) if names[traced] in gradients}
        if twin.outs.isdisjoint(known):
            return
        kept = frozenset([traced for traced, name in names.items() if name in keep])
        found = call.taped.walk(call, self.index, known, kept)
        for traced in known:
            if traced in twin.outs and traced not in kept:
                del gradients[names[traced]]
        for traced, gradient in found.items():
            gradients[call.named(traced)] = gradient


@dataclass(eq=False, slots=True)
class Taped:
    """A function that was traced under tapes.

    A call runs the graph, which also gives what the tapes' records keep, and leaves one record on each tape, a
    `Section`. When that is walked back, the twin's records are, on what the call has kept; that is traced in its turn.
    Where they are few and small, the tape gets them themselves.

    Args:
        concrete: the graph: it returns the results, and then what is exported to be kept.
        pack: makes the function's result of tensors.
        name: the function's name.
        walk: walks the records of a call back.
        twins: what each tape has recorded.
        results: where each result comes from.
        template: the traced tensors of the records; None where there are none.
        kept: where each of these comes from in a call.
        inputs: the places and ids of traced arguments.
        inherited: the same of the tensors of the trace before.
        entries: the variables that are read, each with the place of the argument that is its value, or None.
        start: an id before those of the trace.
        count: how many results the function has itself.
        tangents: the places of accumulators, results that have a tangent, and the tangents among the results.
        captured: the ids of tensors from outside that tapes watch; a call that uses some is not run again.
    """

    concrete: Concrete
    pack: Callable[[list[Tensor]], Any]
    name: str
    walk: Walk
    twins: list[Twin]
    results: list[Origin]
    template: Template | None
    kept: list[Origin]
    inputs: list[tuple[int, Id]]
    inherited: list[tuple[int, Id]]
    entries: dict[Variable, int | None]
    start: Id
    captured: set[Id]
    count: int
    tangents: list[tuple[int, int, int]]
    reads: Reads = field(default_factory=Reads)  # of a walk back: the attributes that it has read
    branches: dict[Any, Any] = field(default_factory=dict)
    walks: dict[Any, Any] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)  # held while traced tensors stand for those of a call
    _needed: set[Variable] = field(default_factory=set)  # those whose tensors on entry tapes see
    _is_simple: bool = False  # whether no tape looks on, and all results are outputs of their own
    _layouts: list[Any] = field(default_factory=list)  # the strides of the graph's inputs
    _portable: Concrete | None = None
    _replay: Replay | None = None
    _matchers: dict[tuple[type, ...], Matcher | None] = field(default_factory=dict)  # by the types of arguments

    def __post_init__(self) -> None:
        self._needed = {read.variable for twin in self.twins for read in twin.reads if read.kind == "entry"}
        self._needed |= {origin.of for origin in (*self.results, *self.kept) if origin.kind == "entry"}
        own = [Origin("result", place) for place in range(len(self.results))]
        self._is_simple = not self.twins and self.results == own
        self.inputs = [(place, i) for place, i in self.inputs if any(i in twin.ids for twin in self.twins)]
        self._layouts = [value.layout for value in self.graph.inputs]
        self._replay = replay(self)

    @property
    def graph(self) -> Graph:
        """What is run."""
        return self.concrete.graph

    @property
    def guards(self) -> list[Node]:
        """The branches of the function."""
        return self.concrete.guards

    @property
    def arrays(self) -> list[TracedArray]:
        """The traced arrays that stand for what calls keep."""
        return [] if self.template is None else self.template.arrays

    def fits(self, tensors: Sequence[Tensor]) -> bool:
        """Whether the arguments are values of the same variables as when the function was traced."""
        if not self.entries:
            return True
        places = {id(x): place for place, x in reversed(list(enumerate(tensors)))}
        return all(places.get(id(variable._current())) == place for variable, place in self.entries.items())

    def matcher(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], signature: Any, tapes: Sequence[Recording]
    ) -> Matcher | None:
        """What takes such arguments under such tapes; None where only the key can tell."""
        types = tuple(map(type, args))
        if types not in self._matchers:
            self._matchers[types] = matcher(args, kwargs, signature is not None, partial(add_check, tapes))
        return self._matchers[types]

    def run(
        self,
        tensors: Sequence[Tensor],
        tapes: Sequence[Recording],
        before: Call | None = None,
        arrays: list[Any] | None = None,
    ) -> Any:
        """Call the function, whose arguments have some arrays: its result, or the number of a guard that failed."""
        needed = self._needed
        entries = {variable: variable._current() for variable in needed} if needed else {}
        if arrays is None:
            arrays = [x._array for x in tensors]
        if before is None:
            outputs = self.concrete.run(arrays)
        else:
            arrays += [x._array for x in before.kept]
            outputs = self._concrete(arrays, len(tensors)).run(arrays)
        if type(outputs) is int:
            return outputs
        if self._replay is not None:
            return self._replay(tensors, outputs, entries, tapes)
        made = self.concrete.tensors(outputs)
        return self.pack(made) if self._is_simple else self.finish(tensors, made, entries, tapes, before)

    def _concrete(self, arrays: Sequence[Any], count: int) -> Concrete:
        """What runs the graph: the kernels one by one, where what was kept has other strides than it had."""
        if [getattr(array, "strides", None) for array in arrays[count:]] == self._layouts[count:]:
            return self.concrete
        if self._portable is None:
            self._portable = Concrete(self.graph, None, is_portable=True)
        return self._portable

    def finish(
        self,
        tensors: Sequence[Tensor],
        outputs: Sequence[Tensor],
        entries: dict[Variable, Tensor],
        tapes: Sequence[Recording],
        before: Call | None,
    ) -> Any:
        """The function's result, of what the graph has returned; the tapes hear of the call."""
        if self._replay is not None:
            return self._replay(tensors, [x._array for x in outputs], entries, tapes)
        call = Call(self, before, [tape.serial for tape in tapes])
        inherited = [] if before is None else before.kept
        known = {"argument": tensors, "inherited": inherited, "entry": entries, "output": outputs, "result": outputs}
        results = [_found(origin, known) for origin in self.results]
        for place, traced in self.inputs:
            x = tensors[place]
            for tape, twin in zip(tapes, self.twins, strict=True):
                if place in twin.watched:
                    tape.watch_tensor(x)
            call.give(traced, x._id)
        for i in self.captured:
            call.give(i, i)
        for index, place, tangent in self.tangents:
            accumulator: Any = tapes[index]
            accumulator._give(results[place], results[tangent])
        for place, traced in self.inherited:
            if any(tape.watches(inherited[place]) for tape in tapes):
                call.give(traced, inherited[place]._id)
        for tape, twin in zip(tapes, self.twins, strict=True):
            if tape.is_recording:
                for place, traced in twin.results:
                    if (name := watch_output(results[place], tape)) is not None:
                        call.give(traced, name)
        for tape, twin in zip(tapes, self.twins, strict=True):
            self._read(call, tape, twin, entries)
        if self.template is not None:
            known["result"] = results
            call.kept = [_found(origin, known) for origin in self.kept]
            for index, (tape, twin) in enumerate(zip(tapes, self.twins, strict=True)):
                if twin.records and tape.is_recording:
                    section = Section(call, index)
                    tape.records.append((None, None, section, (section.outs, section.sources, call.kept)))  # type: ignore[arg-type]  # it is no function
        return self.pack(results[: self.count])

    def _read(self, call: Call, tape: Recording, twin: Twin, entries: dict[Variable, Tensor]) -> None:
        """Let a tape watch the variables that the function has read."""
        for variable, kind, traced in twin.reads:
            if kind == "between":
                name = call.named(traced)
                known = tape.variables.setdefault(id(variable), (variable, []))[1]
                if name not in known:
                    known.append(name)
            else:
                tensor = entries[variable] if kind == "entry" else variable._current()
                tape.watch_variable(variable, tensor)
                call.give(traced, tensor._id)


def _found(origin: Origin, known: dict[str, Any]) -> Tensor:
    """A tensor of a call."""
    if origin.kind == "constant":
        return origin.of  # type: ignore[no-any-return]  # of is the tensor
    if origin.kind == "final":
        return origin.of._current()  # type: ignore[no-any-return]  # of is a variable
    x: Tensor = known[origin.kind][origin.of]
    return x if origin.is_own else wrap(x._array, x._table, x._shape)
