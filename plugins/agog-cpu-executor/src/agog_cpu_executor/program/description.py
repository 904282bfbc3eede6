"""Description: what a step computes, what runs it, and the lines of the program that it comes from."""

from __future__ import annotations

from agog_core.compiler import Node, Subgraph, TracedStep
from agog_cpu_executor.program.kinds import ON_HOST, Kind
from agog_cpu_executor.program.steps import FunctionStep, GroupStep, Step, UfuncStep

_PLUGIN = "cpu-executor"
_OTHERS = {Kind.CAST: "a cast", Kind.COPY: "a copy", Kind.PUT: "a copy into a part", Kind.FULL: "a constant"}


def nodes_of(step: Step) -> list[Node]:
    """The nodes of the graph that a step belongs to."""
    return list(step.nodes) if isinstance(step, GroupStep) else [] if step.node is None else [step.node]


def name_of(node: Node) -> str:
    """The op of a node, or its effect without one."""
    return node.effect.value if node.op is None else node.op.name


def shown(step: Step) -> TracedStep:
    """A step as profiles show it."""
    nodes = nodes_of(step)
    ops = tuple(dict.fromkeys(map(name_of, nodes))) or ("number of the host",)
    lines = tuple(dict.fromkeys(node.line for node in nodes))
    maker = step.name if step.kind is Kind.GROUP else _PLUGIN
    size = sum(value.array.nbytes for value in step.outputs if hasattr(value.array, "nbytes"))
    return TracedStep(ops, "cpu", maker, function_of(step), lines, size)


def function_of(step: Step) -> str:
    """What runs a step, in a few words."""
    match step:
        case GroupStep(subgraph=None):
            return f"{_counted(step.count, 'op')} in one function"
        case GroupStep(subgraph=Subgraph() as subgraph):
            return f"{_counted(len(subgraph.primitives), 'primitive')} in one function"
        case UfuncStep() | FunctionStep():
            return f"numpy.{getattr(step.function, '__name__', step.name)}"
    match step.kind:
        case Kind.REDUCE:
            return f"numpy.{step.name}.reduce"
        case Kind.KERNEL | Kind.UPDATE:
            return "its kernel"
        case Kind.VIEW:
            return f"a view, by {step.name}"
        case Kind.WHERE | Kind.DOT | Kind.MATMUL:
            return f"numpy.{step.kind.value}"
        case Kind.HOST:
            return "a function of Python"
        case Kind.LOOP:
            return "its condition and body, compiled by themselves"
        case kind if kind in ON_HOST:
            return "arithmetic of the host"
    other: str = _OTHERS.get(step.kind, step.kind.value)
    return other


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
