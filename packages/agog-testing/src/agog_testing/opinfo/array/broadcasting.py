"""Broadcasting: facts about the ops of agog_core.calls.broadcasting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import NUMERIC, SUMS, Rng, constant, invalid, is_float, rejected, uniform

_SHAPES = (
    *(((), (3,)), ((), (2, 3)), ((1,), (4,)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((2, 1, 3), (4, 2, 5, 3))),
    *(
        ((1,), (0,)),
        ((), (0, 2)),
        ((0,), (2, 0)),
        ((1, 1), (67, 1)),
        ((2, 3), (1, 2, 3)),
        ((1,), (1, 1)),
        ((67,), (2, 67)),
    ),
)


def _broadcast_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for small, large in _SHAPES:
        yield Sample(f"{small} to {large}", (uniform(dtype, rng, small), large))


def _repeat(x: Array, shape: tuple[int, ...]) -> Array:
    x = x.reshape((1,) * (len(shape) - x.ndim) + x.shape)
    for axis, size in enumerate(shape):
        if x.shape[axis] != size:
            x = np.repeat(x, size, axis)
    return x


def _sum_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for small, large in _SHAPES:
        yield Sample(f"{large} to {small}", (uniform(dtype, rng, large), small))
    if is_float(dtype):
        rows = constant(dtype, rng.integers(-2, 3, (20, 30, 3)))
        yield Sample("many short rows", (rows, (3,)), smooth=False)
        yield Sample("4096 ones", (constant(dtype, np.ones(4096)), ()), smooth=False)
        if dtype == "float32":
            tenths = constant(dtype, np.full((70_001, 2), 0.1))
            yield Sample("many tenths", (tenths, (2,)), smooth=False)
        yield Sample("NaN and infinity", (constant(dtype, [[1.0, 2.0], [np.nan, np.inf]]), (2,)), smooth=False)


def _sum_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for large, small in (((size,), ()), ((size, 3), (3,)), ((3, size), (size,)), ((2, size), (2, 1))):
        yield Sample(f"{large} to {small}", (uniform(dtype, rng, large), small))


def _broadcast_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for small, large in (((1,), (size,)), ((3,), (size, 3)), ((size,), (3, size)), ((size, 1), (size, 2))):
        yield Sample(f"{small} to {large}", (uniform(dtype, rng, small), large))


def _sum(x: Array, shape: tuple[int, ...]) -> Array:
    total = np.zeros(shape, x.dtype)
    index = np.empty(x.shape, np.int64)
    index[...] = np.arange(total.size).reshape(shape)
    np.add.at(total.reshape(-1), index.reshape(-1), x.reshape(-1))
    return total


INFOS = (
    OpInfo(
        name="broadcast_to",
        signed_zeros=True,
        samples=_broadcast_samples,
        sized=_broadcast_sized,
        reference=_repeat,
        errors=(
            invalid(
                (np.ones((2, 3), np.float32), (3,)),
                "broadcast_to: a tensor of shape (2, 3) does not broadcast to shape (3,).",
            ),
            invalid(
                (np.ones(2, np.float32), (3,)),
                "broadcast_to: Incompatible shapes: [2] vs. [3]: sizes 2 and 3 differ and neither is 1. Reshape, "
                "tile or slice one of them.",
            ),
            ErrorSample(
                (np.ones(2, np.float32), [None, 2]),
                {},
                ValueError,
                "A fully known shape is needed here; got (?, 2).",
            ),
        ),
    ),
    OpInfo(
        name="sum_to",
        samples=_sum_samples,
        sized=_sum_sized,
        reference=_sum,
        tolerances=SUMS,
        errors=(
            invalid(
                (np.ones(3, np.float32), (2, 3)), "sum_to: shape (2, 3) does not broadcast to the input's shape (3,)."
            ),
            rejected("sum_to", "bool", NUMERIC, (np.ones((2, 3), np.bool_), (3,))),
        ),
    ),
)
