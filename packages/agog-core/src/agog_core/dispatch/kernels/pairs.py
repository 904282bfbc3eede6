"""Pairs: a kernel that keeps a reserve, and those of its plugin that take it, such as its gradient's.

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


def marked(op: Op, table: KernelTable, candidate: Candidate, kernel: Callable[..., Any]) -> Callable[..., Any]:
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
    return _alike(kernel, plugin, dtype, lambda each: each.op == other)


def takers(kernel: Kernel, plugin: Plugin, dtype: str, other: str | None = None) -> list[Kernel]:
    """The kernels of a plugin that may take what one of its kernels keeps, best first; for an op, or for all ops."""

    def takes(each: Kernel) -> bool:
        is_meant = each.op in _taking(kernel.op) and other in (None, each.op)
        return is_meant and each.reserve is not None

    return _alike(kernel, plugin, dtype, takes)


def why_in_vain(kernel: Kernel, plugin: Plugin, dtype: str) -> str | None:
    """Why no kernel of its plugin keeps or takes the reserve of an optional one; None where there is a counterpart."""
    op = registry.get(kernel.op)
    if op is None or kernel.reserve is None:
        return None
    if op.keeping is not None:
        found, does, others = takers(kernel, plugin, dtype), "takes what it keeps", sorted(_taking(op.name))
    else:
        others = [op.reserve_of or ""]
        found = _alike(kernel, plugin, dtype, lambda each: each.op == others[0] and each.reserve is not None)
        does = "keeps what it takes"
    if found:
        return None
    return f"nobody {does}: its plugin has no kernel with `reserve` and pair={kernel.pair!r} for {' or '.join(others)}"


def _taking(keeper: str) -> set[str]:
    """The names of the ops that may take the reserve of one."""
    return {op.name for op in registry.values() if op.taking is not None and op.reserve_of == keeper}


def _alike(kernel: Kernel, plugin: Plugin, dtype: str | None, is_meant: Callable[[Kernel], bool]) -> list[Kernel]:
    found = [
        each
        for each in plugin.kernels
        if (each.device, each.pair) == (kernel.device, kernel.pair)
        and is_meant(each)
        and (dtype is None or each.dtypes is None or dtype in each.dtypes)
    ]
    return sorted(found, key=lambda each: each.priority, reverse=True)


def why_alone(kernel: Kernel, plugin: Plugin, dtype: str, why_unusable: Callable[[Kernel], str | None]) -> str | None:
    """Why a kernel cannot be used for want of its partner; None where it has one, or needs none."""
    op = registry.get(kernel.op)
    if op is None:
        return None
    if not op.is_paired:
        is_fine = kernel.pair is None or op.keeping is not None or op.taking is not None
        return None if is_fine else f"it names pair {kernel.pair!r}, but op {kernel.op!r} has no reserve"
    found = partners(kernel, plugin, dtype)
    reasons = [why_unusable(each) for each in found]
    if None in reasons:
        return None
    half, does = (op.reserve, "takes its reserve") if op.reserve else (op.reserve_of, "keeps the reserve that it takes")
    told = f": {reasons[0]}" if reasons else ""
    return (
        f"half of a pair: its plugin has no usable kernel with pair={kernel.pair!r} for op {half!r}, which {does}{told}"
    )
