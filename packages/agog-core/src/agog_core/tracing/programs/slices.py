"""Slices: what rows of tensors are joined to, as few steps for any number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agog_core.tracing.programs.steps import Step


class Sources(NamedTuple):
    """Tensors whose rows a function is mapped over: their numbers, and the first and the last row."""

    numbers: list[int]
    first: int
    last: int


class Slices:
    """Knows which values are rows of others."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[int, int]] = {}  # of which value, and where
        self._sources: set[int] = set()

    def note(self, op: str, inputs: Sequence[int], attributes: Mapping[str, Any], out: int) -> None:
        """Note what an op has made."""
        key = attributes.get("key")
        if op == "strided_slice" and type(key) is tuple and len(key) == 1 and type(key[0]) is int:
            self._rows[out] = inputs[0], key[0]
        elif op == "reshape" and inputs[0] in self._rows and attributes["shape"][:1] == (1,):
            self._rows[out] = self._rows[inputs[0]]

    def note_rows(self, number: int) -> None:
        """Note that a function was mapped over the rows of a value, or has made them."""
        self._sources.add(number)

    def of_rows(self, rows: Sequence[Sequence[int]]) -> Sources | None:
        """What such rows are of; None where they are not those of some tensors, in their order or backwards."""
        if not all(number in self._rows for row in rows for number in row):
            return None
        found = [[self._rows[number] for number in row] for row in rows]
        numbers, places = [source for source, _ in found[0]], [row[0][1] for row in found]
        first, last = places[0], places[-1]
        wanted = list(range(first, last + 1) if last >= first else range(first, last - 1, -1))
        for place, row in zip(wanted, found, strict=False):
            if row != [(source, place) for source in numbers]:
                return None
        if len(wanted) != len(rows):
            return None
        self._sources.update(numbers)
        return Sources(numbers, first, last)

    def runs(self, op: str, inputs: Sequence[int], attributes: Mapping[str, Any]) -> list[Step] | None:
        """For rows that are joined again, the steps that cut them out together; None where they were not mapped."""
        if op != "concat" or attributes.get("axis") != 0:
            return None
        found = [self._rows.get(number) for number in inputs]
        if not any(each is not None and each[0] in self._sources for each in found):
            return None
        if any(each is None for each in found):
            return None
        runs: list[list[int]] = []  # the source, the first row, the last one, and the distance
        for source, place in [each for each in found if each is not None]:
            if runs and runs[-1][0] == source and source in self._sources:
                _, first, last, distance = runs[-1]
                if place - last == distance or (first == last and abs(place - last) == 1):
                    runs[-1][2:] = place, place - last
                    continue
            runs.append([source, place, place, 0])
        steps = []
        for source, first, last, distance in runs:
            distance = -1 if distance < 0 else 1
            end = last + distance
            key = first, end if end >= 0 else None, distance
            steps.append(Step("op", "strided_slice", [source], attributes={"key": (key,)}, is_kept=False))
        return steps
