"""Positions: facts about the ops of agog_core.ops.sorting.positions."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import Rng, invalid, rejected, uniform


def _permutation_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for length in (0, 1, 2, 5, 67):
        yield Sample(f"length {length}", (rng.permutation(length).astype(as_dtype(dtype).numpy_dtype),))


def _invert(x: Array) -> Array:
    return np.array([x.tolist().index(number) for number in range(len(x))], np.int64)


_INVERT_ERRORS = (
    *(
        invalid(
            (np.array(numbers, np.int32),),
            "invert_permutation: x of shape (3,) must hold each of the numbers from 0 to 2 once.",
            "int32",
        )
        for numbers in ([0, 0, 1], [1, 2, 3], [-1, 0, 1])
    ),
    invalid((np.zeros((1, 1), np.int32),), "invert_permutation: x must be a vector; got shape (1, 1).", "int32"),
    rejected("invert_permutation", "float32", "int32, int64", (np.zeros(1, np.float32),), "int32"),
)


def _unravel_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, dims in (
        *(((), (2, 3)), ((1,), (1,)), ((5,), (4,)), ((4,), (2, 3, 4)), ((2, 3), (3, 2)), ((67,), (5, 1, 7))),
        *(((0,), (2, 3)), ((0,), (0, 3)), ((0,), ())),
    ):
        yield Sample(f"shape {shape} in {dims}", (uniform(dtype, rng, shape, 0, max(math.prod(dims) - 1, 0)), dims))


def _unravel(indices: Array, dims: tuple[int, ...]) -> Array:
    out = np.empty((len(dims), *indices.shape), np.int64)
    places = list(np.ndindex(*dims))
    for at in np.ndindex(*indices.shape):
        out[(slice(None), *at)] = places[indices[at]]
    return out


_UNRAVEL_ERRORS = (
    invalid(
        (np.array([0, 6], np.int32), [2, 3]),
        "unravel_index: indices must be from 0 to 5 for dims (2, 3); got numbers from 0 to 6.",
        "int32",
    ),
)

INFOS = (
    OpInfo("invert_permutation", _permutation_samples, _invert, differentiable=False, errors=_INVERT_ERRORS),
    OpInfo("unravel_index", _unravel_samples, _unravel, differentiable=False, errors=_UNRAVEL_ERRORS),
)
