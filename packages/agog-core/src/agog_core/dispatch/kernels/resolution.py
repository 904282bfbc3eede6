"""Resolution: which kernel runs an op, decided once for each op, device and dtype; and which one when that declines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import BROKEN
from agog_core.dispatch.kernels.chain import Chain, report_broken
from agog_core.dispatch.kernels.failure import shape_of
from agog_core.dispatch.kernels.held import where_held
from agog_core.dispatch.kernels.reserves import takes_reserves
from agog_core.dispatch.kernels.unresolved import declined, missing
from agog_core.dispatch.op import Op
from agog_core.errors import MissingKernelError

# What `agog_core.dispatch.kernels.fallback` puts in place of a missing kernel, the innermost scope last.
fallbacks: list[Callable[[Op, KernelTable, str], Callable[..., Any]]] = []


def resolve(op: Op, table: KernelTable, shapes: Sequence[tuple[int, ...]] = ()) -> Callable[..., Any]:
    """Choose the kernel for an op on a table's device and dtype, and store it in the table."""
    op.check_dtype(table.dtype)
    if table.traces:
        return table.recorder(op)
    chain = table.chains.get(op.name) or Chain(op, table)  # it is there where several variables were asked for first
    broken = [each for each in chain.rejected if each[1].startswith(BROKEN)]
    kernels = chain.first()
    if kernels is None:
        text = missing(op.name, table.device.type, table.dtype.name, shapes, chain.rejected)
        if not fallbacks:
            raise MissingKernelError(text)
        elsewhere = fallbacks[-1](op, table, text)
        kernels = elsewhere, elsewhere
    for candidate, why in broken:
        report_broken(candidate, why)
    if op.reserve_of is not None and chain.candidates:
        kernel = takes_reserves(op, table)
        table.install(op.name, kernel)
        return kernel
    kernel, for_scalars = (where_held(op, table, each, resolve) for each in kernels)
    table.install(op.name, kernel, for_scalars, chain)
    return kernel


def run_next(op: Op, table: KernelTable, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Run the best kernel that takes a call which the table's kernel has declined.

    Args:
        op: the op.
        table: the table that the kernel was taken from.
        arrays: what the kernel was given.
        attributes: the attributes that it was given.

    Returns:
        What the kernel returned, in arrays of the device's own type.

    Raises:
        MissingKernelError: every kernel declines the call.
    """
    chain = table.chains.get(op.name)
    if chain is None:
        chain = table.chains[op.name] = Chain(op, table)
    result, kernel = chain.run(chain.head + 1, arrays, attributes)
    if result is not NotImplemented:
        return adopted(op, table, result, kernel)
    if chain.fallback is None:
        shapes = [shape_of(array) for array in arrays]
        text = declined(op.name, table.device.type, table.dtype.name, shapes, chain.candidates, chain.rejected)
        if not fallbacks:
            raise MissingKernelError(text)
        chain.fallback = fallbacks[-1](op, table, text)
    return chain.fallback(*arrays, **attributes)


def adopted(op: Op, table: KernelTable, result: Any, kernel: Callable[..., Any] | None) -> Any:
    """What a kernel returned, in arrays of the device's own type; None where it updates its first arrays in place."""
    if result is None:
        return None
    if isinstance(result, tuple):
        return tuple(table.adopt(op.name, each, kernel) for each in result)
    return table.adopt(op.name, result, kernel)
