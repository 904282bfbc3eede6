"""Diagnosis: what is wrong with the plugins that are loaded, which a program meets only when it needs the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from agog_core.dispatch.devices.backends import check_decided, device_types
from agog_core.dispatch.devices.lookup import FAILED, state
from agog_core.dispatch.kernels.candidates import BROKEN, why_unusable
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.plugins import ranking
from agog_core.dispatch.plugins.compilers import Compiler
from agog_core.dispatch.plugins.executors import Executor
from agog_core.dispatch.plugins.loader import Plugin, loader
from agog_core.errors import PluginError


def problems() -> list[str]:
    """One sentence for each problem; to find kernels that cannot be loaded, it imports all that can be used.

    >>> [problem for problem in problems() if problem.startswith("cpu-numpy")]
    []
    """
    loaded = [plugin for plugin in loader().plugins if plugin.failure is None and not plugin.skipped]
    failed = [f"{p.name} ({p.distribution}) failed: {p.failure}" for p in loader().plugins if p.failure]
    looks = (_of_backends, _of_kernels, _of_functions)
    found = [problem for plugin in loaded for look in looks for problem in look(plugin)]
    return [*failed, *_contested(), *found]


def _contested() -> Iterator[str]:
    for device in device_types():
        try:
            check_decided(device)
        except PluginError as error:
            yield str(error)


def _of_backends(plugin: Plugin) -> Iterator[str]:
    for backend in plugin.backends:
        _, why = state(backend)
        if why is not None and why.startswith(FAILED):
            yield f"{plugin.name}: the device type {backend.device!r} cannot be used: {why}"


def _of_kernels(plugin: Plugin) -> Iterator[str]:
    by_device: dict[str, list[str]] = {}
    broken: dict[str, list[str]] = {}
    for kernel in plugin.kernels:
        if kernel.op not in all_ops():
            close = _close(kernel.op, all_ops())
            yield f"{plugin.name} brings a kernel for {kernel.op!r}, but there is no such op{close}"
        if kernel.device not in device_types():
            by_device.setdefault(kernel.device, []).append(kernel.op)
        elif (why := why_unusable(kernel)) is not None and why.startswith(BROKEN):
            broken.setdefault(why, []).append(kernel.op)
    for device, ops in by_device.items():
        yield (
            f"{plugin.name} brings kernels for the device type {device!r} ({_listed(ops)}), which no plugin "
            f"brings{_close(device, device_types())}"
        )
    for why, ops in broken.items():
        yield f"{plugin.name}: the kernels for {_listed(ops)} {why}"


def _of_functions(plugin: Plugin) -> Iterator[str]:
    """What is wrong with a plugin's executors and compilers of traced functions."""
    brought: list[Executor | Compiler] = [*plugin.executors, *plugin.compilers]
    for each in brought:
        kind = type(each).__name__.lower()
        if each.device not in device_types():
            yield (
                f"{plugin.name} brings the {kind} {each.name!r} for the device type {each.device!r}, which no plugin "
                f"brings{_close(each.device, device_types())}"
            )
        elif (why := ranking.why_unusable(each)) is not None and why.startswith(BROKEN):
            yield f"{plugin.name}: the {kind} {each.name!r} {why}"


def _listed(ops: list[str]) -> str:
    return ", ".join(ops[:3]) + (f" and {len(ops) - 3} more" if len(ops) > 3 else "")


def _close(name: str, known: Iterable[str]) -> str:
    """The nearest name, as the end of a sentence."""
    close = get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else "."
