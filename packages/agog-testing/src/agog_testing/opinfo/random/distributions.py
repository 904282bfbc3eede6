"""Distributions: facts about random numbers with parameters, by the same algorithms element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.ops.random import distributions as sampling
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.random.uniform_and_normal import words
from agog_testing.opinfo.values import FLOATING, Rng, constant, invalid, rejected, uniform

_GAMMA_DIGESTS = {
    "bfloat16": "3bab438d247d43c9e913177459e6b1eabe61568b383d669bbedfe472d1fdebdf",
    "float16": "ec194fe5c5d69726195958fc7b2e1676a5489e231ae49e486fe56908b795a963",
    "float32": "78b6810471d5485bb75bebd66dc93ee904f94154881f7bcbcb1aa2db0b47dedb",
    "float64": "6173dc7099d712d481bb26c8161a244e61360c679d4048a5e90786a61b3f659d",
}
_POISSON_DIGESTS = {
    "bfloat16": "857476197b844c0d4b18ebe239320e0995fec2dfbad34e5b94e5d346f1f187b3",
    "float16": "857476197b844c0d4b18ebe239320e0995fec2dfbad34e5b94e5d346f1f187b3",
    "float32": "857476197b844c0d4b18ebe239320e0995fec2dfbad34e5b94e5d346f1f187b3",
    "float64": "857476197b844c0d4b18ebe239320e0995fec2dfbad34e5b94e5d346f1f187b3",
}
_MULTINOMIAL_DIGESTS = {
    "bfloat16": "44aec82826eb8e0c99960c3bcadf52cecb0e39ad2a051a6f799b273b7b316313",
    "float16": "44aec82826eb8e0c99960c3bcadf52cecb0e39ad2a051a6f799b273b7b316313",
    "float32": "44aec82826eb8e0c99960c3bcadf52cecb0e39ad2a051a6f799b273b7b316313",
    "float64": "44aec82826eb8e0c99960c3bcadf52cecb0e39ad2a051a6f799b273b7b316313",
}
_SEEDS = ((1, None), (2**63 + 5, 7))


def _seeded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The op after its graph seed was set."""

    def call(parameters: Any, graph_seed: int, **arguments: Any) -> Any:
        ag.set_random_seed(graph_seed)
        return function(parameters, **arguments)

    return call


def _gamma(alpha: Any, shape: Any, seed: int | None) -> Any:
    return sampling.random_gamma(shape, alpha, dtype=ag.convert_to_tensor(alpha).dtype, seed=seed)


def _poisson(lam: Any, shape: Any, dtype: str, seed: int | None) -> Any:
    return sampling.random_poisson(lam, shape, dtype, seed)


def _multinomial(logits: Any, num_samples: int, seed: int | None) -> Any:
    return sampling.multinomial(logits, num_samples, seed)


def _gamma_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for graph_seed, seed in _SEEDS:
        for parameters, shape in (((), ()), ((1,), (2,)), ((2, 3), (3,)), ((0,), (2,)), ((67,), ()), ((3,), (0,))):
            alpha = uniform(dtype, rng, parameters, 0.3, 5)
            arguments = {"graph_seed": graph_seed, "shape": shape, "seed": seed}
            yield Sample(f"{shape} of alpha {parameters}, seeds {graph_seed} and {seed}", (alpha,), arguments)
    arguments = {"graph_seed": 5, "shape": (501,), "seed": 3}
    wide = constant(dtype, [0.25, 1.0, 1.5, 64.0])
    yield Sample("small and large", (wide,), arguments, digest=_GAMMA_DIGESTS[dtype])
    arguments = {"graph_seed": 5, "shape": (2,), "seed": None}
    yield Sample("not above 0", (constant(dtype, [0.0, -1.0, np.nan]),), arguments)


