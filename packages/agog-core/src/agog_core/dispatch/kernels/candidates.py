"""Candidates: the kernels that plugins bring for an op, which of them can be used, and in what order."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.backends import serves
from agog_core.dispatch.devices.lookup import clear_tables, forget_devices
from agog_core.dispatch.kernels.pairs import partners, why_alone
from agog_core.dispatch.op import registry
from agog_core.dispatch.plugins.preference import how_much, preference
from agog_core.dispatch.plugins.reference import load_function
from agog_core.dispatch.plugins.registration import forgetting
from agog_core.dispatch.plugins.unavailability import why_unavailable
from agog_core.errors import PluginError, PluginWarning, describe_error, describe_value
from agog_core.locks import hold_while_forking
from agog_core.named_tuple import Named

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.plugins.contract import Kernel
    from agog_core.dispatch.plugins.loader import Plugin


Function = Callable[..., Any]


class Candidate(Named):
    """A kernel, the plugin that brings it, and what its ``make`` has made, by its arguments."""

    kernel: Kernel
    plugin: Plugin
    instances: dict[tuple[str, ...], Callable[..., Any]]

    def __str__(self) -> str:
        names = self.kernel.dtypes
        which = "every dtype" if names is None else ", ".join(sorted(names))
        pair = "" if self.kernel.pair is None else f", pair {self.kernel.pair!r}"
        when = f", when {self.kernel.when}" if self.kernel.when else ""
        reserve = "" if self.kernel.reserve is None else ", with a reserve"
        on = f", on the {self.kernel.on}" if self.kernel.on else ""
        return (
            f"plugin {self.plugin.name!r} ({self.plugin.distribution}), priority {self.kernel.priority}, "
            f"{which}{pair}{reserve}{when}{on}"
        )


BROKEN = "could not be loaded"

# Held while a plugin makes a kernel, so that two threads do not make it twice.
_making = hold_while_forking(threading.RLock())


def candidates(op: str, device: str, dtype: str) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """The usable kernels of an op on a device for a dtype, best first; and the rejected ones, each with the reason."""
    usable: list[Candidate] = []
    rejected: list[tuple[Candidate, str]] = []
    for candidate in candidates_of_all_ops().get(op, []):
        if candidate.kernel.device != device:
            continue
        if (why := _why_rejected(candidate, dtype)) is None:
            usable.append(candidate)
        else:
            rejected.append((candidate, why))
    usable.sort(key=lambda c: c.plugin.name)
    usable.sort(key=rank, reverse=True)
    return usable, rejected


def _why_rejected(candidate: Candidate, dtype: str) -> str | None:
    kernel, plugin = candidate.kernel, candidate.plugin
    if not serves(plugin, kernel.device):
        return f"for its plugin's own device type {kernel.device!r}, which is not the one in use"
    if kernel.dtypes is not None and dtype not in kernel.dtypes:
        return f"not for dtype {dtype}"
    if (why := why_unusable(kernel)) is not None:
        return why
    op = registry.get(kernel.op)
    may_be_alone = kernel.pair is not None or (op is not None and op.is_paired)
    return why_alone(kernel, plugin, dtype, why_unusable) if may_be_alone else None


def why_unusable(kernel: Kernel) -> str | None:
    """Why a kernel cannot be used here, or None."""
    try:
        if (why := why_unavailable(kernel, f"kernel for op {kernel.op!r}")) is not None:
            return f"not available: {why}"
        if kernel.on is None:
            load_kernel(kernel)
        elif (op := registry.get(kernel.op)) is not None and op.is_paired:
            return f"it runs on the host, but op {kernel.op!r} has a reserve, which stays with the kernel that made it"
        if kernel.several is not None:
            load_function(kernel.several)
            if (op := registry.get(kernel.op)) is not None and not op.updates:
                return f"it has `several`, but op {kernel.op!r} updates no variables"
        if kernel.reserve is not None:
            load_function(kernel.reserve)
            if (op := registry.get(kernel.op)) is not None and op.keeping is None and op.taking is None:
                return f"it has `reserve`, but op {kernel.op!r} keeps and takes none by that"
        if kernel.out is not None:
            load_function(kernel.out)
            if (op := registry.get(kernel.op)) is not None and (op.updates or op.views):
                does = "updates variables" if op.updates else "gives views"
                return f"it has `out`, but op {kernel.op!r} {does}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a broken kernel, in whatever language, is one candidate less, with its reason
        return f"{BROKEN}: {describe_error(error)}"
    return None


def load_kernel(kernel: Kernel) -> Callable[..., Any]:
    """A kernel's function, or what makes it."""
    return load_function(kernel.fn if kernel.make is None else kernel.make)


def function_of(candidate: Candidate, table: KernelTable, other: Function | str | None = None) -> Function:
    """A kernel's function for a dtype and device, or another field of its; its plugin keeps what is made."""
    kernel = candidate.kernel
    function = load_kernel(kernel) if other is None else load_function(other)
    if kernel.make is None:
        return function
    arguments = kernel.op, table.dtype.name, f"{table.device.type}:{table.device.index}"
    key = arguments if other is None else (*arguments, _field_of(kernel, other))
    with _making:
        if key not in candidate.instances:
            made = _made(kernel.source, function, arguments)
            candidate.instances[key] = (
                _per_thread(made, lambda: _made(kernel.source, function, arguments)) if kernel.per_thread else made
            )
        return candidate.instances[key]


def _field_of(kernel: Kernel, function: Function | str) -> str:
    return next(name for name in ("several", "out", "reserve") if getattr(kernel, name) is function)


def _made(source: str, make: Function, arguments: tuple[str, str, str]) -> Function:
    function = make(*arguments)
    if not callable(function):
        raise TypeError(f"{source}{arguments} must return a function; it returned {describe_value(function)}")
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


def rank(candidate: Candidate) -> tuple[int, ...]:
    """What decides between candidates: the highest is chosen.

    Args:
        candidate: a candidate.

    Returns:
        How much its plugin is preferred (0 for not at all), and its kernel's priority. A kernel that takes a reserve is
        chosen with the one that keeps it, so that one's priority goes before its own.
    """
    name, kernel = candidate.plugin.name, candidate.kernel
    op = registry.get(kernel.op)
    takes_always = op is not None and op.is_paired and op.reserve is None
    keepers = partners(kernel, candidate.plugin)[:1] if takes_always else []
    return how_much(name, preference()), *(each.priority for each in (*keepers, kernel))


@cache
def candidates_of_all_ops() -> dict[str, list[Candidate]]:
    """The kernels of all plugins, by op name."""
    from agog_core.dispatch.plugins.loader import loader

    found: dict[str, list[Candidate]] = {}
    for plugin in loader().plugins:
        for kernel in plugin.kernels:
            found.setdefault(kernel.op, []).append(Candidate(kernel, plugin, {}))
    return found


def forget_candidates() -> None:
    """Look for kernels and devices again, because the set of plugins has changed."""
    candidates_of_all_ops.cache_clear()
    forget_devices()
    clear_tables()


forgetting.append(forget_candidates)
