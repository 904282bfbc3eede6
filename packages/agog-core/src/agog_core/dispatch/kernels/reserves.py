"""Reserves: what runs an op that takes one: the partner of the kernel that has kept it, on that one's device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import Candidate, candidates_of_all_ops, rank, why_unusable
from agog_core.dispatch.kernels.failure import shape_of
from agog_core.dispatch.kernels.pairs import Keeper, partners
from agog_core.dispatch.kernels.resolution import Chain
from agog_core.dispatch.kernels.unresolved import declined
from agog_core.dispatch.op import Op
from agog_core.errors import MissingKernelError


def taking(op: Op, table: KernelTable) -> Callable[..., Any]:
    """What a table has for an op that takes a reserve: it looks at the reserve to know whose kernel runs."""
    known: dict[Keeper, Callable[..., Any]] = {}

    def run(*arrays: Any, **attributes: Any) -> Any:
        keeper = arrays[-1].keeper
        partner = known.get(keeper)
        if partner is None:
            partner = known[keeper] = _partner(op, table, keeper)
        return partner(*arrays, **attributes)

    return run


def _partner(op: Op, table: KernelTable, keeper: Keeper) -> Callable[..., Any]:
    """The kernels that take the reserves of a keeper, the best first."""
    kernel, plugin = keeper.candidate.kernel, keeper.candidate.plugin
    home = keeper.device.table(table.dtype)
    there = {id(candidate.kernel): candidate for candidate in candidates_of_all_ops().get(op.name, [])}
    usable = [each for each in partners(kernel, plugin, table.dtype.name, op.name) if why_unusable(each) is None]
    # Those of a plugin that has been unregistered meanwhile are no candidates any more.
    among = [there.get(id(each)) or Candidate(each, plugin, {}) for each in usable]
    chain = Chain(op, home, sorted(among, key=rank, reverse=True))

    def run(*arrays: Any, **attributes: Any) -> Any:
        given = (*arrays[:-1], arrays[-1].array)
        result, _ = chain.run(0, given, attributes)
        if result is NotImplemented:
            shapes = [shape_of(array) for array in given]
            where = op.name, home.device.type, home.dtype.name
            raise MissingKernelError(declined(*where, shapes, chain.candidates, chain.rejected))
        return result

    if home is table:
        return run
    from agog_core.dispatch.kernels.fallback import elsewhere  # here, because fallbacks stand on resolution

    return elsewhere(op, home, table.device, run)
