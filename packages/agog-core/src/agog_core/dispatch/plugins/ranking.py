"""Ranking: which executor, compiler or collective of plugins comes first, and why others are not used."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from agog_core.dispatch.fields import INT, NAME, REASON, REFERENCE, Field, check_fields
from agog_core.dispatch.plugins.backend import check_device_type
from agog_core.dispatch.plugins.reference import load_function
from agog_core.dispatch.plugins.unavailability import devices_of, why_unavailable
from agog_core.errors import AmbiguousKernelError, describe_error, describe_value
from agog_core.named_tuple import Named


class Brought(Named):
    """An executor or a compiler, the plugin that brings it, its rank, and why it cannot be used, or None."""

    what: Any
    plugin: str
    distribution: str
    rank: tuple[int, int]
    why: str | None

    def __str__(self) -> str:
        return (
            f"{type(self.what).__name__.lower()} {self.what.name!r} of plugin {self.plugin!r} ({self.distribution}), "
            f"priority {self.what.priority}"
        )


def ranked(kind: str, device: str) -> list[Brought]:
    """What all plugins bring of a kind, such as ``"executors"``, for a device type, best first."""
    from agog_core.dispatch.plugins.loader import loader
    from agog_core.dispatch.plugins.preference import how_much, preference

    found = [
        Brought(
            what,
            plugin.name,
            plugin.distribution,
            (how_much(plugin.name, preference()), what.priority),
            why_unusable(what),
        )
        for plugin in loader().plugins
        for what in getattr(plugin, kind)
        if device in devices_of(what)
    ]
    return sorted(found, key=lambda each: each.rank, reverse=True)


def decided(found: Sequence[Brought], device: str) -> list[Brought]:
    """Those that can be used.

    Raises:
        AmbiguousKernelError: two are of equal rank, and no preference decides.
    """
    usable = [each for each in found if each.why is None]
    for one, other in pairwise(usable):
        if one.rank == other.rank:
            raise AmbiguousKernelError(
                f"2 {type(one.what).__name__.lower()}s of equal rank are registered for device {device!r}:\n  {one}\n  "
                f"{other}\nChoose one: agog.prefer({one.plugin!r}), or AGOG_PREFER={one.plugin} in the environment."
            )
    return usable


def explain_ranking(kind: str, device: str, none: str) -> str:
    """Say which are asked, in which order, and why others are not; ``none`` is what is said where there is none."""
    found = ranked(kind, device)
    lines = [f"{kind}{'' if kind == 'collectives' else ' of traced functions'} on device {device!r}:"]
    lines += [f"  {'next' if n else 'first'}: {each}" for n, each in enumerate(f for f in found if f.why is None)]
    lines += [f"  rejected: {each}: {each.why}" for each in found if each.why is not None]
    return "\n".join(lines if len(lines) > 1 else [*lines, f"  {none}"])


def why_unusable(what: Any) -> str | None:
    """Why an executor or a compiler cannot be used here, or None; one that is broken harms nothing else."""
    try:
        if (why := why_unavailable(what, f"{type(what).__name__.lower()} {what.name!r}")) is not None:
            return f"not available: {why}"
        for name in what.references:
            load_function(getattr(what, name))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # libraries in other languages raise their panics as such
        return f"could not be loaded: {describe_error(error)}"
    return None


def check_brought(what: Any, example: str) -> None:
    """Refuse wrong names, device types, functions, priorities and reasons of an executor or a compiler."""
    kind = type(what).__name__
    owner = f"{kind}(name={describe_value(what.name)})"
    name = Field(NAME.accepts, f"a name, such as {example!r}")
    functions = dict.fromkeys(what.references, REFERENCE)
    check_fields(owner, {"name": name, **functions, "priority": INT, "unavailable": REASON}, vars(what))
    check_device_type(f"{kind}(name={what.name!r}, device={describe_value(what.device)})", what.device)
