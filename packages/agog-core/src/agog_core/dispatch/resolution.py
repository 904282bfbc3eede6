"""Resolution: which kernel runs an op, decided once for each op, device and dtype."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dispatch.candidates import BROKEN, Candidate, candidates, load_kernel, rank, why_unusable
from agog_core.dispatch.explanation import ambiguous, missing
from agog_core.dispatch.observation import observed
from agog_core.dispatch.op import Op
from agog_core.dispatch.pairs import Keeper, marking, partners
from agog_core.dispatch.table import KernelTable
from agog_core.errors import AmbiguousKernelError, MissingKernelError, PluginError, PluginWarning

# What `agog_core.dispatch.fallback` puts in place of a missing kernel, the innermost scope last.
fallbacks: list[Callable[[Op, KernelTable, str], Callable[..., Any]]] = []


def resolve(op: Op, table: KernelTable, shapes: Sequence[tuple[int, ...]] = ()) -> Callable[..., Any]:
    """Choose the kernel for an op on a table's device and dtype, and store it in the table."""
    op.check_dtype(table.dtype)
    usable, rejected = candidates(op.name, table.device.type, table.dtype.name)
    if not usable:
        text = missing(op.name, table.device.type, table.dtype.name, shapes, rejected)
        if not fallbacks:
            raise MissingKernelError(text)
        kernel = fallbacks[-1](op, table, text)
        table.install(op.name, kernel)
        return kernel
    kernel = _ready(op, table, _best(op, table, usable)) if op.reserve_of is None else _of_reserves(op, table)
    for candidate, why in rejected:
        if why.startswith(BROKEN):
            _report_broken(op.name, candidate, why)
    table.install(op.name, kernel)
    return kernel


def _best(op: Op, table: KernelTable, usable: Sequence[Candidate]) -> Candidate:
    best = [c for c in usable if rank(c) == rank(usable[0])]
    if len(best) > 1:
        raise AmbiguousKernelError(ambiguous(op.name, table.device.type, table.dtype.name, best))
    return best[0]


def _ready(op: Op, table: KernelTable, candidate: Candidate) -> Callable[..., Any]:
    """The kernel of a candidate, to be put into a table."""
    kernel = observed(op, table, candidate, load_kernel(candidate.kernel))
    return kernel if op.reserve is None else marking(kernel, Keeper(candidate, table.device))


def _of_reserves(op: Op, table: KernelTable) -> Callable[..., Any]:
    """What runs an op that takes a reserve: the partner of the kernel that kept it, on the device where that did."""
    known: dict[Keeper, Callable[..., Any]] = {}

    def run(*arrays: Any, **attributes: Any) -> Any:
        keeper = arrays[-1].keeper
        partner = known.get(keeper)
        if partner is None:
            partner = known[keeper] = _partner(op, table, keeper)
        return partner(*arrays, **attributes)

    return run


def _partner(op: Op, table: KernelTable, keeper: Keeper) -> Callable[..., Any]:
    """The kernel that takes the reserves of a keeper."""
    kernel, plugin = keeper.candidate
    home = keeper.device.table(table.dtype)
    usable = [each for each in partners(kernel, plugin, table.dtype.name) if why_unusable(each) is None]
    partner = _ready(op, home, _best(op, home, [Candidate(each, plugin) for each in usable]))

    def run(*arrays: Any, **attributes: Any) -> Any:
        return partner(*arrays[:-1], arrays[-1].array, **attributes)

    if home is table:
        return run
    from agog_core.dispatch.fallback import elsewhere  # here, because fallbacks stand on resolution

    return elsewhere(op, run, home.device, table.device)


def _report_broken(op: str, candidate: Candidate, why: str) -> None:
    """A kernel that cannot be imported is passed over, but not silently."""
    from agog_core.dispatch.loader import loader

    text = f"The kernel for op {op!r} on device {candidate.kernel.device!r} of {candidate} is left out: it {why}"
    if loader().strict:
        raise PluginError(text)
    warnings.warn(text, PluginWarning, stacklevel=3)
