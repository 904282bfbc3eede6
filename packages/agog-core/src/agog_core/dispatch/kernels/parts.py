"""Parts: what runs a fused op by the kernels of the ops that it is composed of."""

from __future__ import annotations

from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import Candidate, Function, candidates, rank
from agog_core.dispatch.kernels.lowering import lowering
from agog_core.dispatch.kernels.resolution import resolve, run_chosen
from agog_core.dispatch.op import Op, registry


def composed(op: Op, table: KernelTable) -> Function | None:
    """What runs a fused op by its parts; None where a kernel of its own does."""
    is_composed = _is_taken_apart if table.traces else _is_outranked
    return _composition(op, table) if is_composed(op, table) else None


def composed_for_some(op: Op, table: KernelTable, whole: Function) -> Function:
    """What runs a fused op by a kernel of its own, but by its parts in calls for which another plugin brings a better
    kernel of the last part, that takes all calls.
    """
    assert op.parts is not None
    real = table.device.untraced.table(table.dtype) if table.traces else table
    best = _best(op.name, real)
    last = {name: _best(name, real) for name in op.parts.last} if best is not None else {}
    better = frozenset(name for name, part in last.items() if part is not None and _is_better(part, best))
    if not better:
        return whole
    composition = _composition(op, table)

    def run(*arrays: Any, **attributes: Any) -> Any:
        is_better = any(type(value) is str and value in better for value in attributes.values())
        return (composition if is_better else whole)(*arrays, **attributes)

    run.__wrapped__ = whole  # type: ignore[attr-defined]  # errors name the kernel itself
    return run


def is_whole(op: Op, table: KernelTable) -> bool:
    """Whether a kernel of its own runs a fused op, so that it is worth a call."""
    if table.traces:
        return not _is_taken_apart(op, table)
    if op.name not in table.kernels:
        resolve(op, table)
    return op.name in table.chains


def _composition(op: Op, table: KernelTable) -> Function:
    assert op.parts is not None
    composition = op.parts.composition

    def run_part(name: str, *arrays: Any, **attributes: Any) -> Any:
        return run_chosen(registry[name], table, arrays, attributes)

    def run(*arrays: Any, **attributes: Any) -> Any:
        return composition(run_part, *arrays, **attributes)

    return run


def _best(op: str, table: KernelTable) -> Candidate | None:
    found, _ = candidates(op, table.device.type, table.dtype.name)
    return found[0] if found else None


def _is_better(part: Candidate, whole: Candidate | None) -> bool:
    assert whole is not None
    return part.plugin is not whole.plugin and not part.kernel.when and rank(part) > rank(whole)


def _is_outranked(op: Op, table: KernelTable) -> bool:
    """Whether the best kernel for the main part goes before the best one for the whole; or for one of several parts,
    which are faster alone, at equal rank too.
    """
    assert op.parts is not None
    whole, main = _best(op.name, table), op.parts.main
    if whole is None:
        return True
    if main is not None:
        return (part := _best(main, table)) is not None and rank(part) > rank(whole)
    return any((part := _best(name, table)) is not None and rank(part) >= rank(whole) for name in op.parts.others)


def _is_taken_apart(op: Op, table: KernelTable) -> bool:
    """Whether a traced function sees the parts: kernels for them run anyway, or compilers may fuse what they do."""
    real = table.device.untraced.table(table.dtype)
    return _is_outranked(op, real) or lowering(op, real) is not None
