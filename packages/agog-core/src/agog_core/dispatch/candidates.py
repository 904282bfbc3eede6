"""Candidates: the kernels that plugins bring for an op, which of them can be used, and in what order."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices import clear_tables, forget_devices
from agog_core.dispatch.op import registry
from agog_core.dispatch.pairs import partners, why_alone
from agog_core.dispatch.reference import load_reference
from agog_core.errors import PluginWarning
from agog_core.named_tuple import Named

if TYPE_CHECKING:
    from agog_core.dispatch.contract import Kernel
    from agog_core.dispatch.loader import Plugin

__all__ = ["prefer"]


class Candidate(Named):
    """A kernel and the plugin that brings it."""

    kernel: Kernel
    plugin: Plugin

    def __str__(self) -> str:
        names = self.kernel.dtypes
        which = "every dtype" if names is None else ", ".join(sorted(names))
        pair = "" if self.kernel.pair is None else f", pair {self.kernel.pair!r}"
        return (
            f"plugin {self.plugin.name!r} ({self.plugin.distribution}), priority {self.kernel.priority}, {which}{pair}"
        )


BROKEN = "could not be loaded"

# The plugins that `prefer` chose, or AGOG_PREFER; None until somebody asks.
_preferred: tuple[str, ...] | None = None


def candidates(op: str, device: str, dtype: str) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """The usable kernels of an op on a device for a dtype, best first; and the rejected ones, each with the reason."""
    usable: list[Candidate] = []
    rejected: list[tuple[Candidate, str]] = []
    for candidate in candidates_of_all_ops().get(op, []):
        kernel = candidate.kernel
        if kernel.device != device:
            continue
        if kernel.dtypes is not None and dtype not in kernel.dtypes:
            rejected.append((candidate, f"not for dtype {dtype}"))
        elif (why := why_unusable(kernel) or why_alone(kernel, candidate.plugin, dtype, why_unusable)) is not None:
            rejected.append((candidate, why))
        else:
            usable.append(candidate)
    usable.sort(key=lambda c: c.plugin.name)
    usable.sort(key=rank, reverse=True)
    return usable, rejected


def why_unusable(kernel: Kernel) -> str | None:
    """Why a kernel cannot be used; None where it can."""
    try:
        if (why := kernel.unavailable()) is not None:
            return f"not available: {why}"
        load_kernel(kernel)
    except Exception as error:  # a broken kernel is one candidate less, with its reason in every report
        return f"{BROKEN}: {type(error).__name__}: {error}"
    return None


def load_kernel(kernel: Kernel) -> Callable[..., Any]:
    function = load_reference(kernel.fn)
    if not callable(function):
        raise TypeError(f"{kernel.fn} is not callable")
    return function  # type: ignore[no-any-return]  # callable() has just said so


def rank(candidate: Candidate) -> tuple[int, ...]:
    """What decides between candidates: the highest is chosen.

    Args:
        candidate: a candidate.

    Returns:
        How much its plugin is preferred (0 for not at all), and its kernel's priority. A kernel that takes a reserve is
        chosen with the one that keeps it, so that one's priority goes before its own.
    """
    preferred = _preference()
    name, kernel = candidate.plugin.name, candidate.kernel
    op = registry.get(kernel.op)
    keepers = partners(kernel, candidate.plugin)[:1] if op is not None and op.reserve_of else []
    priorities = [each.priority for each in (*keepers, kernel)]
    return (len(preferred) - preferred.index(name) if name in preferred else 0), *priorities


def prefer(*plugins: str) -> tuple[str, ...]:
    """Choose the plugins whose kernels run before all others, whatever their priority.

    The choice is the process's; the environment variable ``AGOG_PREFER`` (names with commas) makes it from outside.

    Args:
        *plugins: plugin names, the most preferred first; none at all to take every preference back.

    Returns:
        The plugins that were preferred before.

    Raises:
        ValueError: no plugin of that name is loaded.

    >>> before = prefer("cpu-numpy")
    >>> prefer(*before)
    ('cpu-numpy',)
    """
    global _preferred
    from agog_core.dispatch.loader import loader

    loaded = [plugin.name for plugin in loader().plugins if plugin.failure is None and not plugin.skipped]
    for name in plugins:
        if name not in loaded:
            raise ValueError(f"prefer: no plugin {name!r} is loaded; loaded are {', '.join(loaded) or 'none'}.")
    before = _preference()
    _preferred = plugins
    clear_tables()
    return before


def _preference() -> tuple[str, ...]:
    global _preferred
    if _preferred is None:
        from agog_core.dispatch.loader import loader

        names = [name.strip() for name in os.environ.get("AGOG_PREFER", "").split(",")]
        _preferred = tuple(name for name in names if name)
        loaded = {plugin.name for plugin in loader().plugins}
        for name in _preferred:
            if name not in loaded:
                warnings.warn(
                    f"AGOG_PREFER names plugin {name!r}, which is not installed.", PluginWarning, stacklevel=2
                )
    return _preferred


@cache
def candidates_of_all_ops() -> dict[str, list[Candidate]]:
    """The kernels of all plugins, by op name."""
    from agog_core.dispatch.loader import loader

    found: dict[str, list[Candidate]] = {}
    for plugin in loader().plugins:
        for kernel in plugin.kernels:
            found.setdefault(kernel.op, []).append(Candidate(kernel, plugin))
    return found


def forget_candidates() -> None:
    """Look for kernels and devices again, because the set of plugins has changed."""
    candidates_of_all_ops.cache_clear()
    forget_devices()
    clear_tables()
