"""Scopes: names of variables that have other scopes before them than in a checkpoint, such as ``sequential/``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agog_checkpoint.name_list import name_list
from agog_core.errors import NotFoundError

# A layer's name and a variable's: one part alone, such as ``kernel``, would say too little.
_FEWEST_PARTS = 2


def keys_in_scopes(what: str, names: Iterable[str], keys: Iterable[str]) -> dict[str, str]:
    """The key of each name in a checkpoint: the same; or the only one that ends with it, or that it ends with.

    ``what`` is the caller's name, for errors. Raises NotFoundError if a name has no key or several, or two names one.

    >>> keys_in_scopes("restore", ["step", "sequential/dense/kernel"], ["dense/kernel", "step"])
    {'step': 'step', 'sequential/dense/kernel': 'dense/kernel'}
    """
    every, wanted = list(keys), list(names)
    found = {name: _only(what, name, fitting, every) for name, fitting in candidates(wanted, every).items()}
    twice = [key for key, count in Counter(found.values()).items() if count > 1]
    for key in twice:
        both = name_list(name for name in found if found[name] == key)
        raise NotFoundError(
            f"{what}: several variables would get {key} of the checkpoint: {both}; pass a dict from names in the "
            "checkpoint to variables."
        )
    return {name: found[name] for name in wanted}


def candidates(names: Iterable[str], keys: Iterable[str]) -> dict[str, list[str]]:
    """The keys in a checkpoint that each name may have: the same; or those that end with it, or that it ends with.

    >>> candidates(["step", "sequential/dense/kernel"], ["dense/kernel", "step"])
    {'step': ['step'], 'sequential/dense/kernel': ['dense/kernel']}
    """
    every, wanted = list(keys), list(names)
    same = set(wanted).intersection(every)
    free = {key: None for key in every if key not in same}
    by_ending: dict[str, list[str]] = {}
    for key in free:
        for ending in _endings(key):
            by_ending.setdefault(ending, []).append(key)
    found = {}
    for name in wanted:
        shorter = [ending for ending in _endings(name) if ending in free and ending != name]
        found[name] = [name] if name in same else [*by_ending.get(name, []), *shorter]
    return found


def _only(what: str, name: str, candidates: list[str], keys: list[str]) -> str:
    if len(candidates) == 1:
        return candidates[0]
    alike = sorted(candidates) or [key for key in keys if _tail(key) == _tail(name)]
    if not alike:
        raise NotFoundError(f"{what}: Key {name} not found in checkpoint; its keys are {name_list(sorted(keys))}.")
    raise NotFoundError(
        f"{what}: Key {name} not found in checkpoint; those that end alike are {name_list(alike)}: pass a dict from "
        "names in the checkpoint to variables."
    )


def _endings(name: str) -> list[str]:
    """The name without none, one, two ... of its first parts, of two parts or more."""
    parts = name.split("/")
    return ["/".join(parts[begin:]) for begin in range(len(parts) - _FEWEST_PARTS + 1)]


def _tail(name: str) -> list[str]:
    return name.split("/")[-_FEWEST_PARTS:]
