"""Several: what runs an op for several variables at once, where the best kernel for a table brings that too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import BROKEN, function_of, report_broken
from agog_core.dispatch.kernels.coats import is_checked
from agog_core.dispatch.kernels.observation import are_observed
from agog_core.dispatch.kernels.resolution import Chain
from agog_core.dispatch.op import Op
from agog_core.errors import describe_error


def resolve_several(op: Op, table: KernelTable) -> Callable[..., Any] | None:
    """Choose what runs an op for several variables at once, and store it in the table; None where each goes alone."""
    chain = table.chains.get(op.name)
    if chain is None:
        chain = table.chains[op.name] = Chain(op, table)
    table.several[op.name] = function = _best(op, table, chain)
    return function


def _best(op: Op, table: KernelTable, chain: Chain) -> Callable[..., Any] | None:
    """The best kernel's function for several; None where it has none, or while somebody looks at each call."""
    if are_observed() or is_checked() or all(each.kernel.several is None for each in chain.candidates):
        return None
    if chain.first() is None:
        return None
    candidate = chain.candidates[chain.head]
    if candidate.kernel.several is None:
        return None
    try:
        function = function_of(candidate, table, candidate.kernel.several)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # see `Chain`
        report_broken(candidate, f"{BROKEN}: {describe_error(error)}")
        return None
    return table.device.bind(op.name, table.dtype, function)[0]
