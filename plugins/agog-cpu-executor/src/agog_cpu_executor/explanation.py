"""Explanation: what runs each node of a graph, and why that is no compiler's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agog_core.compiler import Compiler
from agog_cpu_executor.grouping.primitives import primitive_of, spec_of
from agog_cpu_executor.grouping.takes import takes_of
from agog_cpu_executor.program.description import function_of, nodes_of
from agog_cpu_executor.program.kinds import NEVER_COMPILED, Kind
from agog_cpu_executor.program.steps import Step


def explained(
    steps: Iterable[Step], opaque: Mapping[Any, str], compilers: Sequence[Compiler]
) -> dict[Any, list[tuple[str, str]]]:
    """For each node of the graph, what runs it, and why that is no compiler's.

    Args:
        steps: the steps of the program, with their groups.
        opaque: why nodes stay calls of their kernels.
        compilers: who was asked.
    """
    found: dict[Any, list[tuple[str, str]]] = {}
    groups = 0
    for step in steps:
        groups += step.kind is Kind.GROUP
        what = f"group {groups} of compiler {step.name!r}" if step.kind is Kind.GROUP else function_of(step)
        for node in nodes_of(step):
            why = "" if step.kind is Kind.GROUP else opaque.get(node) or _why_not(step, compilers)
            pairs = found.setdefault(node, [])
            if (what, why) not in pairs:
                pairs.append((what, why))
    return found


def _why_not(step: Step, compilers: Sequence[Compiler]) -> str:
    """Why no compiler has taken a step."""
    if step.kind in NEVER_COMPILED:
        return ""
    values = list(dict.fromkeys((*step.inputs, *step.outputs)))
    primitive = primitive_of(step, {value: n for n, value in enumerate(values)})
    if primitive is None:
        return "compilers have no primitive for it"
    if not step.outputs[0].array.ndim and step.kind is not Kind.REDUCE:
        return "a single number, for which Python is faster"
    if not compilers:
        return "no compiler is there"
    specs = [spec_of(value) for value in values]
    if any(takes_of(compiler)(primitive, specs) for compiler in compilers):
        return "no more to fuse it with"
    spec = spec_of(step.outputs[0])
    return f"not taken by {', '.join(repr(each.name) for each in compilers)}: {spec.dtype} {spec.shape}"
