"""Layout: the layered layout of a graph: nodes in rows from top to bottom, and the paths of arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

_GAP, _STEP = 16, 62
_SWEEPS = 4  # more change little

Point = tuple[float, float]


class Layout(NamedTuple):
    """The middles of the nodes, the points that each arrow goes through, and the width and height of it all."""

    places: dict[str, Point]
    ways: list[list[Point]]
    size: Point


def laid_out(widths: Mapping[str, int], edges: Sequence[tuple[str, str]]) -> Layout:
    """Place nodes in rows, behind the sources of their arrows: each below all that it takes.

    >>> laid_out({"a": 20, "b": 20}, [("a", "b")]).places
    {'a': (26.0, 30.0), 'b': (26.0, 92.0)}
    """
    row_of = _row_of(list(widths), edges)
    rows: list[list[str]] = [[] for _ in range(max(row_of.values(), default=0) + 1)]
    for name in widths:
        rows[row_of[name]].append(name)
    room = dict(widths)
    ways: list[list[str]] = []
    for start, end in edges:
        # A gap for an arrow in each row that it crosses, so that it runs over no node.
        passed = [f"{start} {end} {row}" for row in range(row_of[start] + 1, row_of[end])]
        for number, name in enumerate(passed):
            room[name] = 0
            rows[row_of[start] + 1 + number].append(name)
        ways.append([start, *passed, end])
    _untangle(rows, [pair for way in ways for pair in pairwise(way)])
    width = max(sum(room[name] + _GAP for name in row) for row in rows) + _GAP
    places: dict[str, Point] = {}
    for number, row in enumerate(rows):
        across = (width - sum(room[name] + _GAP for name in row) + _GAP) / 2
        for name in row:
            places[name] = across + room[name] / 2, 30.0 + _STEP * number
            across += room[name] + _GAP
    size = float(width), float(_STEP * len(rows))
    return Layout({name: places[name] for name in widths}, [[places[name] for name in way] for way in ways], size)


def _row_of(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The number of each node's row: below all that it takes, sources just above what takes them first."""
    row_of = dict.fromkeys(names, 0)
    for start, end in edges:  # in the order of the nodes
        row_of[end] = max(row_of[end], row_of[start] + 1)
    takers: dict[str, list[int]] = {}
    for start, end in edges:
        takers.setdefault(start, []).append(row_of[end])
    taking = {end for _, end in edges}
    for name in names:
        if name not in taking:
            row_of[name] = min(takers.get(name, [1])) - 1
    return row_of


def _untangle(rows: Sequence[list[str]], pairs: Sequence[tuple[str, str]]) -> None:
    """Order each row by where the neighbours in the row before stand, downwards and upwards in turn."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for start, end in pairs:
        above.setdefault(end, []).append(start)
        below.setdefault(start, []).append(end)
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        neighbours = above if is_down else below
        order = range(1, len(rows)) if is_down else range(len(rows) - 2, -1, -1)
        for number in order:
            other = rows[number - 1 if is_down else number + 1]
            place = {name: position / max(1, len(other) - 1) for position, name in enumerate(other)}
            own = {name: position / max(1, len(rows[number]) - 1) for position, name in enumerate(rows[number])}
            rows[number].sort(key=lambda name: _mean([place[each] for each in neighbours.get(name, ())], own[name]))


def _mean(numbers: Sequence[float], default: float) -> float:
    return sum(numbers) / len(numbers) if numbers else default
