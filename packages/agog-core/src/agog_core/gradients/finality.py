"""Finality: a walk back that tells which gradients are final while it still goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.gradients.backpropagation import backpropagate
from agog_core.recording import Id, Record

Tell = Callable[[int, Any], None] | None


def walk_back(
    records: list[Record],
    gradients: dict[Id, Any],
    keep: set[Id],
    ids_of: Sequence[Sequence[Id]],
    tell: Tell,
) -> None:
    """`backpropagate`, which tells of sources as soon as nothing is added to their gradients any more.

    Args:
        ids_of: the ids of each source. Those of several ids are not told of, nor those that the records have made.
        tell: is called with the place of a source, and its gradient or None. Without it nobody is told.
    """
    if tell is None:
        backpropagate(records, gradients, keep)
        return
    places = {ids[0]: place for place, ids in enumerate(ids_of) if len(ids) == 1}
    awaited = set(places)
    parts = _parts(records, awaited)
    for place, ids in enumerate(ids_of):
        if not ids or (len(ids) == 1 and ids[0] in awaited):  # no record has it as an input
            tell(place, gradients.get(ids[0]) if ids else None)
    for begin, ids in reversed(parts.items()):
        part = records[begin:]
        del records[begin:]
        backpropagate(part, gradients, keep)
        for i in ids:
            tell(places[i], gradients.get(i))
    backpropagate(records, gradients, keep)


def _parts(records: Sequence[Record], awaited: set[Id]) -> dict[int, list[Id]]:
    """The numbers of the records down to which to walk, each with the ids whose gradients are final then; these are
    taken out of what is awaited. The records of one op stay together."""
    parts: dict[int, list[Id]] = {}
    begin, last = 0, None  # the first record of the op
    for number, (out, source, _, saved) in enumerate(records):
        if not awaited:
            break
        outs = saved[0] if out is None else out
        if outs != last:
            begin, last = number, outs
            awaited.difference_update(outs if type(outs) is tuple else (outs,))
        for i in saved[1] if out is None else (source,):
            if i in awaited:
                awaited.remove(i)
                parts.setdefault(begin, []).append(i)
    return parts