def _gamma_reference(alpha: Array, graph_seed: int, shape: tuple[int, ...], seed: int | None) -> Array:
    out_shape = (*shape, *alpha.shape)
    count = math.prod(out_shape)
    stride = 4 * -(-count // 4)
    drawn = words(graph_seed, seed, 0, 16 * stride + count).tolist()
    shapes = np.broadcast_to(alpha, out_shape).reshape(-1).tolist()
    values = [_one_gamma(a, [drawn[n + stride * r] for r in range(17)]) for n, a in enumerate(shapes)]
    return np.array(values, np.float64).reshape(out_shape)


def _one_gamma(alpha: float, drawn: list[int]) -> float:
    if not alpha > 0:
        return math.nan
    d = (alpha + 1 if alpha < 1 else alpha) - 1 / 3
    value = d
    for word in drawn[:16]:
        x = NormalDist().inv_cdf((((word & 0xFFFFFFFF) >> 9) + 0.5) * 2.0**-23)
        u = ((word >> 32) + 0.5) * 2.0**-32
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(u) < x * x / 2 + d - d * v + d * math.log(v):
            value = d * v
            break
    return value * ((drawn[16] >> 11) + 0.5) ** (1 / alpha) * 2.0 ** (-53 / alpha) if alpha < 1 else value


def _poisson_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for graph_seed, seed in _SEEDS:
        for parameters, shape in (((), ()), ((1,), (2,)), ((2, 3), (3,)), ((0,), (2,)), ((67,), ()), ((3,), (0,))):
            lam = uniform(dtype, rng, parameters, 0, 30)
            arguments = {"graph_seed": graph_seed, "shape": shape, "dtype": "float64", "seed": seed}
            yield Sample(f"{shape} of mean {parameters}, seeds {graph_seed} and {seed}", (lam,), arguments)
    arguments = {"graph_seed": 5, "shape": (501,), "dtype": "int64", "seed": 3}
    wide = constant(dtype, [0.0, 0.5, 8.0, 10.0, 12.5, 1024.0])
    yield Sample("small and large", (wide,), arguments, digest=_POISSON_DIGESTS[dtype])
    for kind in ("float16", "float32", "int32"):
        special = constant(dtype, [-1.0, np.inf, np.nan, 2.0])
        yield Sample(f"no mean, {kind}", (special,), {"graph_seed": 5, "shape": (2,), "dtype": kind, "seed": None})


def _poisson_reference(lam: Array, graph_seed: int, shape: tuple[int, ...], dtype: str, seed: int | None) -> Array:
    out_shape = (*shape, *lam.shape)
    count = math.prod(out_shape)
    stride = 4 * -(-2 * count // 4)
    drawn = [((word >> 11) + 0.5) * 2.0**-53 for word in words(graph_seed, seed, 0, 24 * stride + count).tolist()]
    values = []
    for n, mean in enumerate(np.broadcast_to(lam, out_shape).reshape(-1).tolist()):
        pairs = [(drawn[r * stride + 2 * n], drawn[r * stride + 2 * n + 1]) for r in range(24)]
        values.append(_one_poisson(mean, pairs, drawn[24 * stride + n]))
    found = np.array(values, np.float64)
    if dtype.startswith("int"):
        found = np.where(np.isnan(found), 0, found)
    return found.reshape(out_shape)


def _one_poisson(mean: float, pairs: list[tuple[float, float]], last: float) -> float:
    if not 0 <= mean < math.inf:
        return math.nan
    if mean < 10:
        k, total = 0, math.exp(-mean)
        while last > total:
            k += 1
            total += math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1))
        return k
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    for u, v in ((u - 0.5, v) for u, v in pairs):
        away = 0.5 - abs(u)
        k = math.floor((2 * a / away + b) * u + mean + 0.43)
        if away >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (away < 0.013 and v > away):
            continue
        height = math.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / away**2 + b))
        if height <= k * math.log(mean) - mean - math.lgamma(k + 1):
            return k
    return math.floor(mean)


