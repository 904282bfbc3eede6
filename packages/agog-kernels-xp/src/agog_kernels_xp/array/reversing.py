"""Reversing: sequences from their ends."""

from __future__ import annotations

from functools import partial
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check


def reverse_sequence(xp: Any, x: Array, lengths: Array, *, seq_axis: int, batch_axis: int) -> Array:
    """The beginnings of sequences, reversed."""
    steps = x.shape[seq_axis]
    if lengths.size:
        check(xp, partial(_look, steps, seq_axis, x.shape), lengths.min(), lengths.max())
    ends = lengths.reshape([-1 if axis == batch_axis else 1 for axis in range(x.ndim)])
    places = xp.arange(steps, dtype="int64").reshape([-1 if axis == seq_axis else 1 for axis in range(x.ndim)])
    return xp.take_along_axis(x, xp.where(places < ends, ends - 1 - places, places), seq_axis)


def _look(steps: int, seq_axis: int, shape: tuple[int, ...], lowest: Any, highest: Any) -> None:
    if not 0 <= int(lowest) <= int(highest) <= steps:
        raise InvalidArgumentError(
            f"reverse_sequence: seq_lengths must be from 0 to {steps}, the size of axis {seq_axis} of the input of "
            f"shape {shape}; got lengths from {int(lowest)} to {int(highest)}."
        )
