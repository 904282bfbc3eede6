"""Kernels: running the one that a table has chosen, as eager calls do, with numbers that are known late."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.dispatch.failure import note_failure, shape_of
from agog_core.dispatch.op import Op
from agog_core.dispatch.pairs import Reserve
from agog_core.dispatch.resolution import resolve, run_next
from agog_core.dispatch.table import KernelTable


def chosen(op: Op, table: KernelTable, shapes: Sequence[tuple[int, ...]]) -> Callable[..., Any]:
    """The kernel that runs an op on inputs of some shapes, as eager calls look it up."""
    resolved = resolve(op, table, shapes) if op.name not in table.kernels else None
    if op.elementwise and not any(shapes):
        return table.scalar_kernels.get(op.name) or resolved or table.kernels[op.name]
    return table.kernels.get(op.name) or resolved  # type: ignore[return-value]  # one of the two is there


def run_kernel(op: Op, table: KernelTable, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """What the kernels of an op make of arrays: an array or a tuple of them; None of an op that updates in place."""
    kernel = chosen(op, table, [shape_of(getattr(array, "array", array)) for array in arrays])
    try:
        result = kernel(*arrays, **attributes)
    except Exception as error:
        note_failure(error, op, table, [getattr(array, "array", array) for array in arrays])
        raise
    return settled(op, table, result, arrays, attributes)


def settled(op: Op, table: KernelTable, result: Any, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """What a kernel returned, as arrays of the device's own type; where it has declined, what the next one returns."""
    if result is NotImplemented:
        return run_next(op, table, arrays, attributes)
    if isinstance(result, tuple):
        return tuple([each if type(each) is Reserve else table.adopt(op.name, each) for each in result])
    return None if result is None and op.updates else table.adopt(op.name, result)
