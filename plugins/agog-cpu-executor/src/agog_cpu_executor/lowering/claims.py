"""Claims: nodes of a graph that a compiler runs as a whole, and an order of all nodes that allows it.

A claim takes the place of its first node. What its other nodes need moves in front of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.compiler import PURE, WRITES, Claim, Compiler, Effect, Graph, Late, LateItem, Node, Value
from agog_core.plugin import PluginWarning, describe_error, describe_value, load_reference

# Across which no node is moved.
_IN_PLACE = (*WRITES, Effect.GUARD, Effect.HOST, Effect.LOOP)


class ClaimedNodes:
    """Nodes that a compiler's function ``run(*inputs, *outputs)`` replaces."""

    def __init__(
        self, compiler: str, nodes: list[Node], inputs: list[Value], outputs: list[Value], run: Callable[..., None]
    ) -> None:
        self.compiler, self.nodes, self.inputs, self.outputs, self.run = compiler, nodes, inputs, outputs, run


Unit = Node | ClaimedNodes


class WrongClaimError(Exception):
    """A compiler claims what it may not."""


def claimed(graph: Graph, compilers: Sequence[Compiler]) -> list[Unit]:
    """The nodes of a graph in topological order, with those of each claim as one unit."""
    units: list[Unit] = list(graph.nodes)
    for compiler in compilers:
        if compiler.claims is None:
            continue
        for claim in _asked(compiler, graph):
            try:
                units = _with_claim(units, graph, claim, compiler.name)
            except Exception as error:
                warnings.warn(
                    f"The compiler {compiler.name!r} claims {_names(claim)} of a traced function, which run without "
                    f"it: {error if isinstance(error, WrongClaimError) else describe_error(error)}",
                    PluginWarning,
                    stacklevel=2,
                )
    return units


def _asked(compiler: Compiler, graph: Graph) -> list[Claim]:
    try:
        return list(load_reference(compiler.claims)(graph))
    except Exception as error:
        warnings.warn(
            f"The compiler {compiler.name!r} failed to claim parts of a traced function: {describe_error(error)}",
            PluginWarning,
            stacklevel=3,
        )
        return []


def _names(claim: Any) -> str:
    nodes = claim.nodes if isinstance(claim, Claim) and isinstance(claim.nodes, Sequence) else ()
    names = dict.fromkeys(node.op.name if node.op else node.effect.value for node in nodes if isinstance(node, Node))
    return ", ".join(names) or describe_value(claim)


def _with_claim(units: list[Unit], graph: Graph, claim: Claim, compiler: str) -> list[Unit]:
    """The units with a claim as one; unchanged if another claim has its nodes, or if the compiler declines."""
    if not isinstance(claim, Claim):
        raise WrongClaimError("claims must return Claim objects")
    mine = set(claim.nodes)
    if not mine or not mine <= set(graph.nodes):
        raise WrongClaimError("a claim has nodes of the graph that it was asked about")
    free = {unit for unit in units if unit in mine}
    if free != mine:  # another one was asked before
        return units
    nodes = [node for node in graph.nodes if node in mine]
    for node in nodes:
        _check(node)
    ordered = _gathered(units, nodes)
    inputs, outputs = _ends(graph, nodes)
    if any(node.effect is Effect.VIEW and value in outputs for node in nodes for value in node.outputs):
        raise WrongClaimError("what is used outside shares the memory of what is not")
    run = claim.compile(tuple(inputs), tuple(outputs))
    if run is None:
        return units
    if not callable(run):
        raise WrongClaimError(f"compile must return a function or None; it returned {describe_value(run)}")
    part = ClaimedNodes(compiler, nodes, inputs, outputs, run)
    return [part if unit is nodes[0] else unit for unit in ordered if unit is nodes[0] or unit not in mine]


def _check(node: Node) -> None:
    op = node.op
    if op is None or node.effect not in PURE:
        raise WrongClaimError(f"a node of effect {node.effect.value!r} ({node.line}) is not only computed")
    if node.may_fail:
        raise WrongClaimError(f"{op.name} ({node.line}) fails for some values, which its kernel tells")
    if op.is_paired:
        raise WrongClaimError(f"{op.name} ({node.line}) keeps or takes a reserve")
    if any(isinstance(given, (Late, LateItem)) for given in node.attributes.values()):
        raise WrongClaimError(f"{op.name} ({node.line}) has an attribute that is known late")


def _gathered(units: list[Unit], nodes: list[Node]) -> list[Unit]:
    """The units with some nodes next to each other, behind all that they depend on."""
    first = units.index(nodes[0])
    last = max(map(units.index, nodes))
    between = units[first : last + 1]
    made = {value: unit for unit in between for value in unit.outputs}
    mine, needed = set(nodes), set()
    todo = [made[value] for node in nodes for value in node.inputs if value in made]
    while todo:
        unit = todo.pop()
        if unit not in mine and unit not in needed:
            needed.add(unit)
            todo += [made[value] for value in _taken(unit) if value in made]
    given = {value for node in nodes for value in node.outputs}
    for unit in between:
        if unit in needed and any(value in given for value in _taken(unit)):
            raise WrongClaimError(
                f"{_named(unit)} stands between them, which takes what one gives and gives what one takes"
            )
        if not isinstance(unit, ClaimedNodes) and unit.effect in _IN_PLACE:
            raise WrongClaimError(f"a node of effect {unit.effect.value!r} ({unit.line}) stands between them")
    before = [unit for unit in between if unit in needed]
    after = [unit for unit in between if unit not in needed and unit not in mine]
    return [*units[:first], *before, *nodes, *after, *units[last + 1 :]]


def _taken(unit: Unit) -> list[Value]:
    """The values that a unit takes, with those of which the host computes attributes."""
    if isinstance(unit, ClaimedNodes):
        return unit.inputs
    lates = [x.late if isinstance(x, LateItem) else x for x in unit.attributes.values()]
    return [*unit.inputs, *(value for late in lates if isinstance(late, Late) for value in late.inputs)]


def _named(unit: Unit) -> str:
    nodes = unit.nodes if isinstance(unit, ClaimedNodes) else [unit]
    return ", ".join(f"{node.op.name if node.op else node.effect.value} ({node.line})" for node in nodes)


def _ends(graph: Graph, nodes: list[Node]) -> tuple[list[Value], list[Value]]:
    """The inputs of nodes from outside, without constants, and their outputs that are used outside."""
    made = [value for node in nodes for value in node.outputs]
    taken = dict.fromkeys(value for node in nodes for value in node.inputs)
    inputs = [value for value in taken if value not in set(made) and value.kind != "constant"]
    mine = set(nodes)
    used = {value for node in graph.nodes if node not in mine for value in node.inputs}
    used |= {*graph.outputs, *graph.finals.values(), *(value for late in graph.lates for value in late.inputs)}
    return inputs, [value for value in made if value in used]
