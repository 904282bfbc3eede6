"""Facts about the ops of agog_core.ops.casting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import NUMERIC_OR_BOOL, Rng, constant, is_float, rejected, uniform


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for target in NUMERIC_OR_BOOL.split(", "):
        if target == dtype:
            continue  # cast returns the input itself
        # Negative numbers have no place among unsigned ones, and a float's conversion is left to the device there.
        low = 0 if as_dtype(target).is_unsigned else -3
        for shape in ((), (2, 3), (0,), (67,)):
            x = uniform(dtype, rng, shape, low, 3)
            if is_float(dtype):
                x = constant(dtype, np.round(x.astype(np.float64) * 8) / 8)
            yield Sample(f"to {target}, shape {shape}", (x, target), smooth=is_float(target))
        if is_float(dtype) and is_float(target):
            yield Sample(
                f"special values to {target}", (constant(dtype, [np.nan, np.inf, -np.inf]), target), smooth=False
            )


def _cast(x: Array, dtype: str) -> Array:
    wanted = as_dtype(dtype)
    if wanted.is_bool:
        return np.asarray(x != 0)
    if np.iscomplexobj(x) and not wanted.is_complex:
        x = x.real
    return np.trunc(x) if wanted.is_integer and x.dtype.kind == "f" else x


INFOS = (
    OpInfo(
        name="cast",
        samples=_samples,
        reference=_cast,
        errors=(rejected("cast", "string", NUMERIC_OR_BOOL, (np.array([b"1"], object), "float32")),),
        # Samples are multiples of 1/8 and the op is linear: so large a step is exact also in half precision.
        eps=2.0**-4,
    ),
)
