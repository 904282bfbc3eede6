"""Resolution: which kernel runs an op, decided once for each op, device and dtype; and which one when that declines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import (
    BROKEN,
    Candidate,
    Function,
    candidates,
    function_of,
    rank,
    report_broken,
)
from agog_core.dispatch.kernels.coats import coated
from agog_core.dispatch.kernels.failure import note_failure, shape_of
from agog_core.dispatch.kernels.host_work import explicitly_on_host
from agog_core.dispatch.kernels.unresolved import ambiguous, declined, missing
from agog_core.dispatch.op import Op
from agog_core.errors import AmbiguousKernelError, MissingKernelError, describe_error

# What `agog_core.dispatch.kernels.fallback` puts in place of a missing kernel, the innermost scope last.
fallbacks: list[Callable[[Op, KernelTable, str], Callable[..., Any]]] = []


class Chain:
    """The kernels that can run an op on a device for a dtype; each is made ready when it is reached.

    Args:
        op: the op.
        table: the table of the device and dtype.
        among: the candidates, best first; all of the op's where it is None.
    """

    __slots__ = ("_kernels", "_table", "candidates", "fallback", "head", "op", "rejected")

    def __init__(self, op: Op, table: KernelTable, among: list[Candidate] | None = None) -> None:
        self.op = op
        self.candidates, self.rejected = (
            candidates(op.name, table.device.type, table.dtype.name) if among is None else (among, [])
        )
        self.head = -1  # the place of the kernel in the table; before the first one where that is none of them
        self.fallback: Function | None = None  # what runs a call that all of them decline, inside of such a scope
        self._table = table
        self._kernels: dict[int, tuple[Function, Function] | None] = {}

    def kernels(self, place: int) -> tuple[Function, Function] | None:
        """The functions of the kernel at a place, as tables keep them: one, and one for results of rank 0; None where
        they cannot be made.
        """
        if place not in self._kernels:
            self._kernels[place] = self._ready(place)
        return self._kernels[place]

    def first(self) -> tuple[Function, Function] | None:
        """The functions of the best kernel, which go into the table; None where there is none."""
        for place in range(len(self.candidates)):
            if (kernels := self.kernels(place)) is not None:
                self.head = place
                return kernels
        return None

    def run(
        self, start: int, arrays: Sequence[Any], attributes: Mapping[str, Any], stop: int | None = None
    ) -> tuple[Any, Function | None]:
        """Run the best kernel, from a place on and up to another, that takes a call: its result, and which it was;
        NotImplemented and None where all decline.
        """
        for place in range(start, len(self.candidates) if stop is None else stop):
            kernels = self.kernels(place)
            if kernels is None:
                continue
            try:
                result = kernels[0](*arrays, **attributes)
            except Exception as error:
                note_failure(error, self.op, self._table, arrays, kernels[0], self.candidates[place])
                raise
            if result is not NotImplemented:
                return result, kernels[0]
        return NotImplemented, None

    def _ready(self, place: int) -> tuple[Function, Function] | None:
        candidate = self.candidates[place]
        equal = [other for other in self.candidates[place:] if rank(other) == rank(candidate)]
        if len(equal) > 1:
            raise AmbiguousKernelError(ambiguous(self.op.name, self._table.device.type, self._table.dtype.name, equal))
        try:
            if candidate.kernel.on == "host":
                kernel = explicitly_on_host(self.op, self._table)
                return kernel, kernel
            function = function_of(candidate, self._table, candidate.kernel.reserve if self.op.plain else None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # libraries in other languages raise their panics as such
            self.rejected.append((candidate, f"{BROKEN}: {describe_error(error)}"))
            report_broken(*self.rejected[-1])
            return None
        return coated(self.op, self._table, candidate, function)


def resolve(op: Op, table: KernelTable, shapes: Sequence[tuple[int, ...]] = ()) -> Callable[..., Any]:
    """Choose the kernel for an op on a table's device and dtype, and store it in the table."""
    op.check_dtype(table.dtype)
    if op.parts is not None:
        from agog_core.dispatch.kernels.parts import composed, composed_for_some  # here: it stands on this module

        if (kernel := composed(op, table)) is not None:
            if not table.traces:
                table.install(op.name, kernel)
            return kernel
        if table.traces:
            kernel = table.recorder(op)
            table.remove(op.name)  # tables that record outlive the choice of kernels
            return composed_for_some(op, table, kernel)
    if table.traces:
        return table.recorder(op)
    if op.plain is not None:
        from agog_core.dispatch.kernels.reserves import keeping, taking  # here, because it stands on this module

        kernel = (taking if op.plain.keeping is None else keeping)(op, table)
        table.install(op.name, kernel)
        return kernel
    chain = table.chains.get(op.name) or Chain(op, table)  # it is there where several variables were asked for first
    broken = [each for each in chain.rejected if each[1].startswith(BROKEN)]
    kernels = chain.first()
    if kernels is None:
        text = missing(op.name, table.device.type, table.dtype.name, shapes, chain.rejected)
        if not fallbacks:
            raise MissingKernelError(text)
        elsewhere = fallbacks[-1](op, table, text)
        kernels = elsewhere, elsewhere
    for candidate, why in broken:
        report_broken(candidate, why)
    if op.is_paired and op.reserve is None and chain.candidates:
        from agog_core.dispatch.kernels.reserves import taking  # here, because it stands on this module

        kernel = taking(op, table)
        table.install(op.name, kernel)
        return kernel
    if op.parts is not None:
        kernels = composed_for_some(op, table, kernels[0]), kernels[1]
    table.install(op.name, *kernels, chain)
    return kernels[0]


def run_chosen(op: Op, table: KernelTable, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Run the kernel that a table has for an op, or the next ones: what it returns, in arrays of the device's type."""
    kernel = table.kernels.get(op.name) or resolve(op, table)
    result = kernel(*arrays, **attributes)
    return run_next(op, table, arrays, attributes) if result is NotImplemented else adopted(op, table, result, kernel)


def run_next(op: Op, table: KernelTable, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Run the best kernel that takes a call which the table's kernel has declined.

    Args:
        op: the op.
        table: the table that the kernel was taken from.
        arrays: what the kernel was given.
        attributes: the attributes that it was given.

    Returns:
        What the kernel returned, in arrays of the device's own type.

    Raises:
        MissingKernelError: every kernel declines the call.
    """
    chain = table.chains.get(op.name)
    if chain is None:
        chain = table.chains[op.name] = Chain(op, table)
    result, kernel = chain.run(chain.head + 1, arrays, attributes)
    if result is not NotImplemented:
        return adopted(op, table, result, kernel)
    if chain.fallback is None:
        shapes = [shape_of(array) for array in arrays]
        text = declined(op.name, table.device.type, table.dtype.name, shapes, chain.candidates, chain.rejected)
        if not fallbacks:
            raise MissingKernelError(text)
        chain.fallback = fallbacks[-1](op, table, text)
    return chain.fallback(*arrays, **attributes)


def adopted(op: Op, table: KernelTable, result: Any, kernel: Callable[..., Any] | None) -> Any:
    """What a kernel returned, in arrays of the device's own type; None where it updates its first arrays in place."""
    if result is None:
        return None
    if isinstance(result, tuple):
        return tuple(table.adopt(op.name, each, kernel) for each in result)
    return table.adopt(op.name, result, kernel)
