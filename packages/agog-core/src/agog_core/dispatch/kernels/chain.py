"""Chain: the kernels that can run an op on a device for a dtype, best first; what one declines, the next one runs."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.candidates import BROKEN, Candidate, candidates, load_function, load_kernel, rank
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.observation import is_checked, observed
from agog_core.dispatch.kernels.pairs import keeping
from agog_core.dispatch.kernels.unresolved import ambiguous
from agog_core.dispatch.op import Op
from agog_core.errors import AmbiguousKernelError, PluginError, PluginWarning
from agog_core.locks import hold_while_forking

Function = Callable[..., Any]

# Held while a plugin makes a kernel, so that two threads do not make it twice.
_making = hold_while_forking(threading.RLock())


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

    def run(self, start: int, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, Function | None]:
        """Run the best kernel, from a place on, that takes a call: its result, and which it was; NotImplemented and
        None where all decline.
        """
        for place in range(start, len(self.candidates)):
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
            function = function_of(candidate, self._table)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # libraries in other languages raise their panics as such
            self.rejected.append((candidate, f"{BROKEN}: {type(error).__name__}: {error}"))
            report_broken(*self.rejected[-1])
            return None
        one, for_scalars = self._table.device.bind(self.op.name, self._table.dtype, function)
        ready = self._watched(candidate, one), self._watched(candidate, for_scalars)
        if self.op.reserve is None:
            return ready
        kept = keeping(self.op, self._table, candidate, ready[0])
        return kept, kept

    def _watched(self, candidate: Candidate, function: Function) -> Function:
        kernel = observed(self.op, self._table, candidate, function)
        if not is_checked():
            return kernel
        from agog_core.dispatch.kernels.checking import checked  # here, because most programs do without

        return checked(self.op, self._table, candidate, kernel)


def function_of(candidate: Candidate, table: KernelTable, other: Function | str | None = None) -> Function:
    """A kernel's function for a dtype and device, or its `several` or `out`; its plugin keeps what is made."""
    kernel = candidate.kernel
    function = load_kernel(kernel) if other is None else load_function(other)
    if kernel.make is None:
        return function
    arguments = kernel.op, table.dtype.name, f"{table.device.type}:{table.device.index}"
    key = arguments if other is None else (*arguments, "several" if other is kernel.several else "out")
    with _making:
        if key not in candidate.instances:
            made = _made(kernel.source, function, arguments)
            candidate.instances[key] = (
                _per_thread(made, lambda: _made(kernel.source, function, arguments)) if kernel.per_thread else made
            )
        return candidate.instances[key]


def _made(source: str, make: Function, arguments: tuple[str, str, str]) -> Function:
    function = make(*arguments)
    if not callable(function):
        raise TypeError(f"{source}{arguments} returned {function!r}; it returns a function")
    return function  # type: ignore[no-any-return]  # callable() has just said so


def _per_thread(first: Function, make: Callable[[], Function]) -> Function:
    """A function that each thread has an instance of; this thread has the first."""
    local = threading.local()
    local.function = first

    def run(*arrays: Any, **attributes: Any) -> Any:
        try:
            function = local.function
        except AttributeError:
            function = local.function = make()
        return function(*arrays, **attributes)

    run.__wrapped__ = first  # type: ignore[attr-defined]  # whose name errors give
    return run


def report_broken(candidate: Candidate, why: str) -> None:
    """Warn of a kernel that cannot be used, which is passed over, but not silently."""
    from agog_core.dispatch.plugins.loader import loader

    kernel = candidate.kernel
    text = f"The kernel for op {kernel.op!r} on device {kernel.device!r} of {candidate} is left out: it {why}"
    if loader().strict:
        raise PluginError(text)
    warnings.warn(text, PluginWarning, stacklevel=3)
