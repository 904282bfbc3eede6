"""Coats: what is put around a kernel's function before a table has it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.table import describe
from agog_core.dispatch.kernels.filling import filled_where_large
from agog_core.dispatch.kernels.host_work import where_held
from agog_core.dispatch.kernels.observation import observed, observers
from agog_core.dispatch.kernels.pairs import marked
from agog_core.errors import InternalError

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.kernels.candidates import Candidate
    from agog_core.dispatch.op import Op

Function = Callable[..., Any]


def coated(op: Op, table: KernelTable, candidate: Candidate, function: Function) -> tuple[Function, Function]:
    """The functions that run a kernel, as tables have them: one, and one for results of rank 0."""
    one, for_scalars = table.device.bind((op.plain or op).name, table.dtype, function)
    both_alike = one is for_scalars
    one = filled_where_large(op, table, candidate, one)
    return _coated(op, table, candidate, one), _coated(op, table, candidate, one if both_alike else for_scalars)


def _coated(op: Op, table: KernelTable, candidate: Candidate, kernel: Function) -> Function:
    """The coats, the innermost first; a kernel wears those alone that it needs."""
    if op.updates and not table.device.backend.writable:
        kernel = _returning(op, table, kernel)
    if observers:
        kernel = observed(op, table, candidate, kernel)
    if is_checked():
        from agog_core.dispatch.kernels.checking import checked  # here, because most programs do without

        kernel = checked(op, table, candidate, kernel)
    if op.reserve is not None:
        kernel = marked(op, table, candidate, kernel)
    return where_held(op, table, kernel)


def _returning(op: Op, table: KernelTable, kernel: Function) -> Function:
    """The kernel of an op that updates variables, on a device whose arrays are not written: it returns new ones."""

    def run(*arrays: Any, **attributes: Any) -> Any:
        if (result := kernel(*arrays, **attributes)) is None:
            raise InternalError(
                f"{op.name}: the kernel {describe(kernel)} for device {table.device.type!r} returned None; arrays of "
                f"the device are not written, so it returns a tuple of {len(op.updates)} new arrays."
            )
        return result

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
    return run


def is_checked() -> bool:
    """Whether each kernel call is checked, as ``AGOG_CHECK=1`` in the environment asks for."""
    return os.environ.get("AGOG_CHECK", "") not in ("", "0")
