"""Pairs: a kernel that keeps a reserve for its gradient's kernel, and that one; the two come from one plugin.

What the one keeps only the other can read. So it is marked with where it comes from, and decides by that which kernel
takes it, whatever the user prefers by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.variant import Variant
from agog_core.dispatch.op import Op, registry

if TYPE_CHECKING:
    from agog_core.dispatch.devices.device import Device
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.kernels.candidates import Candidate
    from agog_core.dispatch.plugins.contract import Kernel
    from agog_core.dispatch.plugins.loader import Plugin


class Keeper:
    """A kernel that keeps reserves, and the device on which it does."""

    __slots__ = ("candidate", "device")

    def __init__(self, candidate: Candidate, device: Device) -> None:
        self.candidate = candidate
        self.device = device


def keeping(op: Op, table: KernelTable, candidate: Candidate, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose reserve, the last of its results, says where it comes from."""
    keeper = Keeper(candidate, table.device)

    def run(*arrays: Any, **attributes: Any) -> Any:
        result = kernel(*arrays, **attributes)
        if not isinstance(result, tuple) or not result:
            return result  # its caller says what is wrong with it
        return *result[:-1], Variant(table.adopt(op.name, result[-1], kernel), keeper)

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # errors name the kernel itself
    return run


def partners(kernel: Kernel, plugin: Plugin, dtype: str | None = None, other: str | None = None) -> list[Kernel]:
    """The kernels of a plugin that form a pair with one of its kernels, best first; all where the dtype is None.

    They are those of the op that the kernel's op names, or of another one that takes its reserve.
    """
    op = registry.get(kernel.op)
    if other is None and op is not None:
        other = op.reserve or op.reserve_of
    found = [
        each
        for each in plugin.kernels
        if (each.op, each.device, each.pair) == (other, kernel.device, kernel.pair)
        and (dtype is None or each.dtypes is None or dtype in each.dtypes)
    ]
    return sorted(found, key=lambda each: each.priority, reverse=True)


def why_alone(kernel: Kernel, plugin: Plugin, dtype: str, why_unusable: Callable[[Kernel], str | None]) -> str | None:
    """Why a kernel cannot be used for want of its partner; None where it has one, or needs none."""
    op = registry.get(kernel.op)
    if op is None:
        return None
    if not op.is_paired:
        return None if kernel.pair is None else f"it names pair {kernel.pair!r}, but op {kernel.op!r} has no reserve"
    found = partners(kernel, plugin, dtype)
    reasons = [why_unusable(each) for each in found]
    if None in reasons:
        return None
    half, does = (op.reserve, "takes its reserve") if op.reserve else (op.reserve_of, "keeps the reserve that it takes")
    told = f": {reasons[0]}" if reasons else ""
    return (
        f"half of a pair: its plugin has no usable kernel with pair={kernel.pair!r} for op {half!r}, which {does}{told}"
    )
