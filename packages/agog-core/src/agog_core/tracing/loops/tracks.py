"""Tracks: what tapes record of each iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import ref

from agog_core.recording import Id, Record, Recording, tapes_of_context
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.loops.equivalence import Equivalence
from agog_core.tracing.loops.references import Comparing, Replacing
from agog_core.tracing.state.device import TracedArray
from agog_core.tracing.state.leaves import Packing
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.loops.iterations import Iterations


@dataclass(eq=False, slots=True)
class Track:
    """What tapes have of one iteration.

    Attributes: ``starts`` is where its records begin on each tape; ``given`` and ``results`` are the ids of the loop's
    values before and after it, None where no tape watches one; ``firsts`` the first place of each result that is the
    same tensor; ``passed`` those results that it was given at the same place; ``watches`` who watches each result.
    """

    starts: list[int]
    given: list[Id | None]
    results: list[Id | None] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    passed: dict[int, Tensor] = field(default_factory=dict)
    watches: list[frozenset[int]] = field(default_factory=list)


class StandsFor:
    """What a stand-in, which this knows by a weak reference, stands for in a loop."""

    __slots__ = ("loop", "source", "stand_in")

    def __init__(self, loop: Iterations, stand_in: Tensor, source: Tensor) -> None:
        self.loop, self.stand_in, self.source = loop, ref(stand_in), source


class Tracks:
    """What tapes have of the iterations of a loop so far.

    To tapes, a stand-in is the tensor that it stands for.
    """

    def __init__(self, loop: Iterations) -> None:
        self.loop = loop
        self.tapes: list[Recording] = [tape for tape in tapes_of_context() if tape.is_open]
        self.of: list[Track] = []
        self.originals: dict[Variable, Tensor] = {}  # the tensors of variables before the loop
        self.initial: list[Tensor] = []  # the loop's values before it
        self._pairs: list[tuple[Tensor, Tensor, Variable | None]] = []
        self._known: list[dict[int, int]] = []  # how many ids of variables each tape knows
        self._serials = [tape.serial for tape in self.tapes]

    # While iterations are recorded

    def begin(self) -> None:
        """Note that an iteration begins."""
        if self.tapes:
            self._pairs = []
            self.of.append(Track([len(tape.records) for tape in self.tapes], []))
            self._known = [{key: len(ids) for key, (_, ids) in tape.variables.items()} for tape in self.tapes]

    def stand_in(self, tensor: Tensor, stand_in: Tensor, variable: Variable | None = None) -> None:
        """Let a stand-in be to tapes what a tensor is."""
        if not self.tapes:
            return
        let_be(tensor, stand_in)
        stand_in._array.stands_for = StandsFor(self.loop, stand_in, tensor)
        self._pairs.append((tensor, stand_in, variable))
        if variable is None:
            self.of[-1].given.append(self._id(tensor))
            if len(self.of) == 1:
                self.initial.append(tensor)

    def original(self, variable: Variable, tensor: Tensor) -> Tensor:
        """The tensor of a variable that the loop reads, without stand-ins of other iterations."""
        if not self.tapes:
            return tensor
        tensor = self.source(tensor)
        self.originals.setdefault(variable, tensor)
        return tensor

    def source(self, tensor: Tensor) -> Tensor:
        """What a stand-in of this loop stands for; any other tensor itself."""
        array = tensor._array
        found = array.stands_for if type(array) is TracedArray else None
        return found.source if found is not None and found.loop is self.loop and found.stand_in() is tensor else tensor

    def settle(self) -> None:
        """Let tensors be to tapes what their stand-ins have become, at the end of an iteration."""
        for tensor, stand_in, variable in self._pairs:
            if stand_in._watch != tensor._watch or hasattr(stand_in, "_id") > hasattr(tensor, "_id"):
                let_be(stand_in, tensor)
                if variable is None:
                    self.loop.is_refused = True
        self._pairs = []

    def end(self, results: Sequence[Tensor], written: Sequence[Variable]) -> list[Tensor]:
        """Note that an iteration ends; what its results are without stand-ins."""
        if not self.tapes:
            return list(results)
        pairs = self._pairs
        self.settle()
        track, places = self.of[-1], {id(x): place for place, x in reversed(list(enumerate(results)))}
        track.results = [self._id(x) for x in results]
        track.watches = [x._watch or frozenset() for x in results]
        track.firsts = [places[id(x)] for x in results]
        given = [tensor for tensor, _, variable in pairs if variable is None]
        found = [self.source(x) for x in results]
        for place, x in enumerate(found[: len(given)]):
            if x is given[place]:
                track.passed[place] = x
        own = {x._id for _, x, variable in pairs if variable is not None and hasattr(x, "_id")}
        self._check(own, written)
        return found

    def _check(self, own: set[Id], written: Sequence[Variable]) -> None:
        """Refuse what the records of one iteration cannot stand for; ``own`` are ids of what variables had before."""
        for tape, known, serial in zip(self.tapes, self._known, self._serials, strict=True):
            is_as_before = tape.is_open and tape.serial == serial and tape.breaks is None and not tape.is_forward
            grown = [i for key, (_, ids) in tape.variables.items() for i in ids[known.get(key, 0) :]]
            is_written = any(id(variable) in tape.variables for variable in written)
            if not is_as_before or is_written or not own.issuperset(grown):
                self.loop.is_refused = True

    def _id(self, tensor: Tensor) -> Id | None:
        return tensor._id if any(tape.watches(tensor) for tape in self.tapes) else None

    # Where the loop stays as it ran

    def unroll(self, count: int | None) -> None:
        """Take the stand-ins out of the records of all iterations, or of the first few."""
        if not self.tapes or not self.of:
            return
        self.settle()
        ends = None if count is None else self.of[count].starts
        replacing = Replacing(lambda x: self.source(x) if type(x) is Tensor else x)
        for place, tape in enumerate(self.tapes):
            part = slice(self.of[0].starts[place], None if ends is None else ends[place])
            tape.records[part] = [replacing(each) for each in tape.records[part]]
        if count is None:
            values = Packing(self.loop.values)
            self.loop.values = values([self.source(x) for x in values.tensors])
            self.restore()

    def restore(self) -> None:
        """Let variables that were only read have the tensors that they had."""
        state, value_of = self.loop.trace.state, self.loop.trace.value_of
        for variable, tensor in self.originals.items():
            if variable in state and value_of(state[variable]) is value_of(tensor):
                state[variable] = tensor

    def release(self) -> None:
        """Let go of all tensors, since a loop and its tracks know each other."""
        self.of, self._pairs, self.initial = [], [], []
        self.originals.clear()

    # Where one iteration is to stand for others

    def records(self, number: int) -> list[list[Record]]:
        """What each tape has recorded of an iteration, as far as gradients may come there."""
        track = self.of[number]
        ends = self.of[number + 1].starts if number + 1 < len(self.of) else [None] * len(self.tapes)
        found = []
        for tape, start, end in zip(self.tapes, track.starts, ends, strict=True):
            wanted = {i for i in track.results if i is not None}
            kept: list[Record] = []
            for each in reversed(tape.records[start:end]):
                outs, sources = ends_of(each)
                if not wanted.isdisjoint(outs):
                    kept.append(each)
                    wanted.update(i for i in sources if i is not None)
            found.append(kept[::-1])
        return found

    def fits(self, start: int) -> bool:
        """Whether an iteration may stand for all that come behind it, as far as one can see of it."""
        if not self.tapes:
            return True
        track, records = self.of[start], self.records(start)
        if self._are_given(start):
            return False
        if not all(self._may_keep(tape) for tape, each in zip(self.tapes, records, strict=True) if each):
            return False
        if sum(map(bool, records)) > 1:
            return False
        made = {out for each in records for record in each for out in ends_of(record)[0]}
        there: dict[Id, Id] = {}
        for place, (given, result) in enumerate(zip(track.given, track.results, strict=True)):
            if (given is None) != (result is None):
                return False
            if given is None or result is None:
                continue
            is_passed = given == result and place in track.passed
            if there.setdefault(given, result) != result or not (is_passed or result in made):
                return False
        return len(set(there.values())) == len(there)

    def fit_rows(self, start: int, carried: int) -> bool:
        """Whether a row may stand for all that come behind it, as far as one can see of it."""
        if not self.tapes:
            return True
        track, records = self.of[start], self.records(start)
        made = {out for each in records for record in each for out in ends_of(record)[0]}
        results = [i for i in track.results if i is not None]
        pairs = zip(track.given[:carried], track.results, strict=False)
        return (
            not self._are_given(start)
            and all(self._may_keep(tape) for tape, each in zip(self.tapes, records, strict=True) if each)
            and sum(map(bool, records)) < 2
            and made.issuperset(results)
            and _are_distinct(results)
            and all((given is None) == (result is None) for given, result in pairs)
            and all(not each.passed and _are_distinct(each.given) for each in self.of)
        )

    def is_watched(self, start: int) -> bool:
        """Whether tapes watch values of the loop."""
        return bool(self.tapes) and any(i is not None for i in (*self.of[start].given, *self.of[start].results))

    def _are_given(self, start: int) -> bool:
        """Whether an iteration uses a tensor both as what it was given and as one of outside, which ids do not tell."""
        lead, track = self.loop.segments[start], self.of[start]
        inside = {value for part in lead.nodes for node in part for value in node.outputs}
        used = {value for part in lead.nodes for node in part for value in node.inputs if value not in inside}
        used |= {*(lead.results or ()), *[source for _, source, _ in lead.variables.values()]}
        pairs = zip(lead.sources, track.given, strict=True)
        return any(i is not None and p not in track.passed and source in used for p, (source, i) in enumerate(pairs))

    def _may_keep(self, tape: Recording) -> bool:
        is_persistent = getattr(tape, "_persistent", True)
        return type(tape) is not Recording and not is_persistent

    def is_like(self, lead: int, other: int, equivalence: Equivalence) -> bool:
        """Whether tapes have recorded the same of two iterations."""
        if not self.tapes:
            return True
        one, two = self.of[lead], self.of[other]
        ids = Ids()
        if not ids.all(one.given, two.given, is_made=True):
            return False

        def is_same(x: Tensor, y: Tensor) -> bool:
            values = self.loop.trace.value_of(x), self.loop.trace.value_of(y)
            return equivalence.same(values[:1], values[1:]) and ids.same(self._id(x), self._id(y))

        comparing = Comparing(is_same, equivalence.attribute)
        for mine, theirs in zip(self.records(lead), self.records(other), strict=True):
            if len(mine) != len(theirs):
                return False
            for x, y in zip(mine, theirs, strict=True):
                if not is_like(x, y, ids, comparing):
                    return False
        return not two.results or (one.firsts == two.firsts and ids.all(one.results, two.results))


def _are_distinct(ids: Sequence[Id | None]) -> bool:
    found = [i for i in ids if i is not None]
    return len(set(found)) == len(found)


class Ids:
    """Which ids correspond in two parts of a tape; those of outside, to themselves."""

    def __init__(self) -> None:
        self._there: dict[Id, Id] = {}
        self._back: dict[Id, Id] = {}

    def same(self, one: Id | None, other: Id | None, is_made: bool = False) -> bool:
        """Whether ids correspond; they do from then on, where the parts make or are given them."""
        if one is None or other is None or not (is_made or one == other or one in self._there):
            return one is other
        return self._there.setdefault(one, other) == other and self._back.setdefault(other, one) == one

    def all(self, ones: Sequence[Id | None], others: Sequence[Id | None], is_made: bool = False) -> bool:
        """Whether ids correspond one by one; see `same`."""
        return len(ones) == len(others) and all(self.same(x, y, is_made) for x, y in zip(ones, others, strict=True))


def is_like(one: Record, other: Record, ids: Ids, comparing: Comparing) -> bool:
    """Whether two records do the same."""
    if (one[0] is None) != (other[0] is None):
        return False
    mine, theirs = ends_of(one), ends_of(other)
    saved = [each[3] if each[0] is not None else each[3][2:] for each in (one, other)]
    is_tuple = [isinstance(each[3][0], tuple) for each in (one, other) if each[0] is None]
    return (
        len(set(is_tuple)) < 2
        and ids.all(mine[1], theirs[1])
        and ids.all(mine[0], theirs[0], is_made=True)
        and comparing(one[2], other[2])
        and comparing(saved[0], saved[1])
    )


def ends_of(record: Record) -> tuple[Sequence[Id | None], Sequence[Id | None]]:
    """The ids of what a record's op has made, and of what it has taken."""
    out, source, _, saved = record
    if out is not None:
        return [out], [source]
    outs, sources = saved[:2]
    return outs if isinstance(outs, tuple) else [outs], sources


def let_be(tensor: Tensor, other: Tensor) -> None:
    """Let another tensor be to tapes what one is."""
    if hasattr(tensor, "_id"):
        other._id = tensor._id
    other._watch = tensor._watch


def all_be(tensors: Sequence[Tensor], others: Sequence[Tensor]) -> None:
    """Let other tensors be to tapes what some are, one by one."""
    for tensor, other in zip(tensors, others, strict=True):
        let_be(tensor, other)
