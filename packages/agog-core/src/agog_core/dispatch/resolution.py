"""Resolution: which kernel runs an op, decided once for each op, device and dtype."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dispatch.candidates import BROKEN, Candidate, candidates, load_kernel, rank
from agog_core.dispatch.explanation import ambiguous, missing
from agog_core.dispatch.held import where_held
from agog_core.dispatch.observation import observed
from agog_core.dispatch.op import Op
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
    best = [c for c in usable if rank(c) == rank(usable[0])]
    if len(best) > 1:
        raise AmbiguousKernelError(ambiguous(op.name, table.device.type, table.dtype.name, best))
    for candidate, why in rejected:
        if why.startswith(BROKEN):
            _report_broken(op.name, candidate, why)
    bound = table.device.bind(op.name, table.dtype, load_kernel(best[0].kernel))
    kernel, for_scalars = (where_held(op, table, observed(op, table, best[0], each), resolve) for each in bound)
    table.install(op.name, kernel, for_scalars)
    return kernel


def _report_broken(op: str, candidate: Candidate, why: str) -> None:
    """A kernel that cannot be imported is passed over, but not silently."""
    from agog_core.dispatch.loader import loader

    text = f"The kernel for op {op!r} on device {candidate.kernel.device!r} of {candidate} is left out: it {why}"
    if loader().strict:
        raise PluginError(text)
    warnings.warn(text, PluginWarning, stacklevel=3)