def _multinomial_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for graph_seed, seed in _SEEDS:
        for shape, count in (((1, 1), 1), ((2, 3), 5), ((3, 67), 4), ((0, 3), 2), ((2, 3), 0), ((4, 8), 9)):
            arguments = {"graph_seed": graph_seed, "num_samples": count, "seed": seed}
            logits = uniform(dtype, rng, shape)
            yield Sample(f"{count} of shape {shape}, seeds {graph_seed} and {seed}", (logits,), arguments)
    arguments = {"graph_seed": 5, "num_samples": 2001, "seed": 3}
    rows = constant(dtype, [[0.0, 1.0, 2.0, -1.5], [5.0, 5.0, -np.inf, 5.0]])
    yield Sample("long", (rows,), arguments, digest=_MULTINOMIAL_DIGESTS[dtype])
    rows = constant(dtype, [[-np.inf, -np.inf, -np.inf], [np.inf, 0.0, np.inf], [np.nan, 0.0, 1.0], [np.nan] * 3])
    yield Sample("NaN and infinities", (rows,), {"graph_seed": 5, "num_samples": 9, "seed": None})


def _multinomial_reference(logits: Array, graph_seed: int, num_samples: int, seed: int | None) -> Array:
    batch, classes = logits.shape
    drawn = iter(words(graph_seed, seed, 0, batch * num_samples).tolist())
    out = np.zeros((batch, num_samples), np.int64)
    for row in range(batch):
        known = [value for value in logits[row].tolist() if value == value]
        weights = [
            0.0 if value != value else 1.0 if value == max(known) else math.exp(value - max(known))
            for value in logits[row].tolist()
        ]
        for n in range(num_samples):
            mark = next(drawn) / 2.0**64 * sum(weights)
            sums = np.cumsum(weights).tolist()
            out[row, n] = next((k for k, total in enumerate(sums) if total > mark), classes - 1)
    return out


INFOS = (
    OpInfo(
        name="random_gamma",
        samples=_gamma_samples,
        reference=_gamma_reference,
        function=_seeded(_gamma),
        differentiable=False,
        errors=(
            ErrorSample(
                (np.ones(2, np.float32), 1),
                {"shape": (-1,), "seed": None},
                ValueError,
                "A shape's sizes are not negative; got -1.",
            ),
        ),
        # How well the normals' inverse distribution function is approximated decides; the least number is not 0.
        tolerances={
            "bfloat16": (8e-3, 1e-6),
            "float16": (1e-3, 7e-5),
            "float32": (1e-5, 1e-6),
            "float64": (1e-5, 1e-6),
        },
    ),
    OpInfo(
        name="random_poisson",
        samples=_poisson_samples,
        reference=_poisson_reference,
        function=_seeded(_poisson),
        differentiable=False,
        errors=(
            invalid(
                (np.ones(2, np.float32), 1),
                "random_poisson: dtype bool is not supported; use one of float16, float32, float64, int32, int64.",
                shape=(2,),
                dtype="bool",
                seed=None,
            ),
        ),
        tolerances={"float64": (0.0, 0.0), "float32": (0.0, 0.0)},
    ),
    OpInfo(
        name="multinomial",
        samples=_multinomial_samples,
        reference=_multinomial_reference,
        function=_seeded(_multinomial),
        differentiable=False,
        errors=(
            invalid(
                (np.ones(2, np.float32), 1),
                "multinomial: logits must have shape (batch, classes), with at least one class; got (2,).",
                num_samples=1,
                seed=None,
            ),
            invalid(
                (np.ones((2, 3), np.float32), 1),
                "multinomial: num_samples must not be negative; got -1.",
                num_samples=-1,
                seed=None,
            ),
            rejected("multinomial", "bool", FLOATING, (np.ones((1, 1), np.bool_), 1), num_samples=1, seed=None),
        ),
    ),
)
