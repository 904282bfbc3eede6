"""Parts: what runs a fused op by the kernels of the ops that it is composed of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import candidates, rank
from agog_core.dispatch.kernels.lowering import lowering
from agog_core.dispatch.kernels.resolution import run_chosen
from agog_core.dispatch.op import Op, registry


def composed(op: Op, table: KernelTable) -> Callable[..., Any] | None:
    """What runs a fused op by its parts; None where a kernel of its own does."""
    assert op.parts is not None
    main, composition = op.parts
    if not (_is_taken_apart(op, table) if table.traces else _is_outranked(op.name, main, table)):
        return None

    def run_part(name: str, *arrays: Any, **attributes: Any) -> Any:
        return run_chosen(registry[name], table, arrays, attributes)

    def run(*arrays: Any, **attributes: Any) -> Any:
        return composition(run_part, *arrays, **attributes)

    return run


def _is_outranked(op: str, main: str, table: KernelTable) -> bool:
    """Whether the best kernel for the main part goes before the best one for the whole."""
    (whole, _), (part, _) = (candidates(name, table.device.type, table.dtype.name) for name in (op, main))
    return not whole or (bool(part) and rank(part[0]) > rank(whole[0]))


def _is_taken_apart(op: Op, table: KernelTable) -> bool:
    """Whether a traced function sees the parts: kernels for them run anyway, or compilers may fuse what they do."""
    real = table.device.untraced.table(table.dtype)
    if _is_outranked(op.name, op.parts[0], real):  # type: ignore[index]  # it has parts
        return True
    return lowering(op, real) is not None
