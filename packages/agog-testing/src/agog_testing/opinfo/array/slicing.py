"""Slicing: facts about the ops of agog_core.ops.array.slicing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import NUMERIC_OR_BOOL, Rng, invalid, large, rejected, uniform


def _slice_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, shape, begin, end, strides, masks in (
        ("whole", (3,), [0], [3], [1], {}),
        ("step", (7,), [1], [7], [2], {}),
        ("backwards", (5,), [4], [0], [-1], {}),
        ("backwards, whole", (5,), [0], [0], [-2], {"begin_mask": 1, "end_mask": 1}),
        ("empty", (5,), [3], [3], [1], {}),
        ("two axes", (4, 5), [1, 0], [3, 5], [1, 2], {}),
        ("one position", (4, 5), [2, 0], [0, 5], [1, 1], {"shrink_axis_mask": 1}),
        ("a scalar", (4, 5), [2, -1], [0, 0], [1, 1], {"shrink_axis_mask": 3}),
        ("new axis", (4, 5), [0, 1], [0, 3], [1, 1], {"new_axis_mask": 1}),
        ("ellipsis", (2, 3, 4), [0, 1], [0, 3], [1, 1], {"ellipsis_mask": 1}),
        ("of nothing", (0, 3), [0, 1], [0, 2], [1, 1], {}),
        ("one element", (1,), [0], [1], [1], {}),
        ("long", (67,), [1], [66], [3], {}),
    ):
        yield Sample(name, (uniform(dtype, rng, shape), begin, end, strides), masks)


def _slice_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape, step in (((2 * size,), 2), ((size + 1,), 1), ((size, 3), 1)):
        yield Sample(f"shape {shape}, step {step}", (large(dtype, rng, shape), [1], [shape[0]], [step]))


def _slice(x: Array, begin: list[int], end: list[int], strides: list[int], **masks: int) -> Array:
    def has(mask: str, entry: int) -> bool:
        return bool(masks.get(mask, 0) >> entry & 1)

    key: list[Any] = []
    for n, (start, stop, step) in enumerate(zip(begin, end, strides, strict=True)):
        if has("new_axis_mask", n):
            key.append(np.newaxis)
        elif has("ellipsis_mask", n):
            key.append(...)
        elif has("shrink_axis_mask", n):
            key.append(start)
        else:
            key.append(slice(None if has("begin_mask", n) else start, None if has("end_mask", n) else stop, step))
    return np.asarray(x[tuple(key)])


_SLICE_ERRORS = (
    invalid(
        (np.ones(3, np.float32), [0, 0], [1, 1]), "strided_slice: 2 indices are too many for a tensor of shape (3,)."
    ),
    invalid((np.ones(3, np.float32), [0], [1], [0]), "strided_slice: the step of axis 0 is zero."),
    invalid(
        (np.ones(3, np.float32), [3], [4]),
        "slice index 3 of dimension 0 out of bounds: its size is 3, so use -3 to 2.",
        shrink_axis_mask=1,
    ),
    invalid(
        (np.ones(3, np.float32), [0], [1, 2]),
        "strided_slice: begin, end and strides must be of one length; got [0], [1, 2] and [1].",
    ),
)


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, whole, key, part in (
        ("range", (5,), ((1, 4, 1),), (3,)),
        ("step", (7,), ((0, 7, 3),), (3,)),
        ("backwards", (5,), ((4, None, -2),), (3,)),
        ("one position", (4, 3), (2,), (3,)),
        ("a scalar", (4,), (3,), ()),
        ("new axis", (4, 3), (None, (1, 3, 1)), (1, 2, 3)),
        ("empty", (5,), ((2, 2, 1),), (0,)),
    ):
        yield Sample(f"{name} of {whole}", (uniform(dtype, rng, part), whole, key))


def _grad(g: Array, shape: tuple[int, ...], key: tuple[Any, ...]) -> Array:
    whole = np.zeros(shape, g.dtype)
    whole[tuple(slice(*entry) if isinstance(entry, tuple) else entry for entry in key)] = g
    return whole


INFOS = (
    OpInfo("strided_slice", _slice_samples, _slice, sized=_slice_sized, signed_zeros=True, errors=_SLICE_ERRORS),
    OpInfo(
        name="strided_slice_grad",
        samples=_grad_samples,
        reference=_grad,
        errors=(
            rejected("strided_slice_grad", "string", NUMERIC_OR_BOOL, (np.array([b"a"], object), (2,), ((0, 1, 1),))),
        ),
    ),
)
