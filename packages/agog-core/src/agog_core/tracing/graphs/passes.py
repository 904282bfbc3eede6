"""Passes: common subexpressions, dead code, and writes last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from agog_core.tracing.graphs.graph import PURE, WRITES, Effect, Graph, Late, LateItem, Node, Value

# What has to run, whoever uses its outputs.
_KEPT = (Effect.GUARD, Effect.HOST, Effect.LOOP, Effect.PYTHON)

# What is done in the order of the program, where it calls functions of its own.
_EFFECTS = (*WRITES, Effect.PYTHON, Effect.READ)


def optimize(graph: Graph) -> None:
    """Apply all passes to a graph, in place."""
    for turn, node in enumerate(graph.nodes):
        node.turn = turn
    merge_equal(graph)
    drop_dead(graph)
    write_last(graph)


def merge_equal(graph: Graph) -> None:
    """Eliminate common subexpressions, but for random numbers.

    A kernel that would get one array in the place of two equal ones may round in another way: the BLAS library computes
    half of a product of a matrix with itself. What it gets stays apart.
    """
    apart: set[Node] = set()
    while True:
        same = _equal(graph, apart)
        if not same:
            return
        joined = {value.node for node in graph.nodes for value in _joined(node, same) if value.node is not None}
        if not joined:
            break
        apart |= joined
    kept = []
    for node in graph.nodes:
        if not same.keys().isdisjoint(node.outputs):
            continue
        node.inputs = [same.get(value, value) for value in node.inputs]
        for value in node.outputs:
            if value.base is not None:
                value.base = same.get(value.base, value.base)
        kept.append(node)
    graph.nodes = kept
    graph.outputs = [same.get(value, value) for value in graph.outputs]
    for late in graph.lates:
        late.inputs = tuple([same.get(value, value) for value in late.inputs])


def _equal(graph: Graph, apart: set[Node]) -> dict[Value, Value]:
    """Values to those that are computed before and equal them, but for those of some nodes."""
    same: dict[Value, Value] = {}
    seen: dict[Any, Node] = {}
    for node in graph.nodes:
        if node.effect in PURE and node not in apart:
            known = seen.setdefault(_key(node, same), node)
            if known is not node:
                same.update(zip(node.outputs, known.outputs, strict=True))
    return same


def _joined(node: Node, same: Mapping[Value, Value]) -> list[Value]:
    """Values of a node that would share memory with others of it, and did not."""
    has_kernels = node.effect is Effect.LOOP or (node.op is not None and not node.op.elementwise)
    if not has_kernels or len(node.inputs) < 2:
        return []
    found = []
    for place, value in enumerate(node.inputs):
        for other in node.inputs[:place]:
            if _memory(value) is not _memory(other) and _memory(value, same) is _memory(other, same):
                found += [each for each in (value, _memory(value)) if each in same]
                found += [each for each in (other, _memory(other)) if each in same]
    return found


def _memory(value: Value, same: Mapping[Value, Value] | None = None) -> Value:
    """The value whose memory one shares."""
    known = {} if same is None else same
    found = known.get(value, value)
    return found if found.base is None else known.get(found.base, found.base)


def _key(node: Node, same: Mapping[Value, Value]) -> Any:
    given = node.attributes
    attributes = tuple(sorted([(name, frozen(each)) for name, each in given.items()])) if given else ()
    return node.op, node.table, tuple([same.get(value, value).number for value in node.inputs]), attributes


def frozen(attribute: Any) -> Any:
    """A hashable stand-in for an attribute, equal for those that are equal in type, value and sign."""
    if isinstance(attribute, (Late, LateItem)):
        late = attribute.late if isinstance(attribute, LateItem) else attribute
        return "late", id(late), getattr(attribute, "name", "")
    if isinstance(attribute, (tuple, list)):
        return type(attribute).__name__, tuple(map(frozen, attribute))
    if isinstance(attribute, Mapping):
        return "mapping", tuple(sorted((name, frozen(each)) for name, each in attribute.items()))
    if isinstance(attribute, np.ndarray):
        return "array", attribute.dtype.str, attribute.shape, attribute.tobytes()
    if isinstance(attribute, (bool, int, float, complex, str, bytes, type(None))):
        return type(attribute).__name__, repr(attribute)
    return "object", str(id(attribute))


def drop_dead(graph: Graph) -> None:
    """Leave out what neither outputs, nor variables, nor guards need, and what fails for no values; what functions of
    the program see stays."""
    needed = {*graph.outputs, *graph.finals.values(), *(value for late in graph.lates for value in late.inputs)}
    is_left = graph.calls_python or any(node.leaves_writes for node in graph.nodes)
    live, seen = [], _EFFECTS if is_left else ()
    for node in reversed(graph.nodes):
        is_seen = node.effect in seen and not graph.finals.keys().isdisjoint(node.variables)
        if node.effect in _KEPT or node.may_fail or is_seen or not needed.isdisjoint(node.outputs):
            live.append(node)
            needed.update(node.inputs)
    graph.nodes = live[::-1]


def write_last(graph: Graph) -> None:
    """Put updates and functions of the program, and what depends on them, behind all that only computes.

    So guards come before all writes, and before what others see of a run; unless they ask what a function returns.
    """
    written: set[Value] = set()
    first, last = [], []
    asked = _asked(graph)
    effects = _EFFECTS if graph.calls_python else (Effect.UPDATE,)
    is_behind = False  # a function of the program, which may draw random numbers too
    for node in graph.nodes:
        does = node.effect in effects and node not in asked
        is_behind = is_behind or (does and node.effect is Effect.PYTHON)
        waits = is_behind and (bool(lates_of([node])) or node.draws) and node not in asked
        late = [value for each in lates_of([node]) for value in each.inputs]
        if does or waits or not written.isdisjoint([*node.inputs, *late]):
            written.update(node.outputs)
            last.append(node)
        else:
            first.append(node)
    graph.nodes = first + last


def _asked(graph: Graph) -> set[Node]:
    """The nodes that guards depend on. What reads a variable, and what a function of the program returns, depends on
    all such functions before it, which are called in their order."""
    asked: set[Node] = set()
    values: set[Value] = set()
    reads = False
    for node in reversed(graph.nodes):
        is_called = reads and node.effect is Effect.PYTHON
        if node.may_part or is_called or not values.isdisjoint(node.outputs):
            asked.add(node)
            values.update(node.inputs)
            reads = reads or node.effect in (Effect.READ, Effect.PYTHON)
    return asked


def lates_of(nodes: Iterable[Node]) -> list[Late]:
    """The numbers known late that nodes use."""
    found: dict[Late, None] = {}
    for node in nodes:
        for each in node.attributes.values():
            if isinstance(each, (Late, LateItem)):
                found[each.late if isinstance(each, LateItem) else each] = None
    return list(found)
