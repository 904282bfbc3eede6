"""Equivalence: whether two parts of a graph compute the same of other values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from agog_core.tracing.execution.branches import Branch, Choice, Handed
from agog_core.tracing.execution.loops import Loop, Part, Rows
from agog_core.tracing.execution.stacks import Back, Item, Length, RowsBack
from agog_core.tracing.graphs.graph import Graph, Late, LateItem, Node, RandomKey, Value
from agog_core.tracing.graphs.passes import frozen
from agog_core.variables.variable import Variable

_MOST_COMPARED = 1 << 16  # elements of constants


class Equivalence:
    """What corresponds to what in two parts, as far as they have been compared.

    A comparison changes neither part. `learn` then gives branches of the first one what the other one knows.

    Args:
        temporaries: variables that the parts make for themselves.
        first: the number of the first value that may be of one part alone.
        learns: whether branches may differ in what they know, and learn it.
        is_whole: whether the parts are all of two traces, of which the first is nobody else's.
    """

    def __init__(
        self, temporaries: Collection[Variable] = (), first: int = 0, learns: bool = True, is_whole: bool = False
    ) -> None:
        self._first, self._learns, self._is_whole = first, learns, is_whole
        self._twofold: set[Value] = set()  # values of the other part that two of the one correspond to
        self._values: dict[Value, Value] = {}
        self._lates: dict[Late, Late] = {}
        self._temporaries = temporaries
        self._lessons: list[Callable[[], None]] = []

    def learn(self) -> None:
        """Let branches of the first part know what corresponding ones know; only where the parts are equivalent."""
        for each in self._lessons:
            each()

    def given(self, ones: Sequence[Value], others: Sequence[Value]) -> bool:
        """Let values correspond that the parts are given, or make; whether they are of one kind."""
        if len(ones) != len(others) or not all(map(is_alike, ones, others)):
            return False
        self._values.update(zip(ones, others, strict=True))
        return True

    def same(self, ones: Sequence[Value | None], others: Sequence[Value | None]) -> bool:
        """Whether values correspond, or are the same ones."""
        return len(ones) == len(others) and all(map(self._is_same, ones, others))

    def _is_same(self, one: Value | None, other: Value | None) -> bool:
        if one is None or other is None or one in self._values:
            return self._values.get(one) is other if one is not None else other is None
        if one is other:
            return True
        is_constant = (
            one.kind == other.kind == "constant" and is_alike(one, other) and type(one.array) is type(other.array)
        )
        return is_constant and _is_equal(one, other)

    def nodes(self, ones: Sequence[Node], others: Sequence[Node]) -> bool:
        """Whether nodes correspond."""
        return len(ones) == len(others) and all(map(self._is_node, ones, others))

    def _is_node(self, one: Node, other: Node) -> bool:
        if isinstance(mine := one.attributes.get("loop"), Choice):
            if isinstance(handed := other.handed, Handed):
                return self._is_handed(one, mine, other, handed)
            theirs = other.attributes.get("loop")
            return isinstance(theirs, Choice) and self._is_choice(one, mine, other, theirs)
        if self._is_whole and isinstance(mine, Loop) and isinstance(theirs := other.attributes.get("loop"), Loop):
            return self._is_whole_loop(one, mine, other, theirs)
        is_same = not self._joins(one, other) and (
            (one.effect, one.op, one.table, one.outcome, one.several)
            == (other.effect, other.op, other.table, other.outcome, other.several)
            and self.same(one.inputs, other.inputs)
            and self.attribute(dict(one.attributes), dict(other.attributes))
            and self.attribute(one.handed, other.handed)
            and len(one.variables) == len(other.variables)
            and all(map(self._is_variable, one.variables, other.variables))
            and self.given(one.outputs, other.outputs)
        )
        return is_same and self.same([x.base for x in one.outputs], [x.base for x in other.outputs])

    def _is_variable(self, one: Variable, other: Variable) -> bool:
        return one is other or (one in self._temporaries and other in self._temporaries)

    def numbers(self, ones: Sequence[Late], others: Sequence[Late]) -> bool:
        """Let numbers known late correspond; whether they are of one kind."""
        self._lates.update(zip(ones, others, strict=False))
        return len(ones) == len(others) and all(map(_is_number, ones, others))

    def sources(self, ones: Sequence[Late], others: Sequence[Late]) -> bool:
        """Whether numbers are computed of values that correspond."""
        return all(self.same(one.inputs, other.inputs) for one, other in zip(ones, others, strict=True))

    def attribute(self, one: Any, other: Any) -> bool:
        """Whether attributes are equal, in type, value and sign."""
        if one is other:
            return not isinstance(one, Late) or one not in self._lates
        if type(one) is not type(other):
            return False
        if isinstance(one, Late):
            return self._lates.get(one) is other
        if isinstance(one, LateItem):
            return one.name == other.name and self.attribute(one.late, other.late)
        if isinstance(one, Loop):
            return self._is_loop(one, other)
        if isinstance(one, (Back, Rows, RowsBack)):
            return _plain(one) == _plain(other) and self._is_part(one.body, other.body, not self._is_whole)
        if isinstance(one, Handed):
            is_like = one.is_gradient is other.is_gradient and self.attribute(one.form, other.form)
            return is_like and self.same(one.values, other.values)
        if isinstance(one, (Item, Length)):
            return one.is_like(other)
        if isinstance(one, (list, tuple)):
            return len(one) == len(other) and all(map(self.attribute, one, other))
        if isinstance(one, Mapping):
            return one.keys() == other.keys() and all(self.attribute(one[key], other[key]) for key in one)
        if isinstance(one, (FunctionType, MethodType)):
            return is_same_function(one, other)
        return bool(frozen(one) == frozen(other))

    def _is_choice(self, one: Node, mine: Choice, other: Node, theirs: Choice) -> bool:
        """Whether two branches correspond, as far as both know a function."""
        counts = [len(next(iter(each.branches.values())).following) for each in (mine, theirs)]
        is_same = (mine.form, mine.line, *counts[:1]) == (theirs.form, theirs.line, *counts[1:])
        after = [each.attributes["after"] for each in (one, other)]
        if len(one.outputs) != len(other.outputs) or not all(map(is_alike, one.outputs, other.outputs)):
            return False
        if not is_same or not self.same(one.inputs[:1], other.inputs[:1]) or not self.attribute(*after):
            return False
        back = {value: key for key, value in self._values.items()}
        for outcome, branch in theirs.branches.items():
            taken = [other.inputs[1 + place] for place in branch.places]
            if any(value not in back and value.number >= self._first for value in taken):
                return False  # it is of the other part alone
            if outcome in mine.branches:
                known = [one.inputs[1 + place] for place in mine.branches[outcome].places]
                captured = [self._back(value, back, known) for value in taken]
                is_sure = self._twofold.isdisjoint(taken)
                if None in captured or not self._is_branch(one, mine, outcome, branch, captured, is_sure):
                    return False
                continue
            if not self._learns or not self._twofold.isdisjoint(taken):
                return False
            captured = [back.get(value, value) for value in taken]
            self._lessons.append(partial(_learn, one, mine, outcome, branch, captured))
        return self.given(one.outputs, other.outputs)

    def _back(self, value: Value, back: Mapping[Value, Value], known: Sequence[Value]) -> Any:
        """What corresponds to a value of the other part; of two, the one that a function is known to take, or None."""
        if value in self._twofold:
            return next((each for each in known if self._values.get(each) is value), None)
        return back.get(value, value)

    def _is_branch(
        self, one: Node, mine: Choice, outcome: bool, other: Branch, captured: Sequence[Value], is_sure: bool
    ) -> bool:
        """Whether a function of a node does the same as another one, which takes values that correspond to some; what
        that takes alone, for branches inside, this one is to take too. Where it is not sure which these are, none
        learns."""
        known = mine.branches[outcome]
        graph, taken = known.part.graph, [one.inputs[1 + place] for place in known.places]
        more = [place for place, value in enumerate(captured) if value not in taken]
        if more and not (self._learns and is_sure):
            return False
        inputs = [*graph.inputs, *[replace(other.part.graph.inputs[place]) for place in more]]
        taken += [captured[place] for place in more]
        first, last = len(graph.outputs), len(graph.outputs) + len(known.places)
        if more:
            following, kept = (_moved(each, last, len(more)) for each in (known.following, known.kept))
            known = replace(known, following=following or (), kept=kept)
            self._lessons.append(partial(_learn, one, mine, outcome, known, taken, inputs))
        there = {first + place: first + taken.index(value) for place, value in enumerate(captured)}
        there |= {first + len(captured) + n: first + len(taken) + n for n in range(len(known.constants))}
        same = [inputs[taken.index(value)] for value in captured], other.part.graph.inputs
        return _is_plainly(known, other, there) and self._is_part(known.part, other.part, is_sure, same)

    def _is_handed(self, one: Node, mine: Choice, other: Node, handed: Handed) -> bool:
        """Whether the other trace may have handed on values from before where this one branches, which may learn to.

        There what was handed on is the same value behind the branch as before it, and here it is another one.
        """
        flags = self.same(one.inputs[:1], other.inputs)
        if not self._is_whole or not flags or (mine.form, mine.line) != (handed.form, other.line):
            return False
        back = {value: key for key, value in self._values.items()}
        moved = [value for value in handed.values if value.kind != "constant"]
        leaves = any(branch.kept is not None for branch in mine.branches.values())  # a stack, as the last output
        outputs = one.outputs[: len(one.outputs) - leaves]
        if len(outputs) != len(handed.values) or not all(map(is_alike, outputs, handed.values)):
            return False
        is_known = other.outcome in mine.branches
        if not (is_known or self._twofold.isdisjoint(moved)) or not all(value in back for value in moved):
            return False
        if not is_known:
            branch, taken = _handing_on([back.get(value, value) for value in handed.values], leaves)
            self._lessons.append(partial(_learn, one, mine, other.outcome, branch, taken))
        elif not self.same(_handed_by(one, mine.branches[other.outcome]), handed.values):
            return False
        self._values.update(zip(outputs, handed.values, strict=True))
        self._twofold.update(moved)
        return True

    def _joins(self, one: Node, other: Node) -> bool:
        """Whether a kernel of the other trace gets one array where this one's gets two: it may round otherwise."""
        if not self._twofold or len(one.inputs) < 2 or (one.op is not None and one.op.elementwise):
            return False
        memory = [[value.base or value for value in node.inputs] for node in (one, other)]
        return len(set(memory[1])) < len(set(memory[0]))

    def _is_loop(self, one: Loop, other: Loop) -> bool:
        parts = ((one.condition, other.condition), (one.body, other.body))
        is_same = (one.limit, one.kept, _plain(one)) == (other.limit, other.kept, _plain(other))
        return is_same and all(self._is_part(x, y) for x, y in parts)

    def _is_whole_loop(self, one: Node, mine: Loop, other: Node, theirs: Loop) -> bool:
        """Whether two loops correspond, where the first one is to take what branches of the other one take alone."""
        count, sizes = len(mine.following), [len(each.body.graph.inputs) for each in (mine, theirs)]
        is_same = len(theirs.following) == count and not self._joins(one, other)
        if not is_same or not self.same(one.inputs[:count], other.inputs[:count]):
            return False
        back = {value: key for key, value in self._values.items()}
        known, more = one.inputs[count : sizes[0]], []
        there: dict[int, int] = {}  # places of what no iteration changes, in the other loop and in this one
        for place, value in enumerate(other.inputs[count : sizes[1]], count):
            if value not in back or value in self._twofold:
                return False
            if back[value] not in known:
                known.append(back[value])
                more.append(theirs.body.graph.inputs[place])
            there[place] = count + known.index(back[value])
        rest = [one.inputs[sizes[0] :], other.inputs[sizes[1] :]]
        inputs = [*one.inputs[:count], *known, *rest[0]]
        taken = [[*part.graph.inputs, *map(replace, more)] for part in (mine.condition, mine.body)]
        wider = mine.taking(len(more))
        if more:
            self._lessons.append(partial(_learn_of_loop, one, mine, inputs, wider, taken))
        places = [*zip(range(count), range(count), strict=True), *((here, place) for place, here in there.items())]
        after = [each.attributes["after"] for each in (one, other)]
        parts = zip(((mine.condition, theirs.condition), (mine.body, theirs.body)), taken, strict=True)
        return (
            self.same(*rest)
            and self.attribute(*after)
            and all(
                self._is_part(x, y, same=([given[here] for here, _ in places], [y.graph.inputs[n] for _, n in places]))
                for (x, y), given in parts
            )
            and (mine.limit, mine.kept, _plain(mine, wider)) == (theirs.limit, theirs.kept, _plain(theirs))
            and self.given(one.outputs, other.outputs)
        )

    def _is_part(
        self,
        one: Part,
        other: Part,
        learns: bool = True,
        same: tuple[Sequence[Value], Sequence[Value]] | None = None,
    ) -> bool:
        """Whether two parts correspond where values that they take do, all of them in their order or some."""
        inside = Equivalence(learns=learns and self._learns, is_whole=self._is_whole)
        inside._lessons = self._lessons
        x, y = one.graph, other.graph
        return inside.given(*((x.inputs, y.inputs) if same is None else same)) and inside._is_graph(x, y)

    def _is_graph(self, x: Graph, y: Graph) -> bool:
        self._temporaries = [v for graph in (x, y) for node in graph.nodes for v in node.variables]
        is_same = self.numbers(x.lates, y.lates) and self.nodes(x.nodes, y.nodes) and self.sources(x.lates, y.lates)
        return is_same and self.same(x.outputs, y.outputs)


