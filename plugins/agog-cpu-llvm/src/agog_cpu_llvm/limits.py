"""Limits: what is not compiled, said without the modules that compile, which code from the disk does without."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core.plugin import ArraySpec, Primitive

LONGEST = 4096
"""Elements of a row that is kept while it is reduced."""

LONGEST_SUM = 1 << 22
"""Elements of a row that is summed; the parts of longer ones would fill too long a table."""


class NotTakenError(Exception):
    """A subgraph is none that could be compiled with NumPy's bits."""


def axes(reduction: Primitive, values: Sequence[ArraySpec]) -> tuple[int, ...]:
    """The axes that a reduction goes over, counted from the front."""
    rank = len(values[reduction.inputs[0]].shape)
    named = reduction.options["axis"]
    return tuple(range(rank)) if named is None else tuple([axis % rank for axis in named])
