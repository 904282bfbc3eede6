"""Facts: the `OpInfo` of each op with a kernel of the plugin, from the kit or from plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from agog_core.dispatch.op import all_ops
from agog_core.dispatch.plugins.loader import Plugin, loader
from agog_core.plugin import load_reference
from agog_testing.conformance.cases import ConformanceError
from agog_testing.opinfo import OpInfo, Sample, table

Samples = Callable[[str, np.random.Generator], Iterable[Sample]]


def facts_for(plugin: Plugin) -> dict[str, OpInfo]:
    """The kit's table, with the facts of the plugin, and of the plugins that own its kernels' ops.

    Raises:
        ConformanceError: what a plugin names as facts cannot be used.
    """
    ops = {kernel.op for kernel in plugin.kernels}
    owners = [other for other in loader().plugins if other is not plugin and ops.intersection(other.op_names)]
    found = dict(table)
    for owner in (plugin, *owners):
        found.update(_brought(owner))
    for name, samples in _samples(plugin, found).items():
        found[name] = replace(found[name], samples=_joined(found[name].samples, samples))
    return found


def _joined(first: Samples, second: Samples) -> Samples:
    return lambda dtype, rng: [*first(dtype, rng), *second(dtype, rng)]


def _samples(plugin: Plugin, facts: Mapping[str, OpInfo]) -> Mapping[str, Samples]:
    """The samples that a plugin names in its `Conformance`, by op."""
    reference = plugin.conformance.samples
    if reference is None:
        return {}
    where = f"plugin {plugin.name!r}: agog_conformance() names the samples {reference!r}"
    try:
        value = load_reference(reference)
    except Exception as error:
        raise ConformanceError(f"{where}, which cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(value, Mapping) or not all(map(callable, value.values())):
        raise ConformanceError(f"{where}: a mapping of op names to functions samples(dtype, rng) is expected.")
    if unknown := sorted(str(name) for name in value if name not in facts):
        raise ConformanceError(f"{where}: the kit has no facts about the ops {', '.join(unknown)}.")
    return value


def _brought(plugin: Plugin) -> dict[str, OpInfo]:
    """The facts that a plugin names in its `Conformance`, by op."""
    reference = plugin.conformance.infos
    if reference is None:
        return {}
    where = f"plugin {plugin.name!r}: agog_conformance() names the facts {reference!r}"
    try:
        value = load_reference(reference)
    except Exception as error:
        raise ConformanceError(f"{where}, which cannot be imported: {type(error).__name__}: {error}") from error
    found: dict[str, OpInfo] = {}
    for key, info in _entries(where, value):
        _check_entry(where, key, info, found)
        found[info.name] = info
    return found


def _entries(where: str, value: Any) -> list[tuple[Any, Any]]:
    """Each entry with its key, or its place in a list."""
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    raise ConformanceError(f"{where}: a list or a mapping of OpInfo is expected; it is of type {type(value).__name__}.")


def _check_entry(where: str, key: Any, info: Any, found: Mapping[str, OpInfo]) -> None:
    if not isinstance(info, OpInfo):
        raise ConformanceError(f"{where}: entry {key!r} is of type {type(info).__name__}; OpInfo is expected.")
    if isinstance(key, str) and key != info.name:
        raise ConformanceError(f"{where}: entry {key!r} holds the facts about {info.name!r}; use the op's name.")
    if info.name in found:
        raise ConformanceError(f"{where}: they speak of op {info.name!r} twice.")
    if info.name in table:
        raise ConformanceError(f"{where}: the kit has facts about op {info.name!r} already; leave these out.")
    if info.name not in all_ops():
        near = get_close_matches(info.name, all_ops(), 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ConformanceError(f"{where}: there is no op {info.name!r}.{hint} Ops of a plugin come by its agog_ops().")
