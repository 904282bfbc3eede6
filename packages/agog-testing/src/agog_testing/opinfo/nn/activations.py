"""Activations: facts about the ops of agog_core.ops.nn.activations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import (
    FLOATING,
    ORDERED,
    Rng,
    binary,
    constant,
    invalid,
    is_float,
    nonzero,
    rejected,
    unary,
    unary_samples,
    unary_sized,
)

NAN, INF = np.nan, np.inf
_GRADIENT = ("gradients", "outputs")
_SCALE, _ALPHA = 1.0507009873554805, 1.6732632423543772


def _elu(x: Array) -> Array:
    return np.where(x < 0, np.expm1(np.minimum(x, 0)), x)


def _leaky_relu(features: Array, alpha: float = 0.2) -> Array:
    return np.where(features > 0, features, alpha * features) if alpha <= 1 else _steep(features, alpha)


def _steep(features: Array, alpha: float) -> Array:
    return np.where(features > 0, alpha * features, features)


def _leaky_relu_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from unary_samples(nonzero, (NAN, INF, -INF, 0.0, -0.0))(dtype, rng)
    for alpha in (0.5, 1.0, 0.0, 1.5):
        yield Sample(f"alpha {alpha}", (nonzero(dtype, rng, (3,)),), {"alpha": alpha})


def _leaky_relu_grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in ((), (3,), (2, 3), (0,), (67,)):
        yield Sample(f"shape {shape}", (nonzero(dtype, rng, shape), nonzero(dtype, rng, shape)))
    yield Sample("alpha 0.5", (nonzero(dtype, rng, (3,)), nonzero(dtype, rng, (3,))), {"alpha": 0.5})
    if is_float(dtype):
        special = constant(dtype, [1.0, 1.0, 1.0]), constant(dtype, [INF, -INF, 0.0])
        yield Sample("infinities and zero", special, smooth=False)


def _pairs(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    yield Sample(f"shape {(size,)}", (nonzero(dtype, rng, (size,)), nonzero(dtype, rng, (size,))))


def _up_to_nine(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    values = nonzero(dtype, rng, shape)
    return np.asarray(values * 3).astype(values.dtype)


_ONES = np.ones((2, 3), np.float32)
_SPECIAL = (NAN, INF, -INF, 0.0, -0.0)

INFOS = (
    unary("relu", lambda x: np.where(x < 0, 0, x), nonzero, _SPECIAL, allowed=ORDERED, signed_zeros=False),
    binary(
        "relu_grad",
        lambda g, x: np.where(x > 0, g, 0),
        y=nonzero,
        special=(-2.0, 0.0, 1.0, INF),
        names=("gradients", "features"),
        signed_zeros=False,
    ),
    unary("relu6", lambda x: np.clip(x, 0, 6), _up_to_nine, (*_SPECIAL, 6.0), allowed=ORDERED, signed_zeros=False),
    binary(
        "relu6_grad",
        lambda g, x: np.where((x > 0) & (x < 6), g, 0),
        y=nonzero,
        special=(-2.0, 0.0, 1.0, 6.0, 7.0, INF),
        names=("gradients", "features"),
        signed_zeros=False,
    ),
    unary("elu", _elu, nonzero, _SPECIAL),
    binary(
        "elu_grad",
        lambda g, out: np.where(out < 0, g * (out + 1), g),
        y=nonzero,
        special=(-1.0, 0.0, 1.0),
        allowed=FLOATING,
        names=_GRADIENT,
    ),
    unary("selu", lambda x: _SCALE * np.where(x < 0, _ALPHA * _elu(x), x), nonzero, _SPECIAL),
    binary(
        "selu_grad",
        lambda g, out: np.where(out < 0, g * (out + _SCALE * _ALPHA), g * _SCALE),
        y=nonzero,
        special=(-1.0, 0.0, 1.0),
        allowed=FLOATING,
        names=_GRADIENT,
    ),
    OpInfo(
        name="leaky_relu",
        samples=_leaky_relu_samples,
        sized=unary_sized(nonzero),
        elementwise=True,
        reference=_leaky_relu,
        errors=(rejected("leaky_relu", "bool", FLOATING, (np.array([True]),)),),
    ),
    OpInfo(
        name="leaky_relu_grad",
        samples=_leaky_relu_grad_samples,
        sized=_pairs,
        elementwise=True,
        reference=lambda gradients, features, alpha=0.2: np.where(features > 0, gradients, alpha * gradients),
        errors=(
            invalid(
                (_ONES, _ONES[0]), "leaky_relu_grad: gradients and features must be of one shape; got (2, 3) and (3,)."
            ),
        ),
    ),
    unary("softsign", lambda x: x / (1 + np.abs(x)), nonzero),
    unary("swish", lambda x: x / (1 + np.exp(-x)), special=(NAN, INF, 0.0, 100.0, -100.0)),
)
