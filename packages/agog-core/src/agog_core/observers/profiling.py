"""Profiling: what the ops of a program cost, in counts, times, kernels, bytes, and copies between devices."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from agog_core.dispatch.observation import KernelCall, observe, unobserve
from agog_core.dtypes import as_dtype
from agog_core.tensors.placement import Copy, copy_observers

__all__ = ["profile"]

_HEADER = ("op", "device", "count", "ms", "bytes", "plugin", "kernel")
_NUMERIC = (2, 3, 4)


class OpProfile:
    """What one kernel cost.

    Args:
        op: the op's name; ``"copy"`` for copies between devices.
        device: the device type.
        plugin: the plugin that brings the kernel.
        kernel: the kernel's function, or its ``"module:attribute"`` string.
        count: how often it was called.
        seconds: the time inside of it, all calls together.
        bytes: the size of its results, all calls together.
    """

    def __init__(
        self, op: str, device: str, plugin: str, kernel: str, count: int = 0, seconds: float = 0.0, bytes: int = 0
    ) -> None:
        self.op = op
        self.device = device
        self.plugin = plugin
        self.kernel = kernel
        self.count = count
        self.seconds = seconds
        self.bytes = bytes


class Event(NamedTuple):
    """One call: the row of a trace.

    Args:
        row: the kernel.
        start: nanoseconds on the clock of `time.perf_counter_ns`.
        duration: nanoseconds.
        thread: the thread's number.
        bytes: the size of the result.
    """

    row: OpProfile
    start: int
    duration: int
    thread: int
    bytes: int


class Profile:
    """What `profile` has seen. Printed, it is a table, the most expensive op first."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._rows: dict[tuple[str, ...], OpProfile] = {}

    @property
    def ops(self) -> list[OpProfile]:
        """One row per kernel, the most expensive first."""
        return sorted(self._rows.values(), key=lambda row: -row.seconds)

    @property
    def copies(self) -> int:
        """How many tensors were copied between devices."""
        return sum(row.count for row in self._rows.values() if row.op == "copy")

    def _saw_call(self, call: KernelCall) -> None:
        fn = call.candidate.kernel.fn
        name = fn if isinstance(fn, str) else f"{fn.__module__}:{getattr(fn, '__qualname__', repr(fn))}"
        results = call.results or call.arrays[: len(call.op.updates)]
        self._add((call.op.name, call.table.device.type, call.candidate.plugin.name, name), call, _bytes(results))

    def _saw_copy(self, copy: Copy) -> None:
        devices = f"{copy.source._table.device.type}:{copy.source._table.device.index}"
        target = f"{copy.target.type}:{copy.target.index}"
        size = copy.source.dtype.size * (copy.source.shape.num_elements() or 0)
        self._add(("copy", copy.target.type, "", f"{devices} to {target}"), copy, size)

    def _add(self, key: tuple[str, str, str, str], event: KernelCall | Copy, size: int) -> None:
        row = self._rows.setdefault(key, OpProfile(*key))
        row.count += 1
        row.seconds += (event.end - event.start) / 1e9
        row.bytes += size
        self.events.append(Event(row, event.start, event.end - event.start, threading.get_ident(), size))

    def save_chrome_trace(self, path: Any) -> None:
        """Write a trace that chrome://tracing and Perfetto show.

        Args:
            path: the file, JSON in the Trace Event Format.
        """
        import json  # here, because its import takes milliseconds

        start = min((event.start for event in self.events), default=0)
        traced = [
            {
                "name": event.row.op,
                "cat": event.row.device,
                "ph": "X",
                "ts": (event.start - start) / 1e3,
                "dur": event.duration / 1e3,
                "pid": 0,
                "tid": event.thread,
                "args": {"kernel": event.row.kernel, "plugin": event.row.plugin, "bytes": event.bytes},
            }
            for event in self.events
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": traced, "displayTimeUnit": "ns"}, file)

    def _table(self) -> list[tuple[str, ...]]:
        return [
            (r.op, r.device, f"{r.count:,}", f"{r.seconds * 1e3:.3f}", f"{r.bytes:,}", r.plugin, r.kernel)
            for r in self.ops
        ]

    def _total(self) -> str:
        calls = sum(row.count for row in self.ops) - self.copies
        seconds = sum(row.seconds for row in self.ops)
        return f"{calls:,} kernel calls, {self.copies:,} copies, {seconds * 1e3:.3f} ms in them"

    def __repr__(self) -> str:
        return f"<Profile: {self._total()}>"

    def _repr_html_(self) -> str:
        from agog_core.tensors.display import table, titled  # here, because only notebooks need it

        return titled(self._total(), table(_HEADER, self._table(), _NUMERIC))

    def __str__(self) -> str:
        rows = [_HEADER, *self._table()]
        widths = [max(len(row[column]) for row in rows) for column in range(7)]
        lines = [
            "  ".join(
                cell.rjust(width) if column in _NUMERIC else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, self._total()])


@contextmanager
def profile() -> Iterator[Profile]:
    """Measure all ops inside a ``with`` block, in all threads.

    The times are those inside of the kernels. On a device that computes behind the program's back they are what the
    device's own clock says, where its backend has one (`Backend.timer`), and each call waits for it; without one they
    are the times that it takes to launch the kernels.

    Returns:
        A context manager that gives the `Profile`.

    >>> import agog_core as ag
    >>> with profile() as seen:
    ...     _ = ag.constant([1.0, 2.0]) * 2.0
    >>> [(row.op, row.count, row.bytes, row.plugin) for row in seen.ops]
    [('multiply', 1, 8, 'cpu-numpy')]
    """
    seen = Profile()
    observe(seen._saw_call, timed=True)
    copy_observers.append(seen._saw_copy)
    try:
        yield seen
    finally:
        copy_observers.remove(seen._saw_copy)
        unobserve(seen._saw_call)


def _bytes(arrays: tuple[Any, ...]) -> int:
    total = 0
    for array in arrays:
        count = 1
        for size in array.shape:
            count *= size
        total += count * as_dtype(array.dtype).size
    return total
