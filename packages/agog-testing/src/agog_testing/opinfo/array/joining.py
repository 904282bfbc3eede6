"""Joining: facts about the ops of agog_core.ops.array.joining."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import Rng, invalid, large, uniform


def _concat_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shapes, axis in (
        *((((3,),), 0), (((1,), (2,)), 0), (((2, 3), (4, 3)), 0), (((2, 3), (2, 1), (2, 2)), 1)),
        *(
            (((2, 3), (2, 1)), -1),
            (((0, 2), (3, 2)), 0),
            (((0,), (0,)), 0),
            (((2, 3, 4), (2, 5, 4)), 1),
            (((67,), (1,)), 0),
        ),
    ):
        yield Sample(f"shapes {shapes} along {axis}", ([uniform(dtype, rng, shape) for shape in shapes], axis))


def _concat_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shapes, axis in ((((size,), (3,)), 0), (((2, size), (2, 1)), 1), (((size, 2), (size, 1)), 1)):
        yield Sample(f"shapes {shapes} along {axis}", ([large(dtype, rng, shape) for shape in shapes], axis))


def _concat(arrays: list[Array], axis: int) -> Array:
    axis %= arrays[0].ndim
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)
    out, start = np.empty(shape, arrays[0].dtype), 0
    for array in arrays:
        out[(slice(None),) * axis + (slice(start, start + array.shape[axis]),)] = array
        start += array.shape[axis]
    return out


_CONCAT_ERRORS = (
    ErrorSample(([], 0), {}, ValueError, "concat: values is empty; give at least one tensor."),
    invalid(
        ([np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)], 0),
        "concat: the values must have one shape but for axis 0; got shapes (2, 3), (3, 2).",
    ),
    invalid(
        ([np.ones(2, np.float32), np.ones(2)], 0),
        "concat: values[0] has dtype float32 and values[1] has dtype float64 (shapes (2,) and (2,)), but they must be "
        "of one dtype; cast one of them, such as tf.cast(values[1], tf.float32).",
    ),
    invalid(([np.ones(2, np.float32)] * 2, 1), "concat: axis 1 is out of range for a tensor of rank 1; use -1 to 0."),
)


def _split_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, pieces, axis in (
        *(((4,), 2, 0), ((3,), 1, 0), ((2, 6), 3, 1), ((2, 6), [1, 5], -1), ((5, 2), [2, -1], 0)),
        *(((4, 3), [0, 4], 0), ((0, 3), 2, 0), ((67,), [3, 64], 0), ((1,), [1], 0)),
    ):
        yield Sample(f"shape {shape} into {pieces} along {axis}", (uniform(dtype, rng, shape), pieces, axis))


def _split_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape, axis in (((size,), 0), ((3, size), 1)):
        yield Sample(f"shape {shape}", (large(dtype, rng, shape), [1, size - 1], axis))


def _split(x: Array, pieces: int | list[int], axis: int) -> tuple[Array, ...]:
    length = x.shape[axis]
    sizes = [length // pieces] * pieces if isinstance(pieces, int) else list(pieces)
    sizes = [length - sum(size for size in sizes if size > 0) if size == -1 else size for size in sizes]
    ends = np.cumsum(sizes)
    return tuple(np.take(x, range(end - size, end), axis) for size, end in zip(sizes, ends, strict=True))


_SPLIT_ERRORS = (
    invalid((np.ones(3, np.float32), 2), "split: axis 0 of a tensor of shape (3,) cannot be cut into 2 equal pieces."),
    invalid(
        (np.ones(3, np.float32), [1, 1]), "split: pieces of sizes (1, 1) do not fill axis 0 of a tensor of shape (3,)."
    ),
)

INFOS = (
    OpInfo("concat", _concat_samples, _concat, sized=_concat_sized, signed_zeros=True, errors=_CONCAT_ERRORS),
    OpInfo("split", _split_samples, _split, sized=_split_sized, signed_zeros=True, errors=_SPLIT_ERRORS),
)
