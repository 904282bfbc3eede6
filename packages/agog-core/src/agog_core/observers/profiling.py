"""Profiling: the cost of a program's ops: counts, times, kernels, bytes, and copies between devices."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import basename
from typing import Any, NamedTuple

from agog_core.dispatch.kernels.observation import KernelCall, TracedStep, observe, unobserve
from agog_core.dtypes import as_dtype
from agog_core.tensors.placement import Copy, copy_observers

__all__ = ["profile"]

_HEADER = ("op", "device", "count", "ms", "bytes", "plugin", "kernel")
_NUMERIC = (2, 3, 4)
_SHOWN = 4  # ops of a group, in tables


class OpProfile:
    """The cost of one kernel, or of one step of a traced function.

    Args:
        op: the op's name; ``"copy"`` for copies between devices; of a fused group its ops, joined by ``+``.
        device: the device type.
        plugin: the plugin that brings the kernel; of a fused group the compiler.
        kernel: the kernel's function, or its ``"module:attribute"`` string; of a step what runs it.
        count: how often it was called.
        seconds: the time inside it, all calls together.
        bytes: the size of its results, all calls together.
        lines: the lines of the program that called a step's ops; None of what is no step.
    """

    def __init__(
        self,
        op: str,
        device: str,
        plugin: str,
        kernel: str,
        count: int = 0,
        seconds: float = 0.0,
        bytes: int = 0,
        lines: tuple[str, ...] | None = None,
    ) -> None:
        self.op = op
        self.device = device
        self.plugin = plugin
        self.kernel = kernel
        self.count = count
        self.seconds = seconds
        self.bytes = bytes
        self.lines = lines


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
    """The measurements of `profile`. Printed, it is a table, the most expensive op first."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._rows: dict[Any, OpProfile] = {}

    @property
    def ops(self) -> list[OpProfile]:
        """One row per kernel, the most expensive first."""
        return sorted(self._rows.values(), key=lambda row: -row.seconds)

    @property
    def plugins(self) -> dict[str, float]:
        """The seconds inside the kernels and steps of each plugin, the most expensive first."""
        seconds: dict[str, float] = {}
        for row in self.ops:
            if row.plugin:  # copies are nobody's
                seconds[row.plugin] = seconds.get(row.plugin, 0.0) + row.seconds
        return dict(sorted(seconds.items(), key=lambda each: -each[1]))

    @property
    def copies(self) -> int:
        """How many tensors were copied between devices."""
        return sum(row.count for row in self._rows.values() if row.op == "copy")

    @property
    def steps(self) -> int:
        """How many steps of traced functions have run."""
        return sum(row.count for row in self._rows.values() if row.lines is not None)

    def _saw_call(self, call: KernelCall) -> None:
        results = call.results or call.arrays[: len(call.op.updates)]
        candidate = call.candidate
        row = OpProfile(call.op.name, call.table.device.type, candidate.plugin.name, candidate.kernel.source)
        self._add(row, call.start, call.end, _bytes(results))

    def _saw_step(self, step: TracedStep, start: int, end: int) -> None:
        row = OpProfile("+".join(step.ops), step.device, step.maker, step.function, lines=step.lines)
        self._add(row, start, end, step.bytes)

    def _saw_copy(self, copy: Copy) -> None:
        devices = f"{copy.source._table.device.type}:{copy.source._table.device.index}"
        target = f"{copy.target.type}:{copy.target.index}"
        size = copy.source.dtype.size * (copy.source.shape.num_elements() or 0)
        self._add(OpProfile("copy", copy.target.type, "", f"{devices} to {target}"), copy.start, copy.end, size)

    def _add(self, row: OpProfile, start: int, end: int, size: int) -> None:
        row = self._rows.setdefault((row.op, row.device, row.plugin, row.kernel, row.lines), row)
        row.count += 1
        row.seconds += (end - start) / 1e9
        row.bytes += size
        self.events.append(Event(row, start, end - start, threading.get_ident(), size))

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
                "args": {
                    "kernel": event.row.kernel,
                    "plugin": event.row.plugin,
                    "bytes": event.bytes,
                    **({} if event.row.lines is None else {"lines": event.row.lines}),
                },
            }
            for event in self.events
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": traced, "displayTimeUnit": "ns"}, file)

    def _header(self) -> tuple[str, ...]:
        return (*_HEADER, "lines") if self.steps else _HEADER

    def _table(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [
            (_short(r.op), r.device, f"{r.count:,}", f"{r.seconds * 1e3:.3f}", f"{r.bytes:,}", r.plugin, r.kernel)
            for r in self.ops
        ]
        return [(*row, _places(r.lines or ())) for row, r in zip(rows, self.ops, strict=True)] if self.steps else rows

    def _total(self) -> str:
        calls = sum(row.count for row in self.ops) - self.copies - self.steps
        steps = f"{self.steps:,} steps of traced functions, " if self.steps else ""
        seconds = sum(row.seconds for row in self.ops)
        shares = ", ".join(f"{name} {spent * 1e3:.3f} ms" for name, spent in self.plugins.items())
        total = f"{calls:,} kernel calls, {steps}{self.copies:,} copies, {seconds * 1e3:.3f} ms in them"
        return f"{total}: {shares}" if len(self.plugins) > 1 else total

    def __repr__(self) -> str:
        return f"<Profile: {self._total()}>"

    def _repr_html_(self) -> str:
        from agog_core.tensors.display import table, titled  # here, because only notebooks need it

        return titled(self._total(), table(self._header(), self._table(), _NUMERIC))

    def __str__(self) -> str:
        rows = [self._header(), *self._table()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
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

    The times are those inside the kernels. On an asynchronous device with a clock (`Backend.timer`) they are the
    device's times, and each call waits for it; without one they are the times that it takes to launch the kernels.

    A traced function runs compiled. Each of its steps is measured, with its ops and their source lines. If its device's
    executor cannot do that, its kernels are called one by one.

    Returns:
        A context manager that gives the `Profile`.

    >>> import agog_core as ag
    >>> with profile() as seen:
    ...     _ = ag.constant([1.0, 2.0]) * 2.0
    >>> [(row.op, row.count, row.bytes, row.plugin) for row in seen.ops]
    [('multiply', 1, 8, 'cpu-numpy')]
    >>> list(seen.plugins)
    ['cpu-numpy']
    """
    seen = Profile()
    observe(seen._saw_call, timed=True, of_steps=seen._saw_step)
    copy_observers.append(seen._saw_copy)
    try:
        yield seen
    finally:
        copy_observers.remove(seen._saw_copy)
        unobserve(seen._saw_call)


def _short(op: str) -> str:
    """The name of an op, or of the ops of a group, as tables show it."""
    first, rest = op.split("+")[:_SHOWN], op.split("+")[_SHOWN:]
    return "+".join([*first, *([f"{len(rest)} more"] if rest else [])])


def _places(lines: tuple[str, ...]) -> str:
    """Lines of the program, as tables show them: each file once."""
    files: dict[str, list[str]] = {}
    for line in lines:
        file, _, number = basename(line).rpartition(":")
        files.setdefault(file or number, []).append(number if file else "")
    shown = [f"{file}:{','.join(numbers)}" if any(numbers) else file for file, numbers in files.items()]
    return " ".join(shown)


def _bytes(arrays: tuple[Any, ...]) -> int:
    total = 0
    for array in arrays:
        count = 1
        for size in array.shape:
            count *= size
        total += count * as_dtype(array.dtype).size
    return total
