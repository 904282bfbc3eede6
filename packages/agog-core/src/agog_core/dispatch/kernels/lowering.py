"""Lowering: the kernel that runs an op, and how it is taken apart; for what runs traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import function_of
from agog_core.dispatch.kernels.coats import is_checked
from agog_core.dispatch.kernels.resolution import resolve
from agog_core.dispatch.op import Op
from agog_core.dispatch.plugins.reference import load_reference


def kernel_of(op: Op, table: KernelTable, shapes: Sequence[tuple[int, ...]] = ()) -> Callable[..., Any]:
    """The kernel that runs an op on a table's device and dtype: the first in rank."""
    kernel = table.kernels.get(op.name)
    return resolve(op, table, shapes) if kernel is None else kernel


def lowering(op: Op, table: KernelTable) -> Callable[..., Any] | None:
    """What records the steps of the kernel that runs an op (`Kernel.lower`), or None where it says nothing of them."""
    kernel_of(op, table)
    chain = table.chains.get(op.name)
    if chain is None or chain.head < 0 or op.host or op.is_paired:
        return None
    lowers = [candidate.kernel.lower for candidate in chain.candidates[chain.head :]]
    lower = next((each for each in lowers if each != "next"), None)
    return None if lower is None else load_reference(lower)


def filling(op: Op, table: KernelTable) -> Callable[..., Any] | None:
    """What fills an array with the result of the kernel that runs an op (`Kernel.out`), or None where it has
    none, and while each call is checked.
    """
    kernel_of(op, table)
    chain = table.chains.get(op.name)
    if chain is None or chain.head < 0 or op.host or op.updates or op.views or is_checked():
        return None
    candidate = chain.candidates[chain.head]
    if candidate.kernel.out is None:
        return None
    function = function_of(candidate, table, candidate.kernel.out)
    return table.device.bind(op.name, table.dtype, function)[0]
