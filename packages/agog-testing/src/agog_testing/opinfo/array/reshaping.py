"""Reshaping: facts about the ops of agog_core.ops.array.reshaping."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import Rng, invalid, large, of_size, uniform


def _reshape_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for before, after in (
        *(((), (1,)), ((1, 1), ()), ((6,), (2, 3)), ((2, 3), (-1,)), ((2, 3, 4), (4, -1, 2)), ((0,), (2, 0, 3))),
        *(((2, 0), (0, 5)), ((67,), (67, 1)), ((2, 3), (2, 3))),
    ):
        yield Sample(f"{before} to {after}", (uniform(dtype, rng, before), after))


def _reshape(x: Array, shape: tuple[int, ...]) -> Array:
    known = int(np.prod([size for size in shape if size != -1], dtype=int))
    out = np.empty([x.size // known if size == -1 else size for size in shape], x.dtype)
    for position, source in zip(np.ndindex(*out.shape), np.ndindex(*x.shape), strict=True):
        out[position] = x[source]
    return out


_RESHAPE_ERRORS = (
    invalid(
        (np.ones(3, np.float32), (2, 2)), "reshape: a tensor of shape (3,) has 3 elements; shape (2, 2) would have 4."
    ),
    invalid(
        (np.ones(3, np.float32), (2, -1)), "reshape: a tensor of shape (3,) with 3 elements does not fit shape (2, -1)."
    ),
    invalid((np.ones(4, np.float32), (-1, -1)), "reshape: shape (-1, -1) may have one -1 and no other negative size."),
)


def _transpose_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, perm in (
        *(((), None), ((3,), None), ((2, 3), None), ((2, 3, 4), (1, 2, 0)), ((2, 3, 4), (0, 2, 1)), ((2, 3), (0, 1))),
        *(((0, 2), None), ((5, 1, 2, 3), (3, 0, 2, 1))),
    ):
        yield Sample(f"shape {shape}, perm {perm}", (uniform(dtype, rng, shape), perm))


def _transpose(x: Array, perm: tuple[int, ...] | None = None) -> Array:
    order = tuple(range(x.ndim))[::-1] if perm is None else perm
    out = np.empty([x.shape[axis] for axis in order], x.dtype)
    for position in np.ndindex(*x.shape):
        out[tuple(position[axis] for axis in order)] = x[position]
    return out


_TRANSPOSE_ERROR = invalid(
    (np.ones((2, 3), np.float32), (0, 0)),
    "transpose: perm (0, 0) is not a permutation of the axes of a tensor of shape (2, 3).",
)


INFOS = (
    OpInfo(
        name="reshape",
        samples=_reshape_samples,
        sized=of_size(large, ((None,), {"shape": (-1, 1)}), ((None, 3), {"shape": (-1,)})),
        signed_zeros=True,
        reference=_reshape,
        errors=_RESHAPE_ERRORS,
    ),
    OpInfo(
        name="transpose",
        samples=_transpose_samples,
        sized=of_size(large, ((3, None), {}), ((None, 2, 3), {"perm": (1, 2, 0)})),
        signed_zeros=True,
        reference=_transpose,
        errors=(_TRANSPOSE_ERROR,),
    ),
)
