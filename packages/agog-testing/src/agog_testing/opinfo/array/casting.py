"""Casting: facts about the ops of agog_core.ops.array.casting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import (
    NUMERIC,
    NUMERIC_OR_BOOL,
    Rng,
    constant,
    invalid,
    is_float,
    limits,
    rejected,
    uniform,
)


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for target in NUMERIC_OR_BOOL.split(", "):
        if target == dtype:
            continue  # cast returns the input itself
        # Negative numbers have no place among unsigned ones, and a float's conversion is left to the device there.
        low = 0 if as_dtype(target).is_unsigned else -3
        for shape in ((), (2, 3), (0,), (67,)):
            x = uniform(dtype, rng, shape, low, 3)
            if as_dtype(dtype).is_differentiable:
                x = constant(dtype, np.round(x.astype(np.complex128 if np.iscomplexobj(x) else np.float64) * 8) / 8)
            yield Sample(f"to {target}, shape {shape}", (x, target), smooth=as_dtype(target).is_differentiable)
        if as_dtype(dtype).is_integer and as_dtype(target).is_integer:
            yield Sample(f"large integers to {target}", (limits(dtype), target))
        if is_float(dtype) and is_float(target):
            yield Sample(
                f"special values to {target}", (constant(dtype, [np.nan, np.inf, -np.inf]), target), smooth=False
            )


def _cast_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for target in ("bool", "int8", "int32", "float32", "float64"):
        if target != dtype:
            yield Sample(f"to {target}, shape {(size,)}", (np.abs(uniform(dtype, rng, (size,), 1, 100)), target))


def _cast(x: Array, dtype: str) -> Array:
    wanted = as_dtype(dtype)
    if wanted.is_bool:
        return np.asarray(x != 0)
    if np.iscomplexobj(x) and not wanted.is_complex:
        x = x.real
    return np.trunc(x) if wanted.is_integer and x.dtype.kind == "f" else x


def _bitcast_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    size = as_dtype(dtype).size
    for target in NUMERIC.split(", "):
        parts = as_dtype(target).size // size
        for shape in ((), (2, 3), (0,), (67,)):
            x = uniform(dtype, rng, (*shape, parts) if parts > 1 else shape)
            # The reference is given float64 for every float, so the call names the dtype that it had.
            yield Sample(f"to {target}, shape {x.shape}", (x, target), {"name": dtype}, smooth=False)


def _bitcast(x: Array, type: str, name: str) -> Array:
    given, wanted = as_dtype(name), as_dtype(type)
    shape = x.shape
    if wanted.size < given.size:
        shape = (*shape, given.size // wanted.size)
    elif wanted.size > given.size:
        shape = shape[:-1]
    return np.frombuffer(x.astype(given.numpy_dtype).tobytes(), wanted.numpy_dtype).reshape(shape)


INFOS = (
    OpInfo(
        name="bitcast",
        samples=_bitcast_samples,
        reference=_bitcast,
        differentiable=False,
        errors=(
            rejected("bitcast", "bool", NUMERIC, (np.array([True]), "int8")),
            invalid(
                (np.ones(3, np.float32), "float64"),
                "bitcast: 2 elements of float32 make one of float64, so the last axis must have size 2; got shape "
                "(3,).",
            ),
            invalid((np.ones(3, np.float32), "bool"), "bitcast: type must be a dtype of numbers; got bool."),
        ),
    ),
    OpInfo(
        name="cast",
        sized=_cast_sized,
        samples=_samples,
        reference=_cast,
        errors=(rejected("cast", "string", NUMERIC_OR_BOOL, (np.array([b"1"], object), "float32")),),
        # Samples are multiples of 1/8 and the op is linear: so large a step is exact also in half precision.
        eps=2.0**-4,
    ),
)
