"""Observation: who sees kernel calls. It costs nothing while nobody does: kernels are wrapped as they are resolved."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.lookup import clear_tables
from agog_core.named_tuple import Named

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.kernels.candidates import Candidate
    from agog_core.dispatch.op import Op


class KernelCall(Named):
    """One call of a kernel, after it.

    Args:
        op: the op.
        table: the table that the kernel was taken from.
        candidate: the kernel and its plugin.
        arrays: the input arrays.
        attributes: the op's attributes.
        results: the output arrays, without a reserve; none for an op that updates variables in place.
        start: when it began, in nanoseconds of `time.perf_counter_ns`.
        end: when it ended; by the device's own clock, where an observer asks for that and the device has one.
    """

    op: Op
    table: KernelTable
    candidate: Candidate
    arrays: tuple[Any, ...]
    attributes: Mapping[str, Any]
    results: tuple[Any, ...]
    start: int
    end: int


class TracedStep(Named):
    """One step of what a traced function was compiled to: a fused group, a kernel, a function of an array library.

    Args:
        ops: the ops that it computes, or computes a part of.
        device: the device type.
        maker: who made it: a compiler's name, or the plugin whose executor runs it.
        function: what runs it.
        lines: the lines of the program that called these ops.
        bytes: the size of its results.
    """

    ops: tuple[str, ...]
    device: str
    maker: str
    function: str
    lines: tuple[str, ...]
    bytes: int


Observer = Callable[[KernelCall], None]
# Is told of a step, of when it began and of when it ended.
StepObserver = Callable[[TracedStep, int, int], None]

# Who is told of kernel calls: `observe` and `unobserve` write it.
observers: list[Observer] = []
# Those among them to whom compiled functions tell their steps, in place of the kernels that they would call.
_of_steps: dict[Observer, StepObserver] = {}
# Those among them who want the devices' own times.
_timed: list[Observer] = []
_in_observer = threading.local()  # what observers compute themselves is not observed


def observe(observer: Observer, timed: bool = False, of_steps: StepObserver | None = None) -> None:
    """Call a function after each kernel call, in all threads, until `unobserve`.

    Where it is ``timed``, calls are timed by the devices' own clocks, for which each call waits. Traced functions run
    kernel by kernel while somebody observes who gives no ``of_steps``; else they run as they are compiled, and that is
    called after each of their steps.
    """
    observers.append(observer)
    if of_steps is not None:
        _of_steps[observer] = of_steps
    if timed:
        _timed.append(observer)
    clear_tables()


def unobserve(observer: Observer) -> None:
    """Call an observer no more."""
    if observer in observers:
        observers.remove(observer)
        if observer in _timed:
            _timed.remove(observer)
        _of_steps.pop(observer, None)
        clear_tables()


def are_observed() -> bool:
    """Whether anybody observes kernel calls."""
    return bool(observers)


def are_steps_enough() -> bool:
    """Whether all who observe kernel calls take the steps of compiled functions as well."""
    return len(_of_steps) == len(observers)


def tell(step: TracedStep, start: int) -> int:
    """Tell those who observe steps of one that began at a time and is over; when the next one begins."""
    end = time.perf_counter_ns()
    for of_step in tuple(_of_steps.values()):
        of_step(step, start, end)
    return time.perf_counter_ns()


@contextmanager
def unobserved() -> Iterator[None]:
    """A block in which this thread tells nobody of kernel calls."""
    before = getattr(_in_observer, "is_true", False)
    _in_observer.is_true = True
    try:
        yield
    finally:
        _in_observer.is_true = before


def observed(op: Op, table: KernelTable, candidate: Candidate, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that tells the observers of its calls."""

    def run(*arrays: Any, **attributes: Any) -> Any:
        if getattr(_in_observer, "is_true", False):
            return kernel(*arrays, **attributes)
        start = time.perf_counter_ns()
        stop = table.device.start_timer() if _timed else None
        result = kernel(*arrays, **attributes)
        if result is NotImplemented:  # the next kernel in rank will be seen
            return result
        end = time.perf_counter_ns() if stop is None else start + round(stop() * 1e9)
        results = result if isinstance(result, tuple) else () if result is None else (result,)
        if op.reserve is not None:
            results = results[:-1]
        call = KernelCall(op, table, candidate, arrays, attributes, results, start, end)
        with unobserved():
            for observer in tuple(observers):
                observer(call)
        return result

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # whose name errors give
    return run
