"""Attention: calls just above the least size, of sizes around those of tiles and blocks, with masks, and causal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from agog_testing.opinfo import Sample

Array = np.ndarray[Any, Any]


class Case(NamedTuple):
    """The sizes of a call, the shape of its mask, and whether it is causal."""

    batch: tuple[int, ...]
    queries: int
    keys: int
    depth: int
    width: int
    mask: tuple[int, ...] | None = None
    is_causal: bool = False


CASES = (
    Case((2, 3), 40, 41, 16, 32),
    Case((2,), 67, 65, 20, 33, (65,), is_causal=True),
    Case((2, 2), 56, 41, 7, 5, (2, 1, 56, 1)),
    Case((), 1, 8300, 8, 3, (1, 8300)),
    Case((1, 2), 300, 270, 5, 9, is_causal=True),
)


def _arrays(dtype: str, rng: np.random.Generator, case: Case) -> tuple[Array, ...]:
    """The gradients, queries, keys, values, and the mask if there is one."""
    rows = (
        *((case.queries, case.width), (case.queries, case.depth)),
        *((case.keys, case.depth), (case.keys, case.width)),
    )
    shapes = [(*case.batch, *row) for row in rows] + ([] if case.mask is None else [case.mask])
    return tuple([rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes])


def _attention(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for case in CASES:
        _, *arrays = _arrays(dtype, rng, case)
        yield Sample(str(case), tuple(arrays), {"factor": 0.5, "is_causal": case.is_causal})


def _attention_grad(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for case in CASES:
        yield Sample(str(case), _arrays(dtype, rng, case), {"factor": 0.5, "is_causal": case.is_causal})
    yield Sample("of queries and values", _arrays(dtype, rng, CASES[0]), {"sources": ("query", "value")})


SAMPLES = {"dot_product_attention": _attention, "dot_product_attention_grad": _attention_grad}
