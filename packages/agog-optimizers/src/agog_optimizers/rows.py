"""Rows: steps on some rows of a variable: gather, update, scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import IndexedSlices, Tensor
from agog_core.tracers import Tracer, present_recorder
from agog_core.variables.temporary import temporary


def distinct(gradient: IndexedSlices) -> tuple[Tensor, Tensor]:
    """The numbers of a gradient's rows, each once, of shape ``(n,)``, and the sum for each of them, ``(n, ...)``.

    >>> rows, values = distinct(IndexedSlices([[1.0], [2.0], [4.0]], [3, 0, 3], (5, 1)))
    >>> rows.numpy().tolist(), values.numpy().tolist()
    ([3, 0], [[5.0], [2.0]])
    """
    if (tracer := present_recorder()) is not None:
        return _repeated(tracer, gradient)
    rows, which = ag.unique(gradient.indices)
    return rows, ag.unsorted_segment_sum(gradient.values, which, rows._shape[0])


def _repeated(tracer: Tracer, gradient: IndexedSlices) -> tuple[Tensor, Tensor]:
    """All rows of a gradient, each with the sum for its number: in a traced function their count must not
    depend on values. A duplicate row number has equal values; scattering them twice is harmless."""
    (which,) = tracer.host(_numbered, [gradient.indices], [gradient.indices.dtype])
    sums = ag.unsorted_segment_sum(gradient.values, which, gradient.indices._shape[0])
    return gradient.indices, ag.gather(sums, which)


def _numbered(indices: Any) -> list[Any]:
    """The numbers in the order in which they first appear, as arrays on the host."""
    return [ag.unique(indices)[1].numpy()]


def gathered(variables: Sequence[ag.Variable], rows: Tensor) -> list[ag.Variable]:
    """Copy the rows of these numbers to variables of their own, of shape ``(n, ...)``."""
    return [temporary(ag.gather(variable._current(), rows)) for variable in variables]


def scattered(variables: Sequence[ag.Variable], rows: Tensor, parts: Sequence[ag.Variable]) -> None:
    """Put back the rows that `gathered` copied; a number that is there twice must be there with the same row."""
    for variable, part in zip(variables, parts, strict=True):
        ag.scatter_update(variable, rows, part._current())
