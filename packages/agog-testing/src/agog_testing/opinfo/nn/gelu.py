"""Gelu: facts about the ops of agog_core.ops.nn.gelu."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import (
    FLOATING,
    Rng,
    constant,
    invalid,
    is_float,
    rejected,
    unary_samples,
    unary_sized,
    uniform,
)

_LARGE = (0.0, 1e-30, -1e-30, 6.0, -6.0, 40.0, -40.0, np.inf, np.nan)
_ERFC = np.vectorize(math.erfc, otypes=["f8"])


def _gelu(x: Array, approximate: bool = False) -> Array:
    if approximate:
        return np.asarray(x / 2 * (1 + np.tanh(_inner(x))))
    return np.asarray(x / 2 * _ERFC(-x / math.sqrt(2)))


def _inner(x: Array) -> Array:
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


def _gelu_grad(gradients: Array, features: Array, approximate: bool = False) -> Array:
    x = features
    if approximate:
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2) / np.cosh(np.clip(_inner(x), -300, 300)) ** 2
        return np.asarray(gradients * ((1 + np.tanh(_inner(x))) / 2 + x / 2 * slope))
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return np.asarray(gradients * (_ERFC(-x / math.sqrt(2)) / 2 + x * density))


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from unary_samples(uniform, _LARGE)(dtype, rng)
    yield Sample("approximate", (uniform(dtype, rng, (2, 5)),), {"approximate": True})
    yield Sample("approximate, special values", (constant(dtype, _LARGE),), {"approximate": True}, smooth=False)


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((), (3,), (2, 3), (0,), (67,)):
        for approximate in (False, True):
            pair = uniform(dtype, rng, shape), uniform(dtype, rng, shape)
            yield Sample(f"shape {shape}, approximate {approximate}", pair, {"approximate": approximate})
    if is_float(dtype):
        special = constant(dtype, np.ones(7)), constant(dtype, _LARGE[:7])
        yield Sample("large and small values", special, smooth=False)
        yield Sample("large and small values, approximate", special, {"approximate": True}, smooth=False)


def _pairs(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    yield Sample(f"shape {(size,)}", (uniform(dtype, rng, (size,)), uniform(dtype, rng, (size,))))


_ONES = np.ones((2, 3), np.float32)

INFOS = (
    OpInfo(
        name="gelu",
        samples=_samples,
        sized=unary_sized(uniform),
        elementwise=True,
        reference=_gelu,
        errors=(rejected("gelu", "bool", FLOATING, (np.array([True]),)),),
        signed_zeros=True,
    ),
    OpInfo(
        name="gelu_grad",
        samples=_grad_samples,
        sized=_pairs,
        elementwise=True,
        reference=_gelu_grad,
        errors=(
            invalid((_ONES, _ONES[0]), "gelu_grad: gradients and features must be of one shape; got (2, 3) and (3,)."),
        ),
    ),
)
