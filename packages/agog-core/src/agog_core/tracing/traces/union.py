"""Union: two traces that differ in a branch of `agog_core.cond` become one, which goes both ways.

A trace keeps its graph with a node for each such branch. What runs has a guard and the nodes of the function that was
called in its place, as long as no call has called the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agog_core import nest
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.branches import Branch, Choice
from agog_core.tracing.execution.loops import Loop, Part
from agog_core.tracing.execution.stacks import Item
from agog_core.tracing.graphs.graph import Effect, Graph, Late, LateItem, Node, RandomKey, Value
from agog_core.tracing.loops.equivalence import Equivalence
from agog_core.tracing.state.leaves import exact, key_of_structure
from agog_core.tracing.traces.aliases import Echoes
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace


@dataclass(frozen=True, slots=True)
class Whole:
    """What a call did, with a node for each branch.

    Args:
        graph: its graph, before the passes.
        form: of what it has returned, Python values included.
        echoes: which of its results are no new tensors.
        temporaries: variables that it has made for itself.
    """

    graph: Graph
    form: Any
    echoes: Echoes
    temporaries: frozenset[Variable]

    @classmethod
    def of(cls, trace: Trace, result: Any, echoes: Echoes) -> Whole | None:
        """What a traced call did that has returned something; None where no branch is a node or in one, or the result
        holds other than tensors and Python values."""
        leaves = nest.flatten(result)
        is_plain = all(type(leaf) is Tensor or not hasattr(leaf, "dtype") for leaf in leaves)
        if not is_plain or not any(map(_branches, trace.graph.nodes)):
            return None
        form = key_of_structure(result), [None if type(leaf) is Tensor else exact(leaf) for leaf in leaves]
        return cls(trace.graph, form, echoes, frozenset(trace.temporaries))

    def runnable(self) -> Graph:
        """A graph that does the same, with guards for branches of which one function is known."""
        return _Copying(opens=True).graph(self.graph)

    def united(self, other: Whole) -> Whole | None:
        """What does the one or the other; None where they differ elsewhere, or a branch inside might go a third way."""
        if self.form != other.form or not self.echoes.is_like(other.echoes):
            return None
        return self._learned(other) or other._learned(self)

    def _learned(self, other: Whole) -> Whole | None:
        """What this one and the other do, in whose places this one has branches."""
        mine, theirs = (_Copying(opens=False).graph(each.graph) for each in (self, other))
        number = max((value.number for value in _values(mine)), default=0)
        for variable, value in theirs.variables.items():
            number += 1
            mine.variables.setdefault(variable, replace(value, number=number))
        common = list(theirs.variables)
        equivalence = Equivalence(self.temporaries | other.temporaries, is_whole=True)
        is_like = (
            equivalence.given(mine.inputs, theirs.inputs)
            and equivalence.given([mine.variables[v] for v in common], [theirs.variables[v] for v in common])
            and equivalence.numbers(mine.lates, theirs.lates)
            and equivalence.nodes(mine.nodes, theirs.nodes)
            and equivalence.sources(mine.lates, theirs.lates)
            and equivalence.same(mine.outputs, theirs.outputs)
            and mine.finals.keys() == theirs.finals.keys()
            and equivalence.same(list(mine.finals.values()), [theirs.finals[v] for v in mine.finals])
        )
        if is_like:
            equivalence.learn()
        both = [node.attributes["loop"] for node in mine.nodes if _is_choice(node)]
        if not is_like or any(len(each.branches) > 1 and each.has_guards for each in both) or _joins(mine):
            return None
        return replace(self, graph=mine, temporaries=self.temporaries | other.temporaries)


def _is_choice(node: Node) -> bool:
    return isinstance(node.attributes.get("loop"), Choice)


def _branches(node: Node) -> bool:
    """Whether a run may go another way at a node, or in it, that is known to a branch of `cond`."""
    return _is_choice(node) or node.handed is not None or (node.effect is Effect.LOOP and node.may_part)


def _values(graph: Graph) -> list[Value]:
    nodes = [value for node in graph.nodes for value in (*node.inputs, *node.outputs)]
    return [*graph.inputs, *graph.variables.values(), *graph.outputs, *nodes]


def _joins(graph: Graph) -> bool:
    """Whether a kernel would get two arrays where it got one: gradients that branches hand on are copies. It may round
    in another way then; see `agog_core.tracing.graphs.passes.merge_equal`."""
    same: dict[Any, Any] = {}

    def memory(value: Value) -> Any:
        root: Any = value if value.base is None else value.base
        root = id(root.array) if root.kind == "constant" else root
        while root in same:
            root = same[root]
        return root

    for node in graph.nodes:
        choice = node.attributes.get("loop")
        if isinstance(choice, Choice) and choice.shares and len(choice.branches) > 1:
            for branch in choice.branches.values():
                for place in branch.shared:
                    one, other = memory(node.outputs[place]), _source(node, branch, place, memory)
                    if one is not other:
                        same[one] = other
    for node in graph.nodes if same else ():
        if (node.op is None or not node.op.elementwise) and len(node.inputs) > 1:
            own = {value.base or value for value in node.inputs}
            if len(set(map(memory, own))) < len({id(x.array) if x.kind == "constant" else x for x in own}):
                return True
    return False


def _source(node: Node, branch: Branch, place: int, memory: Callable[[Value], Any]) -> Any:
    """The memory that a result of a branch shares."""
    graph, taken = branch.part.graph, [node.inputs[1 + each] for each in branch.places]
    number = branch.following[place]
    if number < len(graph.outputs):
        value = graph.outputs[number]
        root = value if value.base is None else value.base
        return memory(taken[graph.inputs.index(root)]) if root in graph.inputs else memory(node.outputs[place])
    number -= len(graph.outputs)
    return memory(taken[number]) if number < len(taken) else id(branch.constants[number - len(taken)])


class _Copying:
    """A copy of a graph, whose nodes and values may be changed.

    Args:
        opens: whether guards and nodes take the places of branches of which one function is known.
    """

    def __init__(self, opens: bool) -> None:
        self._opens = opens
        self._there: dict[Value, Value] = {}
        self._lates: dict[Late, Late] = {}
        self._nodes: list[Node] = []
        self._opened: set[Node] = set()  # the nodes that were put in the places of branches
        self._left: dict[Value, list[Value]] = {}  # what branches that were opened have left for their gradients
        self._compared: dict[Value, bool] = {}  # the conditions of those

    def graph(self, graph: Graph) -> Graph:
        """The copy."""
        for value in (*graph.inputs, *graph.variables.values()):
            self._there[value] = replace(value)
        self._number = max((value.number for value in _values(graph)), default=0)
        self._lates = {late: _late(late) for late in graph.lates}
        for node in graph.nodes:
            self._node(node)
        for late, made in self._lates.items():
            made.inputs = tuple(self._of(late.inputs))
        variables = dict(zip(graph.variables, self._of(list(graph.variables.values())), strict=True))
        finals = dict(zip(graph.finals, self._of(list(graph.finals.values())), strict=True))
        lates = list(self._lates.values())
        return Graph(self._of(graph.inputs), variables, finals, self._nodes, self._of(graph.outputs), lates)

    def _of(self, values: Sequence[Value]) -> list[Value]:
        return [self._there.get(value, value) for value in values]

    def _node(self, node: Node) -> None:
        choice = node.attributes.get("loop")
        if isinstance(choice, Item) and (left := self._left.get(self._of(node.inputs)[0])) is not None:
            self._there.update(zip(node.outputs, left, strict=True))
        elif not isinstance(choice, Choice):
            if not (self._is_written(node) or self._is_compared(node)):
                self._copied(node, {name: self._attribute(each) for name, each in node.attributes.items()})
        elif self._opens and len(choice.branches) == 1:
            self._open(node, choice)
        else:
            known = choice.branches.items()
            branches = {outcome: replace(branch, part=_copied(branch.part)) for outcome, branch in known}
            made = Choice(branches, choice.home, choice.line, choice.form, choice.shares)
            self._copied(node, {"loop": made, "after": self._attribute(node.attributes["after"])})

    def _is_compared(self, node: Node) -> bool:
        """Whether a node compares a condition once more, for gradients that a branch has handed on."""
        if not self._opens or node.handed is None:
            return False
        [flag] = self._of(node.inputs)
        return self._compared.setdefault(flag, node.outcome) is node.outcome and node.handed.is_gradient

    def _copied(self, node: Node, attributes: dict[str, Any]) -> Node:
        made = replace(node, inputs=self._of(node.inputs), outputs=[], attributes=attributes)
        if node.handed is not None:
            made.handed = replace(node.handed, values=tuple(self._of(node.handed.values)))
        for value in node.outputs:
            base = None if value.base is None else self._there.get(value.base, value.base)
            base = base if base is None or base.base is None else base.base
            self._there[value] = replace(value, node=made, base=base)
            made.outputs.append(self._there[value])
        self._nodes.append(made)
        return made

    def _attribute(self, attribute: Any) -> Any:
        if isinstance(attribute, LateItem):
            return LateItem(self._lates[attribute.late], attribute.name)
        if isinstance(attribute, Loop) and not self._opens:
            return attribute.copied(_copied)
        return self._lates.get(attribute, attribute) if isinstance(attribute, Late) else attribute

    def _open(self, node: Node, choice: Choice) -> None:
        """Put a guard and the function that was called in the place of a branch."""
        [(outcome, branch)] = choice.branches.items()
        flag, *taken = self._of(node.inputs)
        if self._compared.setdefault(flag, outcome) is not outcome or not choice.shares:
            self._nodes.append(Node(Effect.GUARD, None, None, [flag], {}, line=choice.line, outcome=outcome))
        part, given = branch.part.graph, [taken[place] for place in branch.places]
        self._there.update(zip(part.inputs, given, strict=True))
        first = len(self._nodes)
        for each in part.nodes:
            self._node(each)
        self._opened.update(self._nodes[first:])
        pool: list[Any] = [*self._of(part.outputs), *given, *branch.constants]
        for place, value in zip(branch.following, node.outputs, strict=False):
            found = pool[place]
            self._there[value] = found if isinstance(found, Value) else self._constant(value, found)
        if branch.kept is not None:
            self._left[node.outputs[-1]] = [pool[place] for place in branch.kept]

    def _constant(self, value: Value, array: Any) -> Value:
        self._number += 1
        return Value(self._number, "constant", value.table, value.shape, array, value.layout)

    def _is_written(self, node: Node) -> bool:
        """Whether a node gives a variable what a function that was put in the place of a branch has given it."""
        if node.effect is not Effect.ASSIGN:
            return False
        [value] = self._of(node.inputs)
        made = value.node
        is_so = made in self._opened and made is not None and value in made.outputs[: len(made.variables)]
        is_so = is_so and made is not None and made.variables[made.outputs.index(value)] is node.variables[0]
        if is_so:
            self._there[node.outputs[0]] = value
        return is_so


def _copied(part: Part) -> Part:
    return Part(_Copying(opens=False).graph(part.graph))


def _late(late: Late) -> Late:
    """A copy of a number that is known late, but for what it is computed of; runs note anew that they draw a key."""
    if not isinstance(late, RandomKey):
        return copy(late)
    made = RandomKey(late.op_seed, late.values, late.value)
    for value in late.inputs:
        made.put_behind(value)
    return made
