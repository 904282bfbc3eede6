"""Host work: ops of a device that run on the host, because its plugin says so or it does not hold what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.lookup import host_device
from agog_core.errors import PluginError

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.op import Op
    from agog_core.dtypes import DType

Function = Callable[..., Any]


def on_host(op: Op, table: KernelTable) -> Function:
    """A kernel that copies its inputs to the host, runs the host's kernel there, and brings back what the device holds.

    Raises:
        PluginError: the device is the host.
    """
    device = table.device

    def run(*arrays: Any, **attributes: Any) -> Any:
        from agog_core.dispatch.kernels.resolution import resolve, run_next  # here, because it stands on this module

        kinds = _kinds(op, table, attributes)
        host = host_device(table.dtype, *kinds)
        there = host.table(table.dtype)
        inputs = [host.copy_from(array, device) for array in arrays]
        if "index" in attributes:  # an op without inputs
            attributes["index"] = host.index
        result = (there.kernels.get(op.name) or resolve(op, there))(*inputs, **attributes)
        if result is NotImplemented:
            result = run_next(op, there, inputs, attributes)
        if result is None:  # it has updated its first inputs
            result = tuple(inputs[: len(op.updates)])
        parts = [
            part if type(part) is host.array_type else there.adopt(op.name, part)
            for part in (result if isinstance(result, tuple) else (result,))
        ]
        kinds = kinds if len(kinds) == len(parts) else kinds * len(parts)
        placed = [
            device.copy_from(part, host) if device.holds(kind) else part
            for part, kind in zip(parts, kinds, strict=True)
        ]
        return tuple(placed) if isinstance(result, tuple) else placed[0]

    return run


def explicitly_on_host(op: Op, table: KernelTable) -> Function:
    """The kernel of an op that its device's plugin leaves to the host."""
    host = host_device(table.dtype)
    if host is table.device:
        raise PluginError(f"it runs on the host, and {host.type} is the host")
    return on_host(op, table)


def where_held(op: Op, table: KernelTable, kernel: Function) -> Function:
    """The kernel itself where the device holds all that it may return; else one that the host stands in for."""
    device = table.device
    if device.backend.dtypes is None or not callable(op.dtype):
        return kernel
    elsewhere = on_host(op, table)

    def run(*arrays: Any, **attributes: Any) -> Any:
        if device.holds_all(_kinds(op, table, attributes)):
            return kernel(*arrays, **attributes)
        return elsewhere(*arrays, **attributes)

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
    return run


def _kinds(op: Op, table: KernelTable, attributes: Mapping[str, Any]) -> list[DType]:
    found = op.result_dtype(table.dtype, attributes)
    return found if isinstance(found, list) else [found]