def _learn(
    node: Node,
    choice: Choice,
    outcome: bool,
    branch: Branch,
    taken: Sequence[Value],
    inputs: list[Value] | None = None,
) -> None:
    """Let a branch know a function that takes some values, which ``inputs`` of its graph stand for from now on."""
    if inputs is not None:
        branch.part.graph.inputs = inputs
    node.inputs += [value for value in dict.fromkeys(taken) if value not in node.inputs[1:]]
    places = tuple([node.inputs.index(value, 1) - 1 for value in taken])
    choice.branches[outcome] = replace(branch, places=places)


def _learn_of_loop(
    node: Node, loop: Loop, inputs: list[Value], following: tuple[int, ...], taken: Sequence[list[Value]]
) -> None:
    """Let a loop take more values; ``taken`` is what its condition and its body take then."""
    node.inputs, loop.following = inputs, following
    loop.condition.graph.inputs, loop.body.graph.inputs = taken


def _plain(loop: Loop | Back | Rows | RowsBack, following: Sequence[int] | None = None) -> Any:
    """What of a loop is no part of it."""
    sizes = [getattr(loop, name, None) for name in ("ends", "count", "sizes", "kept")]
    following = loop.following if following is None else following
    return following, loop.shared, sizes, [frozen(each) for each in loop.constants]


