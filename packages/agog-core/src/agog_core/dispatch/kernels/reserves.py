"""Reserves: what a kernel keeps for its gradient's: who keeps one, and who takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.devices.variant import Variant
from agog_core.dispatch.kernels.candidates import Candidate, candidates_of_all_ops, rank, why_unusable
from agog_core.dispatch.kernels.failure import shape_of
from agog_core.dispatch.kernels.pairs import Keeper, partners, takers
from agog_core.dispatch.kernels.resolution import Chain, adopted, resolve, run_chosen
from agog_core.dispatch.kernels.unresolved import declined
from agog_core.dispatch.op import Op
from agog_core.errors import MissingKernelError


def is_kept(op: Op, table: KernelTable) -> bool:
    """Whether the kernel that runs an op keeps a reserve where it is asked to."""
    if table.traces:
        table = table.device.untraced.table(table.dtype)
    found = table.keeps.get(op.name)
    if found is None:
        if op.name not in table.kernels:
            resolve(op, table)
        found = table.keeps[op.name] = any(keeper is not None for _, keeper in _forms(op, table))
    return found


def _forms(op: Op, table: KernelTable) -> list[tuple[int, Candidate | None]]:
    """The places of the kernels that run an op, up to the last that keeps a reserve; with that kernel if it does."""
    chain = table.chains.get(op.name)
    if chain is None or chain.head < 0:
        return []
    found = []
    for place in range(chain.head, len(chain.candidates)):
        candidate = chain.candidates[place]
        keeps = candidate.kernel.reserve and takers(candidate.kernel, candidate.plugin, table.dtype.name)
        found.append((place, candidate if keeps else None))
    while found and found[-1][1] is None:
        del found[-1]
    return found


def keeping(op: Op, table: KernelTable) -> Callable[..., Any]:
    """What a table has for an op with a reserve: the kernels in rank, those that keep none too."""
    plain = op.plain
    assert plain is not None
    if plain.name not in table.kernels:
        resolve(plain, table)
    all_kernels = table.chains.get(plain.name)
    forms = [(place, None if each is None else Chain(op, table, [each])) for place, each in _forms(plain, table)]

    def run(*arrays: Any, **attributes: Any) -> Any:
        for place, keeper in forms:
            if keeper is not None:
                result, _ = keeper.run(0, arrays, attributes)
                if result is not NotImplemented:
                    return result
            else:
                assert all_kernels is not None
                result, kernel = all_kernels.run(place, arrays, attributes, place + 1)
                if result is not NotImplemented:
                    return _with_nothing(adopted(plain, table, result, kernel))
        return _with_nothing(run_chosen(plain, table, arrays, attributes))

    return run


def _with_nothing(result: Any) -> tuple[Any, ...]:
    return *(result if isinstance(result, tuple) else (result,)), Variant(None, None)


def taking(op: Op, table: KernelTable) -> Callable[..., Any]:
    """What a table has for an op that takes a reserve: it looks at the reserve to know whose kernel runs."""
    known: dict[Keeper | None, Callable[..., Any]] = {}

    def run(*arrays: Any, **attributes: Any) -> Any:
        keeper = arrays[-1].keeper
        partner = known.get(keeper)
        if partner is None:
            partner = known[keeper] = _partner(op, table, keeper)
        return partner(*arrays, **attributes)

    return run


def _partner(op: Op, table: KernelTable, keeper: Keeper | None) -> Callable[..., Any]:
    """The kernels that take the reserves of a keeper, the best first."""
    plain = op.plain
    home = table if keeper is None else keeper.device.table(table.dtype)
    chain = Chain(op, home, [] if keeper is None else _candidates(op, table, keeper))

    def run(*arrays: Any, **attributes: Any) -> Any:
        result, _ = chain.run(0, (*arrays[:-1], arrays[-1].array), attributes)
        if result is not NotImplemented:
            return result
        if plain is not None:
            return run_chosen(plain, table, arrays[:-1], attributes)
        raise MissingKernelError(_text(chain, home, arrays))

    if home is table:
        return run
    if plain is not None:  # which the device runs itself
        return lambda *arrays, **attributes: run_chosen(plain, table, arrays[:-1], attributes)
    from agog_core.dispatch.kernels.fallback import elsewhere  # here, because fallbacks stand on resolution

    return elsewhere(op, home, table.device, run)


def _candidates(op: Op, table: KernelTable, keeper: Keeper) -> list[Candidate]:
    kernel, plugin = keeper.candidate.kernel, keeper.candidate.plugin
    dtype = table.dtype.name
    name = op.name if op.plain is None else op.plain.name
    found = (partners if op.plain is None else takers)(kernel, plugin, dtype, name)
    there = {id(candidate.kernel): candidate for candidate in candidates_of_all_ops().get(name, [])}
    usable = [each for each in found if why_unusable(each) is None]
    # Those of a plugin that has been unregistered meanwhile are no candidates any more.
    among = [there.get(id(each)) or Candidate(each, plugin, {}) for each in usable]
    return sorted(among, key=rank, reverse=True)


def _text(chain: Chain, table: KernelTable, arrays: Sequence[Any]) -> str:
    shapes = [shape_of(array) for array in (*arrays[:-1], arrays[-1].array)]
    where = chain.op.name, table.device.type, table.dtype.name
    return declined(*where, shapes, chain.candidates, chain.rejected)
