"""Coats: what is put around a kernel's function before a table has it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.lookup import host_device
from agog_core.dispatch.kernels.filling import filled_where_large
from agog_core.dispatch.kernels.observation import observed, observers
from agog_core.dispatch.kernels.pairs import keeping

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.kernels.candidates import Candidate
    from agog_core.dispatch.op import Op

Function = Callable[..., Any]


def coated(op: Op, table: KernelTable, candidate: Candidate, function: Function) -> tuple[Function, Function]:
    """The functions that run a kernel, as tables have them: one, and one for results of rank 0."""
    one, for_scalars = table.device.bind(op.name, table.dtype, function)
    both_alike = one is for_scalars
    one = filled_where_large(op, table, candidate, one)
    return _coated(op, table, candidate, one), _coated(op, table, candidate, one if both_alike else for_scalars)


def _coated(op: Op, table: KernelTable, candidate: Candidate, kernel: Function) -> Function:
    """The coats, the innermost first; a kernel wears those alone that it needs."""
    if observers:
        kernel = observed(op, table, candidate, kernel)
    if is_checked():
        from agog_core.dispatch.kernels.checking import checked  # here, because most programs do without

        kernel = checked(op, table, candidate, kernel)
    if op.reserve is not None:
        kernel = keeping(op, table, candidate, kernel)
    return where_held(op, table, kernel)


def where_held(op: Op, table: KernelTable, kernel: Function) -> Function:
    """The kernel itself where the device holds all that it may return; else one that the host stands in for."""
    device = table.device
    if device.backend.dtypes is None or not callable(op.dtype):
        return kernel

    def run(*arrays: Any, **attributes: Any) -> Any:
        found = op.result_dtype(table.dtype, attributes)
        kinds = found if isinstance(found, list) else [found]
        if device.holds_all(kinds):
            return kernel(*arrays, **attributes)
        from agog_core.dispatch.kernels.resolution import resolve  # here, because it stands on this module

        host = host_device(table.dtype, *kinds)
        there = host.table(table.dtype)
        inputs = [host.copy_from(array, device) for array in arrays]
        result = (there.kernels.get(op.name) or resolve(op, there))(*inputs, **attributes)
        parts = [
            part if type(part) is host.array_type else there.adopt(op.name, part)
            for part in (result if isinstance(result, tuple) else (result,))
        ]
        placed = [
            device.copy_from(part, host) if device.holds(kind) else part
            for part, kind in zip(parts, kinds, strict=True)
        ]
        return tuple(placed) if isinstance(result, tuple) else placed[0]

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
    return run


def is_checked() -> bool:
    """Whether each kernel call is checked, as ``AGOG_CHECK=1`` in the environment asks for."""
    return os.environ.get("AGOG_CHECK", "") not in ("", "0")