def _moved(places: Sequence[int] | None, last: int, count: int) -> tuple[int, ...] | None:
    """Places in a pool, which has so many values more before one of them."""
    return None if places is None else tuple([place + count * (place >= last) for place in places])


def _is_plainly(one: Branch, other: Branch, there: Mapping[int, int]) -> bool:
    """Whether functions give what is at the same places, where those of the other one's pool are elsewhere."""
    first = len(one.part.graph.outputs)
    found = [
        tuple([there.get(place, place) for place in each]) for each in (other.following, other.kept or (), other.copied)
    ]
    copied = {there[first + place] - first for place in other.copied}
    return (
        first == len(other.part.graph.outputs)
        and (one.following, one.kept or (), one.shared) == (*found[:2], other.shared)
        and (one.kept is None, set(one.copied)) == (other.kept is None, copied)
        and [frozen(each) for each in one.constants] == [frozen(each) for each in other.constants]
    )


def is_alike(one: Value, other: Value) -> bool:
    """Whether values are of one device, dtype, shape and layout."""
    return (one.table, one.shape, one.layout) == (other.table, other.shape, other.layout)


def _is_number(one: Late, other: Late) -> bool:
    if type(one) is not type(other) or one.is_behind is not other.is_behind:
        return False
    if isinstance(one, RandomKey) and isinstance(other, RandomKey):
        return (one.op_seed, one.values) == (other.op_seed, other.values)
    return one.is_never_zero is other.is_never_zero and is_same_function(one.function, other.function)


