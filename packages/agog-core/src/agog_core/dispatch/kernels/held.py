"""Held: results of dtypes that an attribute says, on devices that do not hold them all: others come from the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.lookup import host_device
from agog_core.dispatch.op import Op

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable


def where_held(
    op: Op, table: KernelTable, kernel: Callable[..., Any], resolve: Callable[[Op, KernelTable], Callable[..., Any]]
) -> Callable[..., Any]:
    """The kernel to put into a table: itself where the device holds all that it may return, else one that looks."""
    device = table.device
    if device.backend.dtypes is None or not callable(op.dtype):
        return kernel

    def run(*arrays: Any, **attributes: Any) -> Any:
        found = op.result_dtype(table.dtype, attributes)
        kinds = found if isinstance(found, list) else [found]
        if device.holds_all(kinds):
            return kernel(*arrays, **attributes)
        host = host_device(table.dtype, *kinds)
        there = host.table(table.dtype)
        inputs = [host.from_host(device.owned_on_host(array)) for array in arrays]
        result = (there.kernels.get(op.name) or resolve(op, there))(*inputs, **attributes)
        parts = [
            part if type(part) is host.array_type else there.adopt(op.name, part)
            for part in (result if isinstance(result, tuple) else (result,))
        ]
        placed = [
            device.from_host(host.owned_on_host(part)) if device.holds(kind) else part
            for part, kind in zip(parts, kinds, strict=True)
        ]
        return tuple(placed) if isinstance(result, tuple) else placed[0]

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
    return run
