"""Timing: proof that a plugin's kernels are faster than another one's, at several sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import agog_core as ag
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.plugins.loader import Plugin
from agog_core.plugin import Kernel
from agog_testing.conformance.collection import Selection, device_of, find_plugin
from agog_testing.conformance.facts import facts_for
from agog_testing.conformance.implementation import Implementation
from agog_testing.conformance.sizes import calls_to_time
from agog_testing.opinfo import Sample
from agog_testing.subject import Subject

FASTER = 1.05
SLOWER = 0.8
"""How many times as fast a kernel is that counts as faster, and one that counts as slower."""

# A burst is long against the clock's steps, and many short bursts find a quiet moment on a machine that others use.
_BURST_SECONDS = 0.002
_SECONDS = 0.4
_FEWEST_ROUNDS, _MOST_ROUNDS = 5, 100


class Timing(NamedTuple):
    """The least time of a call by the kernels of two plugins.

    Args:
        op: the op.
        dtype: the dtype's name.
        call: what was called, such as ``"(1000, 67), (67, 3)"``.
        seconds: by the plugin that claims to be faster.
        rival_seconds: by the other one.
        declined: whether the first plugin's kernel declined the call, so that it proves nothing.
    """

    op: str
    dtype: str
    call: str
    seconds: float
    rival_seconds: float
    declined: bool

    @property
    def ratio(self) -> float:
        """How many times as fast the plugin is."""
        return self.rival_seconds / self.seconds


def verdicts(timed: Iterable[Timing]) -> dict[tuple[str, str], bool]:
    """Whether each op's kernel is faster for a dtype: at one size at least, and slower at none."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for timing in timed:
        found = ratios.setdefault((timing.op, timing.dtype), [])
        if not timing.declined:
            found.append(timing.ratio)
    return {key: max(found, default=0) >= FASTER and min(found) >= SLOWER for key, found in ratios.items()}


def timings(selection: Selection, op: str) -> Iterator[Timing]:
    """Time an op by the kernels of two plugins, for each dtype and device that both have kernels for."""
    plugin, rival = find_plugin(selection.plugin), find_plugin(str(selection.faster_than))
    info = facts_for(plugin)[op]
    for dtype in info.dtypes:
        if selection.dtypes and dtype not in selection.dtypes:
            continue
        both = _kernels(plugin, op, dtype), _kernels(rival, op, dtype)
        for device in both[0].keys() & both[1].keys():
            implementation = Implementation(both[0][device], plugin, device, dtype)
            subject = Subject(info=info, dtype=dtype, device=device, kernel=implementation, seed=selection.seed)
            for call, sample in calls_to_time(subject):
                implementation.forget_counts()
                subject.run(sample)
                has_declined = implementation.has_declined
                yield Timing(op, dtype, call, *_least(subject, sample, (plugin.name, rival.name)), has_declined)


def _kernels(plugin: Plugin, op: str, dtype: str) -> dict[Device, Kernel]:
    """A plugin's kernels that can run an op, by device: of several, the one of the highest priority."""
    found: dict[Device, Kernel] = {}
    for kernel in sorted(plugin.kernels, key=lambda kernel: kernel.priority):
        if kernel.op == op and (kernel.dtypes is None or dtype in kernel.dtypes):
            device, _ = device_of(kernel)
            if device is not None:
                found[device] = kernel
    return found


def _least(subject: Subject, sample: Sample, plugins: tuple[str, str]) -> tuple[float, float]:
    """The least time of a call by each plugin, from bursts in turn."""
    before = ag.prefer()
    least = [float("inf")] * len(plugins)
    try:
        with ag.device(subject.device.name):
            args, kwargs, _ = subject.arguments(sample)

            def call() -> Any:
                return subject.info.call(*args, **kwargs)

            counts = [1] * len(plugins)
            spent, rounds = 0.0, 0
            while rounds < _FEWEST_ROUNDS or (spent < _SECONDS and rounds < _MOST_ROUNDS):
                for n, plugin in enumerate(plugins):
                    ag.prefer(plugin)
                    seconds = _burst(call, counts[n], subject.device)
                    spent += seconds * counts[n]
                    least[n] = min(least[n], seconds)
                    counts[n] = max(1, round(_BURST_SECONDS / max(least[n], 1e-9)))
                rounds += 1
    finally:
        ag.prefer(*before)
    return least[0], least[1]


def _burst(call: Callable[[], Any], count: int, device: Device) -> float:
    """The mean time of some consecutive calls, after a warm-up call."""
    call()
    device.backend.synchronize(device.index)
    start = time.perf_counter()
    for _ in range(count):
        call()
    device.backend.synchronize(device.index)
    return (time.perf_counter() - start) / count
