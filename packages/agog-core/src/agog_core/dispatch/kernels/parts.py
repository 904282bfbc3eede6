"""Parts: what runs a fused op by the kernels of the ops that it is composed of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import Candidate, candidates, rank
from agog_core.dispatch.kernels.lowering import lowering
from agog_core.dispatch.kernels.resolution import adopted, resolve, run_next
from agog_core.dispatch.op import Op, registry


def composed(op: Op, table: KernelTable) -> Callable[..., Any] | None:
    """What runs a fused op by its parts; None where a kernel of its own does."""
    assert op.parts is not None
    _, composition = op.parts
    if not (_is_taken_apart(op, table) if table.traces else _is_outranked(op, table)):
        return None

    def run_part(name: str, *arrays: Any, **attributes: Any) -> Any:
        part = registry[name]
        kernel = table.kernels.get(name) or resolve(part, table)
        result = kernel(*arrays, **attributes)
        if result is NotImplemented:
            return run_next(part, table, arrays, attributes)
        return adopted(part, table, result, kernel)

    def run(*arrays: Any, **attributes: Any) -> Any:
        return composition(run_part, *arrays, **attributes)

    return run


def _is_outranked(op: Op, table: KernelTable) -> bool:
    """Whether the best kernel for the main part goes before the best one for the whole, or another plugin's for any."""

    def best(name: str) -> Candidate | None:
        found, _ = candidates(name, table.device.type, table.dtype.name)
        return found[0] if found else None

    assert op.parts is not None
    whole, (main, *others) = best(op.name), op.parts[0]
    if whole is None:
        return True
    for name in (main, *others):
        part = best(name)
        if part is not None and rank(part) > rank(whole) and (name == main or part.plugin is not whole.plugin):
            return True
    return False


def _is_taken_apart(op: Op, table: KernelTable) -> bool:
    """Whether a traced function sees the parts: kernels for them run anyway, or compilers may fuse what they do."""
    real = table.device.untraced.table(table.dtype)
    if _is_outranked(op, real):
        return True
    return lowering(op, real) is not None
