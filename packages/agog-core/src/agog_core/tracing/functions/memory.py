"""Memory: the traces of a function, why each was made, and how many there may be."""

from __future__ import annotations

import linecache
import re
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from agog_core import nest
from agog_core.errors import TracingWarning
from agog_core.named_tuple import Named
from agog_core.settable import Reads
from agog_core.tracing.errors import OtherWayError, again
from agog_core.tracing.functions.arguments import key_of_call
from agog_core.tracing.functions.concrete_function import spec_of
from agog_core.tracing.functions.retracing import MOST_FAILURES, MOST_WAYS, Retracing, depth
from agog_core.tracing.graphs.graph import Effect, Graph, Node
from agog_core.tracing.state.variables import Failure
from agog_core.tracing.traces.concrete import Concrete
from agog_core.tracing.traces.first_call import first_call
from agog_core.tracing.traces.matching import Matcher

if TYPE_CHECKING:
    from agog_core.tracing.tapes.calls import Taped

# How many traces there are for arguments of one kind that have read other attributes, or other values of them.
MOST_SETTINGS = 8
# Of no call: what takes arguments of its kind, what it found, and what the settings were.
_NOTHING: tuple[Any, Any, Any, Any] = None, None, None, None


class TraceInfo(Named):
    """One trace of a function.

    Args:
        reason: why it was made.
        graph: what it has recorded.
        is_kept: whether later calls run it; not where the call has created variables, or has caught the error of an op.
    """

    reason: str
    graph: Graph
    is_kept: bool

    def __repr__(self) -> str:
        count = len(self.graph.nodes)
        return f"<trace of {count} node{'' if count == 1 else 's'}: {self.reason}>"


