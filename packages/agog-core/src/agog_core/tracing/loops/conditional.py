"""Conditional: `agog_core.cond` as one node, which runs one of two functions.

Another iteration of a loop, or another call, may call the other function; where all else is alike, the node that stands
for both knows both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from sys import getrefcount
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from agog_core import nest
from agog_core.dtypes import int32, variant
from agog_core.recording import source_line, tapes_of_context
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.branches import Branch, Choice, Handed
from agog_core.tracing.execution.loops import Part
from agog_core.tracing.execution.portable import c_order
from agog_core.tracing.graphs.graph import Effect, Graph, Late, LateItem, Node, Value
from agog_core.tracing.graphs.passes import optimize
from agog_core.tracing.loops.branch_records import BranchRecords
from agog_core.tracing.loops.constants import MOST_KNOWN, size
from agog_core.tracing.loops.iterations import is_of_tensors, tensor_of
from agog_core.tracing.loops.tracks import all_be
from agog_core.tracing.state.device import TracedArray, untraced
from agog_core.tracing.state.leaves import Packing, key_of_structure
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace


def is_node(trace: Trace, condition: Any) -> bool:
    """Whether a branch may be a node: it is in a trace or a loop that may go both ways, and depends on what is not
    known."""
    is_mine = type(condition) is Tensor and type(condition._array) is TracedArray and condition._array.tracer is trace
    if not (trace.open_loops or trace.unites) or not is_mine or trace.behind is not None:
        return False
    tapes = [tape for tape in tapes_of_context() if tape.is_open]
    is_seen = bool(tapes) if trace.open_loops else any(x.is_forward or x.breaks is not None for x in tapes)
    if is_seen or any(loop.is_refused for loop in trace.open_loops):
        return False
    value = trace.value_of(condition)
    return value.kind != "constant" and value not in trace._outcomes


def choose(trace: Trace, condition: Tensor, functions: dict[bool, Callable[[], Any]]) -> Any:
    """Call the function for a condition, and put a node in the place of what it does."""
    return _chosen(_Branching(trace, condition), functions[bool(untraced(condition))])


def choose_again(trace: Trace, condition: Tensor, gradients: Callable[[], Any]) -> Any:
    """Call what computes the gradients of the function that a condition has chosen, and put a node in its place."""
    return _chosen(_Branching(trace, condition, shares=True), gradients) if is_node(trace, condition) else gradients()


def note_handed(trace: Trace, condition: Tensor, gradients: dict[Any, Any]) -> None:
    """Note that the function which a condition has chosen leaves gradients as they are."""
    if is_node(trace, condition) and is_of_tensors(gradients) and trace.seen is None:
        values = tuple(map(trace.value_of, nest.flatten(gradients)))
        _Branching(trace, condition, shares=True).compare(Handed(values, key_of_structure(gradients), is_gradient=True))


def _chosen(branching: _Branching, function: Callable[[], Any]) -> Any:
    try:
        result = function()
    except BaseException:
        branching.compare()
        raise
    holder = [result]
    del result
    return branching.end(holder)


class _Branching:
    """A call of one of two functions that is recorded.

    Args:
        trace: where.
        condition: which of them it is.
        shares: whether its results may share memory with what it takes: gradients, which nobody else has.
    """

    def __init__(self, trace: Trace, condition: Tensor, shares: bool = False) -> None:
        self.trace, self.condition, self.flag = trace, condition, trace.value_of(condition)
        self.outcome, self.line, self.shares = bool(untraced(condition)), source_line(), shares
        self.records = BranchRecords(trace)
        self.start = len(trace.graph.nodes), len(trace.graph.lates)
        self.first_array = len(trace._arrays)
        self.finals, self.outcomes = dict(trace.graph.finals), dict(trace._outcomes)

    def compare(self, handed: Handed | None = None) -> None:
        """Compare the condition with what it was, as for a branch of Python; it is noted what was handed on."""
        trace = self.trace
        if self.flag in trace._changed:
            trace.note_branch(self.line)
            return
        guard = Node(Effect.GUARD, None, None, [self.flag], {}, line=self.line, outcome=self.outcome, handed=handed)
        trace.graph.nodes.insert(self.start[0], guard)
        if handed is None:
            trace._outcomes[self.flag] = self.outcome

    def end(self, holder: list[Any]) -> Any:
        """What the function has returned, by a node where that can be."""
        trace = self.trace
        self.nodes, self.lates = trace.graph.nodes[self.start[0] :], trace.graph.lates[self.start[1] :]
        self.inside = {value for node in self.nodes for value in node.outputs}
        result = holder.pop()
        is_refused = any(loop.is_refused for loop in trace.open_loops) or trace.behind is not None
        is_refused = is_refused or not (result is None or is_of_tensors(result)) or not self._fits(result)
        if is_refused or not (trace.open_loops or self._may_unite(result)):
            hands_on = not (is_refused or self.nodes or self.lates or trace.open_loops or result is None)
            leaves = nest.flatten(result) if hands_on else []
            handed = Handed(tuple(map(trace.value_of, leaves)), key_of_structure(result)) if hands_on else None
            self.compare(handed)
            if handed is not None:
                self.records.record_handed(self.condition, leaves)
            return result
        form = key_of_structure(result)
        packing = None if result is None else Packing(result)
        del result
        tensors = [] if packing is None else packing.tensors
        values, reals = [trace.value_of(x) for x in tensors], [untraced(x) for x in tensors]
        if packing is not None:
            packing.release()
        held = list(map(ref, tensors))
        all_be(tensors, reals)
        del tensors
        written = {v: trace.value_of(x) for v, x in trace.state.items() if trace.value_of(x) in self.inside}
        finals = {v: untraced(trace.state[v]) for v in written}
        for variable, real in finals.items():
            if trace.finals.get(variable) is trace.state[variable]:
                trace.finals[variable] = real
            trace.state[variable] = real
        is_taken = not self.records.are_watched(written) and self.records.take(self.inside, values)
        if not is_taken or self._has_escapes() or (not trace.open_loops and self._are_held(values, reals, held)):
            pairs = zip(held, reals, values, strict=True)
            found = [tensor_of(trace, x, value) if (own := each()) is None else own for each, x, value in pairs]
            all_be(reals, found)
            self.records.put_back(found)
            trace.state.update({v: tensor_of(trace, finals[v], value) for v, value in written.items()})
            self.compare()
            return None if packing is None else packing(found)
        outs = self._put(values, reals, written, finals, form)
        return None if packing is None else packing(outs)

    def _fits(self, result: Any) -> bool:
        """Whether what was recorded may be a graph of its own."""
        leaves = [] if result is None else nest.flatten(result)
        values = [*map(self.trace.value_of, leaves), *map(self.trace.value_of, self.trace.state.values())]
        attributes = [each for node in self.nodes for each in node.attributes.values()]
        lates = [x.late if isinstance(x, LateItem) else x for x in attributes if isinstance(x, (Late, LateItem))]
        shared = [value for value in values[: len(leaves)] if value not in self.inside or value.base is not None]
        used = [value for node in self.nodes for value in node.inputs]
        made = [value for value in used if value not in self.inside and value.node is not None]
        return (
            all(late in self.lates for late in lates)
            and all(value.layout in (None, c_order(value)) for value in shared)
            and not any(value.table.dtype is variant for value in made)
            and not any(node.effect in (Effect.PYTHON, Effect.READ) for node in self.nodes)
            and self.trace.seen is None
            and self.trace._changed.isdisjoint([self.flag, *(value for value in used if value not in self.inside)])
        )

    def _may_unite(self, result: Any) -> bool:
        """Whether a call may go both ways here: nothing is computed late, no large variable is copied, and all results
        are new tensors, since a tape knows tensors by what they are, and BLAS arrays."""
        values = [] if result is None else [self.trace.value_of(x) for x in nest.flatten(result)]
        written = [value for value in map(self.trace.value_of, self.trace.state.values()) if value in self.inside]
        return (
            not self.lates
            and not any(node.draws for node in self.nodes)
            and all(size(value) <= MOST_KNOWN for value in written)
            and (self.shares or all(_is_new(value, self.inside) for value in values))
            and len(set(values)) == len(values)
            and set(values).isdisjoint(written)
        )

    def _are_held(self, values: Sequence[Value], reals: Sequence[Tensor], tensors: Sequence[ref[Tensor]]) -> bool:
        """Whether somebody else holds a result that is to be a new tensor."""
        is_other = self.shares and any(
            tensor() is not None for tensor, value in zip(tensors, values, strict=True) if value.kind != "constant"
        )
        return is_other or _are_held(values, reals, tensors)

    def _has_escapes(self) -> bool:
        """Whether Python has kept a tensor of the branch."""
        alive = [array for each in self.trace._arrays[self.first_array :] if (array := each()) is not None]
        return any(array.value in self.inside for array in alive)

    def _put(
        self,
        values: list[Value],
        reals: list[Tensor],
        written: dict[Variable, Value],
        finals: dict[Variable, Tensor],
        form: Any,
    ) -> list[Tensor]:
        """Put the node in the place of what was recorded."""
        trace, results = self.trace, [*values, *written.values()]
        used = [value for node in self.nodes for value in node.inputs]
        used += [*(value for late in self.lates for value in late.inputs), *results]
        outside = [v for v in dict.fromkeys(used) if v not in self.inside and v.kind != "constant"]
        known = [v.kind == "constant" or v in trace.knows.of or v in trace.knows.counted for v in values]
        branch = self._branch(outside, results)
        choice = Choice({self.outcome: branch}, self.flag.table.device, self.line, form, self.shares)
        del trace.graph.nodes[self.start[0] :], trace.graph.lates[self.start[1] :]
        trace.graph.finals, trace._outcomes = dict(self.finals), self.outcomes
        floor = trace.open_loops[-1].segments[-1].starts[-1][1] if trace.open_loops else 0
        after = trace.graph.lates[-1] if choice.draws and len(trace.graph.lates) > floor else None
        node = Node(Effect.LOOP, None, None, [self.flag, *outside], {"loop": choice, "after": after}, several=True)
        kinds = [(x._table, x._array) for x in (*reals, *finals.values())]
        if branch.kept is not None:
            kinds.append(self.records.stacked(self.flag.table))
        table = self.flag.table.device.table(int32)
        if choice.draws:
            kinds.append((table, table.device.from_host(np.array(0, np.int32))))
        outs = trace._add(node, kinds)
        if choice.draws:
            trace.behind = outs[-1].value
        tensors = [trace._tensor(out, kind[0]) for out, kind in zip(outs, kinds, strict=True)]
        all_be(reals, tensors[: len(reals)])
        if branch.kept is not None:
            self.records.record(self.condition, tensors[: len(reals)], tensors[len(results)])
        tensors = tensors[: len(results)]
        for value, tensor, is_so in zip(values, tensors, known, strict=False):
            if is_so:
                self._note_known(value, tensor)
        for (variable, real), tensor in zip(finals.items(), tensors[len(reals) :], strict=True):
            assigned = Node(Effect.ASSIGN, None, real._table, [trace.value_of(tensor)], {}, variables=[variable])
            trace._write([variable], trace._add(assigned, [(real._table, real._array)]), real._table)
        return tensors[: len(reals)]

    def _note_known(self, value: Value, tensor: Tensor) -> None:
        """Note that a result of the branch is known, as far as the condition is."""
        knows, made = self.trace.knows, self.trace.value_of(tensor)
        loops = [frozenset() if value.kind == "constant" else knows.loops(value), knows.loops(self.flag)]
        if any(each is None for each in loops):
            knows.counted.add(made)
        else:
            knows.of[made] = frozenset[Any]().union(*[each or () for each in loops]), untraced(tensor)._array

    def _branch(self, outside: list[Value], results: list[Value]) -> Branch:
        left = self.records.values
        made = list(dict.fromkeys(value for value in (*results, *left) if value in self.inside))
        constants = [value for value in dict.fromkeys(results) if value.kind == "constant"]
        pool = {value: place for place, value in reversed(list(enumerate([*made, *outside, *constants])))}
        shared = [n for n, x in enumerate(results) if x not in self.inside or x.base in outside]
        roots = {value if value.base is None else value.base for value in left}
        shared += [n for n, x in enumerate(results) if (x if x.base is None else x.base) in roots and n not in shared]
        kept = None if self.records.is_empty else tuple([pool[value] for value in left])
        copied = tuple([place for place, value in enumerate(outside) if value in roots])
        fresh = {value: replace(value, kind="input", node=None, base=None, variable=None) for value in outside}
        for node in self.nodes:
            node.inputs = [fresh.get(value, value) for value in node.inputs]
            for value in node.outputs:
                value.base = None if value.base is None else fresh.get(value.base, value.base)
        for late in self.lates:
            late.inputs = tuple([fresh.get(value, value) for value in late.inputs])
        graph = Graph(list(fresh.values()), {}, {}, list(self.nodes), made, list(self.lates))
        optimize(graph)
        following = tuple([pool[value] for value in results])
        arrays = tuple([value.array for value in constants])
        return Branch(Part(graph), tuple(range(len(outside))), following, arrays, tuple(shared), kept, copied)


def _is_new(value: Value, inside: set[Value]) -> bool:
    """Whether no other value shares the memory of a result; of constants, which may, BLAS must not see two at once."""
    return (value in inside and value.base is None) or (value.kind == "constant" and len(value.shape) < 2)


def _are_held(values: Sequence[Value], reals: Sequence[Tensor], tensors: Sequence[ref[Tensor]]) -> bool:
    """Whether somebody else holds a constant among the results, which may be real tensors themselves."""
    own = [object()]
    for place, value in enumerate(values):
        tensor = tensors[place]()
        is_other = tensor is not None and tensor is not reals[place]
        del tensor
        if value.kind == "constant" and (is_other or getrefcount(reals[place]) > getrefcount(own[0])):
            return True
    return False
