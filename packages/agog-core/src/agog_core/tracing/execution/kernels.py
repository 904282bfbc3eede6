"""Kernels: calls of the kernels that tables choose, as eager calls make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_core.dispatch.devices.lookup import current_device
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.failure import note_failure, shape_of
from agog_core.dispatch.kernels.resolution import resolve, run_next
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType
from agog_core.tensors.tensor import Tensor


def chosen(op: Op, table: KernelTable, shapes: Sequence[tuple[int, ...]]) -> Callable[..., Any]:
    """The kernel that runs an op on inputs of some shapes, as eager calls look it up."""
    resolved = resolve(op, table, shapes) if op.name not in table.kernels else None
    if op.elementwise and not any(shapes):
        return table.scalar_kernels.get(op.name) or resolved or table.kernels[op.name]
    return table.kernels.get(op.name) or resolved  # type: ignore[return-value]  # one of the two is there


def run_kernel(
    op: Op,
    table: KernelTable,
    arrays: Sequence[Any],
    attributes: Mapping[str, Any],
    tables: Sequence[KernelTable] | None = None,
) -> Any:
    """Run an op on arrays: an array or a tuple of arrays; None for an op that updates in place."""
    kernel = chosen(op, table, [shape_of(array) for array in arrays])
    try:
        result = kernel(*arrays, **attributes)
    except Exception as error:
        note_failure(error, op, table, arrays)
        raise
    tables = homes(op, table, attributes) if tables is None else tables
    return settled(op, table, tables, result, arrays, attributes)


def homes(op: Op, table: KernelTable, attributes: Mapping[str, Any]) -> list[KernelTable]:
    """The tables of an op's results; of the variables, where it updates them."""
    if op.updates:
        return [table] * len(op.updates)
    if not op.inputs:  # its kernel takes two attributes more
        attributes = {name: each for name, each in attributes.items() if name not in ("dtype", "index")}
    kinds = op.result_dtype(table.dtype, attributes)
    return [table.device.table(kind) for kind in (kinds if isinstance(kinds, list) else [kinds])]


def settled(
    op: Op,
    table: KernelTable,
    tables: Sequence[KernelTable],
    result: Any,
    arrays: Sequence[Any],
    attributes: Mapping[str, Any],
) -> Any:
    """What a kernel returned, as arrays of their devices' own types; where it has declined, what the next one returns.

    ``tables`` are those of the results, or one for all.
    """
    if result is NotImplemented:
        result = run_next(op, table, arrays, attributes)
    if isinstance(result, tuple):
        each = list(tables) if len(tables) == len(result) else [tables[0]] * len(result)
        return tuple([home.adopt(op.name, array) for home, array in zip(each, result, strict=True)])
    return None if result is None and op.updates else tables[0].adopt(op.name, result)


def run_on_host(
    function: Callable[..., Any], inputs: Sequence[Tensor], dtypes: Sequence[DType]
) -> list[tuple[KernelTable, Any]]:
    """The results of a host function of tensors, as arrays of tables with these dtypes."""
    results = function(*[x._table.device.to_host(x._array) for x in inputs])
    home = inputs[0]._table.device if inputs else current_device()
    tables = [home.table(dtype) for dtype in dtypes]
    return [
        (table, table.device.from_host(np.array(each, table.dtype.numpy_dtype, order="C")))
        for table, each in zip(tables, results, strict=True)
    ]
