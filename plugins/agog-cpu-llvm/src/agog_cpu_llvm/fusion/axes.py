"""Axes: the loops around a subgraph, with neighbouring axes joined if every array allows it."""

from __future__ import annotations

from dataclasses import dataclass

from agog_cpu_llvm.fusion.limits import NotTakenError
from agog_cpu_llvm.fusion.terms import Frame, Kind, Strides


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop: how often it runs, and by how many bytes each array that is read or written moves on."""

    size: int
    steps: Strides


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of a frame, the outermost first; the last one goes along a row."""

    outer: tuple[Axis, ...]
    row: Axis
    numbers: dict[tuple[int, Strides], int]
    """Of each array and its strides in the frame, where its steps stand."""


def nest_of(frame: Frame) -> Nest:
    """The loops of a frame."""
    arrays = [(store.parameter, store.strides) for store in frame.stores]
    arrays += [(term.parameter, term.strides) for term in frame.terms if term.kind is Kind.LOAD]
    numbers = {array: number for number, array in enumerate(dict.fromkeys(arrays))}
    columns = [
        Axis(size, tuple([strides[axis] for _, strides in numbers]))
        for axis, size in enumerate(frame.shape)
        if size > 1
    ]
    if frame.rows == len(frame.shape):
        if not any(store.reduction for store in frame.stores):
            # In the order of the first output's memory, where rows are no matter.
            columns.sort(key=lambda axis: -axis.steps[0])
        merged = _merged(columns)
        outer, inner = merged[:-1], merged[-1:]
    else:
        count = sum(size > 1 for size in frame.shape[: frame.rows])
        outer, inner = _merged(columns[:count]), _merged(columns[count:])
    if len(inner) > 1:
        raise NotTakenError("rows of several axes")
    row = inner[0] if inner else Axis(1, (0,) * len(numbers))
    return Nest(tuple(outer), row, numbers)


def _merged(columns: list[Axis]) -> list[Axis]:
    merged: list[Axis] = []
    for axis in columns:
        before = merged[-1] if merged else None
        if before and all(a == b * axis.size for a, b in zip(before.steps, axis.steps, strict=True)):
            merged[-1] = Axis(before.size * axis.size, axis.steps)
        else:
            merged.append(axis)
    return merged