class Memory:
    """The traces of a function, or of a method of one object."""

    def __init__(self) -> None:
        self.traces: dict[Any, Concrete] = {}
        # Of the last call that found one: what takes arguments of its kind, and what it found.
        # Then what the settings were, of attributes and of module state.
        self.latest = _NOTHING
        self.latest_taped = _NOTHING
        self.taped: dict[Any, Any] = {}  # for calls under tapes
        self._before: Concrete | Taped | None = None  # what the last call has found by its key
        self.kinds: dict[Any, tuple[Any, Any]] = {}  # of arguments that it was traced for
        self.created: set[Any] = set()  # the places at which a call has created variables
        self.infos: list[TraceInfo] = []
        # Held while what is here changes, and not while the function is traced: Python may wait for other threads.
        self.lock = threading.RLock()
        self._reads: dict[Any, list[Reads]] = {}  # what traces of a kind of calls have read, the latest first
        self._ways: dict[Any, int] = {}
        self.retracing = Retracing()
        self._loops: set[str] = set()  # the lines of loops that were warned of
        self._failures: set[str] = set()  # the reasons of calls in which ops have failed

    def note_kind(self, args: Any, kwargs: Any) -> None:
        """Remember arguments that the function is traced for: specs in the place of tensors."""
        self.kinds.setdefault(key_of_call(args, kwargs), nest.map_structure(spec_of, (args, kwargs)))

    def with_reads(self, key: Any) -> tuple[Any, Reads]:
        """A key, with what a trace has read and finds as it was; something new where there is none."""
        for reads in self._reads.get(key, ()):
            if reads.hold():
                return key, reads
        with self.lock:
            known = self._reads.get(key, [])
            found = next((each for each in known if each.hold()), None)
            reads = found or Reads(known[0].changed() if known else None)
            if found is None:
                for old in known[MOST_SETTINGS - 1 :]:
                    self.traces.pop((key, old), None)
                    self.taped.pop((key, old), None)
                self._reads[key] = [reads, *known[: MOST_SETTINGS - 1]]
            return key, reads

    def matcher(self, found: Concrete | Taped, *call: Any) -> Matcher | None:
        """What takes arguments of the kind of a call, where that before was of this kind too: to write it takes as long
        as it saves in some twenty calls."""
        is_again, self._before = found is self._before, found
        return found.matcher(*call) if is_again else None

    def allows(self, key: Any, parent: Concrete | Taped | None, guard: int, function: str) -> bool:
        """Whether a call is traced; else it runs eagerly. That is said where it is news."""
        with self.lock:
            if parent is None:
                kind, reads = key
                return self.retracing.allows(kind, reads, function)
            count = self._ways.get(key, 1)
            if count < MOST_WAYS:
                self.latest = self.latest_taped = _NOTHING  # so that the next call says whether it has a trace
                return self.retracing.allows_way((key, id(parent), guard), count)
            self.give_up(key)
        self.retracing.tell("ways", function=function, line=parent.guards[guard].line, count=MOST_WAYS)
        return False

    def goes_astray(self, first: Concrete, at: Concrete, guard: int, failed: int, function: str) -> bool:
        """Whether calls run eagerly from now on, because so many traces have run in vain in this one, the last up to a
        guard, and it goes on like this."""
        with self.lock:
            if failed > 1:
                self.latest = _NOTHING  # so that the next call says whether its trace is the first that it runs
            if not self.retracing.is_astray(failed):
                return False
            self.give_up(first.key)
        self.retracing.tell("astray", function=function, line=at.guards[guard].line)
        return True

    def give_up(self, key: Any) -> None:
        """Let calls for arguments of a kind run eagerly from now on."""
        with self.lock:
            self.retracing.give_up(key[0])
            self.latest = self.latest_taped = _NOTHING
            self.traces.pop(key, None)
            self.taped.pop(key, None)

    def again(
        self, name: str, found: Any, failure: Exception, function: Callable[..., Any], args: Any, kwargs: Any
    ) -> Any:
        """Call the function where a trace has failed and done nothing; give that up where it goes on like this."""
        if isinstance(failure, OtherWayError) and failure.is_cond and failure.trace.whole is not None:
            result, is_one = self._traced(failure, function, args, kwargs)
            if is_one:
                return result
            function, args, kwargs = (lambda args, kwargs: result), (), {}
        result = again(failure, function, args, kwargs)
        known = (*self.traces.items(), *self.taped.items())
        for key in [key for key, each in known if each is found]:
            if self.retracing.fails(key[0]):
                self.give_up(key)
                self.retracing.tell("failures", function=name, count=MOST_FAILURES, error=failure)
        return result

    def note(self, key: Any, parent: Concrete | Taped | None, guard: int, graph: Graph, has_created: bool) -> None:
        """Remember how a trace came about."""
        with self.lock:
            if not has_created:
                self._ways[key] = self._ways.get(key, 0) + 1
            self.infos.append(TraceInfo(self._reason(key, parent, guard, graph), graph, not has_created))
        if parent is not None and (line := loop_of_other_length(parent.guards[guard], parent.graph, graph)) is not None:
            self._warn_of_loop(line)

    def _warn_of_loop(self, line: str) -> None:
        """Warn of a loop each of whose lengths is a trace, once."""
        with self.lock:
            is_new = line not in self._loops
            self._loops.add(line)
        if is_new:
            warnings.warn(
                f"{line}: a loop has another length than before, and each length is traced by itself, {MOST_WAYS} at "
                "most. tf.while_loop on tensors whose shapes stay is one trace for all lengths, where no tape is open.",
                TracingWarning,
                stacklevel=depth(),
            )

    def keep(
        self, known: dict[Any, Any], place: Any, made: Any, key: Any, parent: Concrete | Taped | None, guard: int
    ) -> None:
        """Keep a trace among those that are known, and remember how it came about; not where another one is there."""
        with self.lock:
            if known.setdefault(place, made) is made:
                self.note(key, parent, guard, made.graph, has_created=False)

    def _traced(self, failure: OtherWayError, function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, bool]:
        """What a call gives in which a `cond` of a loop goes another way, and whether its trace and the one that has
        failed are one now."""
        failed: Concrete = failure.trace
        with failed.key[1].noted():
            call = first_call(function, args, kwargs, may_create=True)
        is_one = not call.failed and not call.has_created and self.unite(failed, failure.line, call.concrete)
        if not is_one:
            failed.whole = None  # nor will it be with others
            call.concrete.untie()
        return (call.result if call.is_kept else function(args, kwargs)), is_one

    def unite(self, parent: Concrete | None, guard: int | str, made: Concrete) -> bool:
        """Let one trace take the places of two that part where the program branches by `cond`; whether it does."""
        found = None if parent is None else parent.united(made)
        if parent is None or found is None:
            return False
        with self.lock:
            if not self._put(self.traces, parent.key, parent, found):
                return False  # another thread has changed it
            self.traces[parent.key].latest, self.latest = found, _NOTHING
            for place, info in enumerate(self.infos):
                if info.graph is parent.graph:
                    self.infos[place] = TraceInfo(info.reason, info.graph, False)
            line = parent.guards[guard].line if isinstance(guard, int) else guard
            self.infos.append(TraceInfo(f"{line}: a branch goes another way", found.graph, True))
        return True

    def _put(self, known: dict[Any, Concrete], place: Any, old: Concrete, new: Concrete) -> bool:
        """Put a trace in the place of another one, or of one of its branches; whether that is there."""
        if (here := known.get(place)) is old:
            known[place] = new
        return here is old or (
            here is not None and any(self._put(here.branches, guard, old, new) for guard in list(here.branches))
        )

    def note_failure(self, name: str, key: Any, failure: Failure, graph: Graph) -> None:
        """Remember why a call is not run again, such as that an op has failed in it and the function has gone on."""
        with self.lock:
            if failure.reason not in self._failures:
                self._failures.add(failure.reason)
                self.infos.append(TraceInfo(failure.reason, graph, False))
        if failure.is_final:
            self.give_up(key)
            self.retracing.tell("changed", function=name, reason=failure.reason)
        elif self.retracing.fails(key[0]):
            self.give_up(key)
            self.retracing.tell("caught", function=name, reason=failure.reason, count=MOST_FAILURES)

    def _reason(self, key: Any, parent: Concrete | Taped | None, guard: int, graph: Graph) -> str:
        if parent is not None:
            return _other_way(parent.guards[guard])
        kinds = ", ".join(f"{value.table.dtype.name} {value.shape}" for value in graph.inputs)
        start = "the first call" if not self.infos else "arguments of another kind"
        if self.infos and not self.infos[-1].is_kept and self.infos[-1].reason not in self._failures:
            start = "the call before has created variables"
        elif key[1].changed_before is not None:
            start = f"{key[1].changed_before} has changed"
        return f"{start}: {kinds or 'no tensors'}"


