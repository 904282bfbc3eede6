"""Padding: facts about the ops of agog_core.ops.array.padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import Rng, invalid, is_float, large, of_size, uniform


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, paddings in (
        *(((), ()), ((3,), ((1, 2),)), ((3,), ((0, 0),)), ((2, 3), ((1, 0), (0, 4))), ((1,), ((0, 1),))),
        *(((2, 1, 3), ((1, 1), (2, 0), (0, 1))), ((0,), ((1, 1),)), ((0, 2), ((0, 0), (1, 1))), ((67,), ((5, 0),))),
    ):
        yield Sample(f"shape {shape} by {paddings}", (uniform(dtype, rng, shape), paddings))
    value = b"xy" if dtype == "string" else dtype == "bool" or 3
    yield Sample("another value", (uniform(dtype, rng, (2, 2)), ((1, 0), (0, 1))), {"constant_values": value})
    if is_float(dtype):
        yield Sample("NaN", (uniform(dtype, rng, (2,)), ((1, 0),)), {"constant_values": float("nan")}, smooth=False)


def _pad(x: Array, paddings: tuple[tuple[int, int], ...], constant_values: Any = 0) -> Array:
    if x.dtype == object and constant_values == 0:
        constant_values = b""
    out = np.empty([before + size + after for size, (before, after) in zip(x.shape, paddings, strict=True)], x.dtype)
    for place in np.ndindex(*out.shape):
        source = tuple(at - before for at, (before, _) in zip(place, paddings, strict=True))
        inside = all(0 <= at < size for at, size in zip(source, x.shape, strict=True))
        out[place] = x[source] if inside else constant_values
    return out


_THREE = np.ones(3, np.float32)

INFOS = (
    OpInfo(
        name="pad",
        samples=_samples,
        sized=of_size(large, ((None,), {"paddings": ((1, 2),)}), ((2, None), {"paddings": ((0, 1), (1, 0))})),
        signed_zeros=True,
        reference=_pad,
        errors=(
            invalid((_THREE, [[1, 2], [0, 0]]), "pad: paddings must be integers of shape (1, 2); got shape (2, 2)."),
            invalid((_THREE, [[1, -1]]), "pad: paddings must not be negative; got ((1, -1),)."),
            ErrorSample(
                (_THREE, [[1, 1]], "EDGE"),
                {},
                ValueError,
                "pad: Unknown padding mode: 'EDGE'; use 'CONSTANT', 'REFLECT' or 'SYMMETRIC'.",
            ),
            invalid(
                (_THREE, [[3, 0]], "REFLECT"),
                "pad: mode REFLECT mirrors at most 2 elements of axis 0 of a tensor of shape (3,); paddings ask for "
                "(3, 0).",
            ),
            invalid(
                (_THREE, [[1, 0]]), "pad: constant_values must be a scalar; got shape (2,).", constant_values=[1.0, 2.0]
            ),
        ),
    ),
)
