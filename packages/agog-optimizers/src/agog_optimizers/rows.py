"""Rows: steps on some rows of variables, which are gathered, changed, and put back."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core import (
    IndexedSlices,
    Tensor,
    Variable,
    gather,
    scatter_update,
    unique,
    unsorted_segment_sum,
)
from agog_core.variables.temporary import temporary


def distinct(gradient: IndexedSlices) -> tuple[Tensor, Tensor]:
    """The numbers of a gradient's rows, each once, of shape ``(n,)``, and the sum for each of them, ``(n, ...)``.

    >>> rows, values = distinct(IndexedSlices([[1.0], [2.0], [4.0]], [3, 0, 3], (5, 1)))
    >>> rows.numpy().tolist(), values.numpy().tolist()
    ([3, 0], [[5.0], [2.0]])
    """
    rows, which = unique(gradient.indices)
    return rows, unsorted_segment_sum(gradient.values, which, rows._shape[0])


def gathered(variables: Sequence[Variable], rows: Tensor) -> list[Variable]:
    """Copy the rows of these numbers to variables of their own, of shape ``(n, ...)``."""
    return [temporary(gather(variable._current(), rows)) for variable in variables]


def scattered(variables: Sequence[Variable], rows: Tensor, parts: Sequence[Variable]) -> None:
    """Put back the rows that `gathered` copied; each number must be there once."""
    for variable, part in zip(variables, parts, strict=True):
        scatter_update(variable, rows, part._current())
