"""Pairing: the unambiguous matches of modules in a file with places of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from agog_training.mapping.modules import Module, natural
from agog_training.mapping.places import Place

__all__ = ["Pairs", "groups_of", "pair"]


class Pairs(NamedTuple):
    """The numbers of modules that belong to places, by the places' numbers; and those that may, where it is unclear."""

    certain: Mapping[int, int]
    unclear: Mapping[int, Sequence[int]]


def pair(
    places: Sequence[Place],
    modules: Sequence[Module],
    fits: Sequence[Sequence[bool]],
    comes_before: Callable[[int, int], bool],
    in_order: bool,
) -> Pairs:
    """Pair places and modules.

    A place with a single fitting module gets it. Several that look alike go by their names, if these agree for all of
    them; else by the order, if every place of them follows on the one before it, and the modules have an order too: the
    file's, unless it is the alphabet's, or that of their numbers.

    ``fits`` says for each place which modules would do, and ``in_order`` whether the file's order is the program's.
    """
    fitting = {p: [m for m, fit in enumerate(row) if fit] for p, row in enumerate(fits)}
    certain: dict[int, int] = {}
    unclear: dict[int, Sequence[int]] = {}
    for group in groups_of(fits):
        rivals = sorted({m for p in group for m in fitting[p]})
        if not in_order:
            rivals = _by_numbers([modules[m].name for m in rivals], rivals)
        ordered = in_order or _differ_by_numbers([modules[m].name for m in rivals])
        named = {p: _of_its_name(places[p], modules, fitting[p]) for p in group}
        found: Mapping[int, int | None] = named
        if None in named.values() or len(set(named.values())) < len(group):
            found = _by_order(group, rivals, ordered, comes_before)
            if any(m is not None and found[p] not in (m, None) for p, m in named.items()):
                found = dict.fromkeys(group)  # names and order say different things
        for p in group:
            m = found[p]
            if m is not None and m in fitting[p]:
                certain[p] = m
            elif rivals:
                taken = {found[other] for other in group}
                unclear[p] = [m for m in fitting[p] if m not in taken]
    return Pairs(certain, unclear)


def groups_of(fits: Sequence[Sequence[bool]]) -> list[list[int]]:
    """The places in groups that share modules, each in the model's order; ``fits`` as in `pair`.

    >>> groups_of([[True, False, False], [False, True, True], [True, False, False], [False, False, False]])
    [[0, 2], [1], [3]]
    """
    groups: list[tuple[list[int], set[int]]] = []
    for place, row in enumerate(fits):
        modules = {module for module, fit in enumerate(row) if fit}
        sharing = [group for group in groups if group[1] & modules]
        joined = sorted([place, *(p for group in sharing for p in group[0])])
        rest = [group for group in groups if group not in sharing]
        groups = [*rest, (joined, modules.union(*(group[1] for group in sharing)))]
    return sorted(group for group, _ in groups)


def _by_order(
    group: Sequence[int], rivals: Sequence[int], ordered: bool, comes_before: Callable[[int, int], bool]
) -> dict[int, int | None]:
    """Pair by order those places that have a place of their own in it."""
    if len(group) != len(rivals):
        return dict.fromkeys(group)
    if len(group) == 1:
        return {group[0]: rivals[0]}
    found: dict[int, int | None] = dict.fromkeys(group)
    for p in group if ordered else ():
        before = sum(comes_before(other, p) for other in group if other != p)
        behind = sum(comes_before(p, other) for other in group if other != p)
        if before + behind == len(group) - 1:
            found[p] = rivals[before]
    return found


def _of_its_name(place: Place, modules: Sequence[Module], fitting: Sequence[int]) -> int | None:
    """The one module whose name is the place's, in part or whole."""
    for name in place.names:
        for agree in (_are_equal, _agree):
            found = [m for m in fitting if agree(name, modules[m].name)]
            if len(found) == 1:
                return found[0]
    return None


def _are_equal(one: str, other: str) -> bool:
    return _normal(one) == _normal(other)


def _agree(one: str, other: str) -> bool:
    """Whether one of two names ends with the other.

    >>> _agree("block1/conv", "features.block1.conv"), _agree("conv", "deconv")
    (True, False)
    """
    short, long = sorted(map(_normal, (one, other)), key=len)
    return long.endswith(short)


def _normal(name: str) -> str:
    return "_" + re.sub(r"[^a-z0-9]+", "_", name.lower())


def _differ_by_numbers(names: Sequence[str]) -> bool:
    return len({natural(name)[0] for name in names}) <= 1


def _by_numbers(names: Sequence[str], modules: Sequence[int]) -> list[int]:
    return [m for _, m in sorted(zip(names, modules, strict=True), key=lambda pair: natural(pair[0]))]
