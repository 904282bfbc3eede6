"""Filling: large results are written into memory of the backend's, at good addresses, and pages that are in use.

That memory is the allocator's: nobody else holds it, whatever views, tapes and threads there are, and what nobody holds
any more is the allocator's again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.kernels.candidates import Candidate
    from agog_core.dispatch.op import Op

Function = Callable[..., Any]

# The bytes of a result from which on it is filled; for smaller ones an address between cache lines costs less than a
# good one. And the bytes of a first input from which on the size of the result is asked for.
LARGE, ASKED = 1 << 16, 1 << 14


def filled_where_large(op: Op, table: KernelTable, candidate: Candidate, kernel: Function) -> Function:
    """A kernel whose `out` makes large results, where its plugin and the backend know of that; else the kernel."""
    empty = table.device.backend.empty
    if candidate.kernel.out is None or empty is None or (candidate.plugin.version or 1) < 3 or not op.inputs:
        return kernel
    if op.updates or op.views or op.host or op.plain is not None:
        return kernel
    from agog_core.dispatch.kernels.candidates import function_of  # here, because it stands on the coats

    fill = table.device.bind(op.name, table.dtype, function_of(candidate, table, candidate.kernel.out))[0]
    size = table.dtype.size
    device = table.device

    def run(*arrays: Any, **attributes: Any) -> Any:
        if prod(arrays[0].shape) * size < ASKED:
            return kernel(*arrays, **attributes)
        shape = op.shape(*[array.shape for array in arrays], **attributes)
        dtype = op.result_dtype(table.dtype, attributes)
        if type(shape) is not tuple or prod(shape) * dtype.size < LARGE:
            return kernel(*arrays, **attributes)
        out = device.empty(shape, dtype)
        result = fill(*arrays, out=out, **attributes)
        return kernel(*arrays, **attributes) if result is NotImplemented else out

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # errors name the kernel itself
    return run