def _other_way(guard: Node) -> str:
    if guard.effect is Effect.GUARD and isinstance(guard.outcome, tuple):
        return f"{guard.line}: a shape that depends on values is another than {guard.outcome}"
    return f"{guard.line}: a branch goes another way"


# What stands in a line of the program that asks for a condition itself, and does not call what asks for several.
_ASKS = re.compile(r"\b(while|if|and|or|not|bool|any|all|assert)\b")


def loop_of_other_length(guard: Node, before: Graph, now: Graph) -> str | None:
    """The line of a loop whose length is another one in two ways of a function; None where they part elsewhere."""
    if _is_for(guard.line):  # it goes over a tensor whose length depends on values, such as a range
        return guard.line
    found = [
        [node.outcome for node in graph.nodes if node.effect is Effect.GUARD and node.line == guard.line]
        for graph in (before, now)
    ]
    is_other = len(found[0]) != len(found[1]) and _ASKS.search(_text(guard.line)) is not None
    return guard.line if is_other and all(map(_are_of_loop, found)) else None


def _is_for(line: str) -> bool:
    """Whether a line of the program begins a loop."""
    return _text(line).startswith("for ")


def _text(line: str) -> str:
    """What stands in a line of the program."""
    file, _, number = line.rpartition(":")
    return linecache.getline(file, int(number)).lstrip() if number.isdecimal() else ""


def _are_of_loop(outcomes: Sequence[Any]) -> bool:
    """Whether a condition was the same each time but the last."""
    return (len(set(outcomes[:-1])) < 2 and outcomes[-1:] != outcomes[:1]) or len(outcomes) == 1


class Memories:
    """The memories of a method, one for each object that has it, which they do not keep alive."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[ref[Any], Memory]] = {}

    def of(self, instance: Any) -> Memory:
        """The memory of an object."""
        found = self._of.get(id(instance))
        if found is not None and found[0]() is instance:
            return found[1]
        memory, key = Memory(), id(instance)
        try:
            held = ref(instance, lambda _: self._of.pop(key, None))
        except TypeError:  # an object that nobody can hold weakly
            return memory
        self._of[key] = held, memory
        return memory