def _is_equal(one: Value, other: Value) -> bool:
    hosts = [np.asarray(value.table.device.to_host(value.array)) for value in (one, other)]
    if hosts[0].size > _MOST_COMPARED:
        return hosts[0] is hosts[1]
    if hosts[0].dtype.hasobject:
        return bool(hosts[0].tolist() == hosts[1].tolist())
    return hosts[0].tobytes() == hosts[1].tobytes()


def is_same_function(one: Any, other: Any) -> bool:
    """Whether two functions are one, or were made by the same code around the same values."""
    if one is other or one == other:
        return True
    if not (isinstance(one, FunctionType) and isinstance(other, FunctionType)) or one.__code__ is not other.__code__:
        return False
    cells = [[cell.cell_contents for cell in each.__closure__ or ()] for each in (one, other)]
    given = [(each.__defaults__ or (), each.__kwdefaults__ or {}) for each in (one, other)]
    return Equivalence().attribute(cells[0], cells[1]) and Equivalence().attribute(given[0], given[1])


def _handing_on(values: Sequence[Value], leaves: bool) -> tuple[Branch, list[Value]]:
    """A function that hands on values and constants, and the values that it takes; ``leaves`` says that another
    function leaves something for its gradient."""
    taken = [value for value in dict.fromkeys(values) if value.kind != "constant"]
    constants = [value for value in dict.fromkeys(values) if value.kind == "constant"]
    pool = {value: place for place, value in enumerate([*taken, *constants])}
    inputs = [replace(value, kind="input", node=None, base=None, variable=None) for value in taken]
    arrays, kept = tuple([value.array for value in constants]), () if leaves else None
    following, everything = tuple([pool[value] for value in values]), tuple(range(len(values)))
    return Branch(Part(Graph(inputs)), everything[: len(taken)], following, arrays, everything, kept), taken


def _handed_by(node: Node, branch: Branch) -> list[Value | None]:
    """The values that a function of a node hands on; None for any other."""
    pool: list[Value | None] = [None] * len(branch.part.graph.outputs)
    pool += [node.inputs[1 + place] for place in branch.places] + [None] * len(branch.constants)
    return [pool[place] for place in branch.following]
