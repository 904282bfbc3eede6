"""Calls: calls of kernels, and the notes on their errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_core.compiler import Node, adopted, kernel_of, note_failure, run_next
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.description import name_of, nodes_of
from agog_cpu_executor.program.kinds import Kind
from agog_cpu_executor.program.steps import Step

Adopt = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]


def kernel(node: Node) -> tuple[Callable[..., Any], Adopt, Adopt]:
    """The kernel of a node, and two functions that adopt its result: one array, and a tuple."""
    op, table = node.op, node.table
    assert op is not None
    assert table is not None
    function = kernel_of(op, table, [value.shape for value in node.inputs])

    def adopt(result: Any, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        if result is NotImplemented:
            return run_next(op, table, arrays, attributes)
        return table.adopt(op.name, result, function)

    def adopt_all(result: Any, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        if result is NotImplemented:
            result = run_next(op, table, arrays, attributes)
        if result is None:  # it has updated its first arrays in place
            return None
        return adopted(op, table, result if isinstance(result, tuple) else (result,), function)

    return function, adopt, adopt_all


def on_host(node: Node) -> Callable[..., Any]:
    """The Python function of a node, which returns arrays of the outputs' dtypes."""
    function, dtypes = node.attributes["function"], [value.table.dtype.numpy_dtype for value in node.outputs]

    def run(*arrays: Any, **attributes: Any) -> list[Any]:
        results = function(*arrays, **attributes)
        return [np.array(each, dtype, order="C") for each, dtype in zip(results, dtypes, strict=True)]

    return run


def note(error: Exception, step: Step) -> None:
    """Add notes to an error: the op, kernel, shapes and line, or the ops and lines of a group."""
    nodes = nodes_of(step)
    node = nodes[0] if len(nodes) == 1 else None
    if step.kind is Kind.GROUP:
        error.add_note(f"in a group of {', '.join(dict.fromkeys(map(name_of, nodes)))}, compiled by {step.name!r}")
    elif node is not None and node.op is not None and node.table is not None:
        like = [layouts.of(v.table.dtype.numpy_dtype, tuple(v.shape), v.layout) for v in node.inputs]
        note_failure(error, node.op, node.table, like)
    for line in dict.fromkeys(each.line for each in nodes):
        error.add_note(f"at {line}, in a traced function")
