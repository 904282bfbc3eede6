"""Limits: the subgraphs that are not compiled, without imports of the compiler, for code from the disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core.compiler import ArraySpec, Primitive
from agog_cpu_llvm.fusion import operations

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


def keeps_last_axis(primitive: Primitive, values: Sequence[ArraySpec]) -> bool:
    """Whether it is a reduction of rows to one row: of the axes with several elements, the last one is kept."""
    if primitive.kind != "reduce":
        return False
    shape, reduced = values[primitive.inputs[0]].shape, sorted(axes(primitive, values))
    long = [axis for axis, size in enumerate(shape) if size > 1]
    is_along_rows = reduced == list(range(len(shape) - len(reduced), len(shape)))
    return bool(long) and long[-1] not in reduced and not is_along_rows


def beginning(name: str, dtype: str) -> Any:
    """What a reduction of rows begins with, which changes none of them; None where it is no such reduction."""
    if name in ("maximum", "minimum"):
        sign = -1 if name == "maximum" else 1
        if dtype.startswith("int"):
            return np.iinfo(dtype).min if name == "maximum" else np.iinfo(dtype).max
        return sign * np.inf if operations.is_floating(dtype) else None
    return {"add": 0, "multiply": 1}.get(name)
