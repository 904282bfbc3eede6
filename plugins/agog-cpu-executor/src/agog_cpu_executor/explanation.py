"""Explanation: what each step of a program computes, by which lines of whose program, and why it runs as it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agog_core.compiler import Compiler, Node, TracedStep
from agog_core.plugin import load_reference
from agog_cpu_executor.grouping.groups import primitive_of, spec_of
from agog_cpu_executor.program.program import Step

_PLUGIN = "cpu-numpy"
_OTHERS = {"cast": "a cast", "copy": "a copy", "put": "a copy into a part", "full": "a constant"}
_ON_HOST = ("late", "number", "scalar")


def nodes_of(step: Step) -> list[Node]:
    """The nodes of the graph that a step computes, or computes a part of."""
    steps = step.options["steps"] if step.kind == "group" else [step]
    return list(dict.fromkeys(each.node for each in steps if each.node is not None))


def name_of(node: Node) -> str:
    """The op of a node, or what it does without one."""
    return node.effect.value if node.op is None else node.op.name


def shown(step: Step) -> TracedStep:
    """A step as profiles show it."""
    nodes = nodes_of(step)
    ops = tuple(dict.fromkeys(map(name_of, nodes))) or ("number of the host",)
    lines = tuple(dict.fromkeys(node.line for node in nodes))
    maker = step.name if step.kind == "group" else _PLUGIN
    size = sum(value.array.nbytes for value in step.outputs if hasattr(value.array, "nbytes"))
    return TracedStep(ops, "cpu", maker, function_of(step), lines, size)


def function_of(step: Step) -> str:
    """What runs a step, in a few words."""
    match step.kind:
        case "group":
            return f"{_counted(len(step.options['subgraph'].primitives), 'primitive')} in one function"
        case "ufunc" | "function":
            return f"numpy.{getattr(step.options['function'], '__name__', step.name)}"
        case "reduce":
            return f"numpy.{step.name}.reduce"
        case "kernel" | "update":
            return "its kernel"
        case "view":
            return f"a view, by {step.name}"
        case "where" | "dot" | "matmul":
            return f"numpy.{step.kind}"
        case "host":
            return "a function of Python"
        case "loop":
            return "its condition and body, compiled by themselves"
        case kind if kind in _ON_HOST:
            return "arithmetic of the host"
    return _OTHERS.get(step.kind, step.kind)


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
        groups += step.kind == "group"
        what = f"group {groups} of compiler {step.name!r}" if step.kind == "group" else function_of(step)
        for node in nodes_of(step):
            why = "" if step.kind == "group" else opaque.get(node) or _why_not(step, compilers)
            pairs = found.setdefault(node, [])
            if (what, why) not in pairs:
                pairs.append((what, why))
    return found


def _why_not(step: Step, compilers: Sequence[Compiler]) -> str:
    """Why no compiler has taken a step."""
    if step.kind in ("view", "guard", "host", "loop", *_ON_HOST):
        return ""
    values = list(dict.fromkeys((*step.inputs, *step.outputs)))
    primitive = primitive_of(step, {value: n for n, value in enumerate(values)})
    if primitive is None:
        return "compilers have no primitive for it"
    if not step.outputs[0].array.ndim and step.kind != "reduce":
        return "a single number, for which Python is faster"
    if not compilers:
        return "no compiler is there"
    specs = [spec_of(value) for value in values]
    if any(load_reference(compiler.takes)(primitive, specs) for compiler in compilers):
        return "no more to fuse it with"
    spec = spec_of(step.outputs[0])
    return f"not taken by {', '.join(repr(each.name) for each in compilers)}: {spec.dtype} {spec.shape}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
