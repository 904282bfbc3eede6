"""Uniform and normal: facts about the random numbers of a seed, on every backend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.ops.random import uniform_and_normal as random
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import FLOATING, Rng, invalid

_SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (2, 3), (0,), (67,), (20_001,))
_SEEDS = ((1, None), (2**63 + 5, 7), (0, 0))
# The calls that are tested are not the first ones of their seeds: each call goes on where the last one stopped.
_SKIPPED = 5
# The SHA-256 of the longest sample of normals. Their reference is only near; these say that every bit is right.
_NORMAL_DIGESTS = {
    "bfloat16": "dd00f0ccf353fb2480cca24e3a37239d18f9e18ec5444987f91575b29a28b6e0",
    "float16": "db5e390a019233bd100fcf7156f92c2b488e54448f2f48282b4f029edfff2bc0",
    "float32": "81bd6baa497e93b2c5d7bcb215410cf0319d75ba5ccc9ed3dc5e29bbd4bfedc8",
    "float64": "2f54527ae3bf3916793416c8aa9c8efe9dd1ac32ad16285bce45fd6d1a992c51",
}


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for graph_seed, seed in _SEEDS:
        for shape in _SHAPES if seed is None else _SHAPES[2:3]:
            arguments = {"shape": shape, "dtype": dtype, "seed": seed, "graph_seed": graph_seed}
            yield Sample(f"shape {shape}, seeds {graph_seed} and {seed}", (), arguments)


def _sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    arguments = {"shape": (size,), "dtype": dtype, "seed": None, "graph_seed": 3}
    yield Sample(f"shape {(size,)}", (), arguments)


def _integers_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for sample in _sized(dtype, rng, size):
        yield Sample(sample.name, (), {**sample.kwargs, "minval": -3, "maxval": 8})


def _normal_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for sample in _samples(dtype, rng):
        is_long = sample.kwargs["shape"] == _SHAPES[-1]
        yield replace(sample, digest=_NORMAL_DIGESTS[dtype]) if is_long else sample


def _integer_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for sample in _samples(dtype, rng):
        yield Sample(sample.name, (), {**sample.kwargs, "minval": -3, "maxval": 8})
    limits = np.iinfo(dtype)
    arguments = {"shape": (5,), "dtype": dtype, "seed": None, "graph_seed": 3}
    yield Sample("all integers", (), {**arguments, "minval": int(limits.min), "maxval": int(limits.max)})


def _uniform(graph_seed: int, **arguments: Any) -> Any:
    """Set the seed, draw a few numbers, and then those that are tested."""
    ag.set_random_seed(graph_seed)
    random.random_uniform(**{**arguments, "shape": (_SKIPPED,)})
    return random.random_uniform(**arguments)


def _normal(graph_seed: int, **arguments: Any) -> Any:
    ag.set_random_seed(graph_seed)
    random.random_normal(**{**arguments, "shape": (_SKIPPED,)})
    return random.random_normal(**arguments)


def words(graph_seed: int, seed: int | None, skipped: int, count: int) -> Array:
    """64-bit values of NumPy's own Philox, after those that an earlier call took; a call takes whole blocks of four."""
    key = np.array([graph_seed, 0 if seed is None else seed + 1], np.uint64)
    return np.random.Philox(key=key, counter=[-(-skipped // 4), 0, 0, 0]).random_raw(count)


def _halves(graph_seed: int, seed: int | None, count: int) -> list[int]:
    drawn = words(graph_seed, seed, -(-_SKIPPED // 2), -(-count // 2))
    return [half for word in drawn.tolist() for half in (word & 0xFFFFFFFF, word >> 32)][:count]


def _uniform_reference(graph_seed: int, shape: tuple[int, ...], dtype: str, seed: int | None) -> Array:
    count = int(np.prod(shape, dtype=int))
    if dtype == "float64":
        values = [(word >> 11) * 2.0**-53 for word in words(graph_seed, seed, _SKIPPED, count).tolist()]
    else:
        bits = {"bfloat16": 8, "float16": 11, "float32": 24}[dtype]
        values = [(half >> (32 - bits)) * 2.0**-bits for half in _halves(graph_seed, seed, count)]
    return np.array(values, np.float64).reshape(shape)


def _integer_reference(
    graph_seed: int, shape: tuple[int, ...], dtype: str, seed: int | None, minval: int, maxval: int
) -> Array:
    count = int(np.prod(shape, dtype=int))
    drawn = words(graph_seed, seed, _SKIPPED, count).tolist()
    return np.array([word % (maxval - minval) + minval for word in drawn], np.int64).reshape(shape)


def _normal_reference(graph_seed: int, shape: tuple[int, ...], dtype: str, seed: int | None) -> Array:
    quantile = NormalDist().inv_cdf
    count = int(np.prod(shape, dtype=int))
    values = [quantile(((half >> 9) + 0.5) * 2.0**-23) for half in _halves(graph_seed, seed, count)]
    return np.array(values, np.float64).reshape(shape)


_INSIDE = NormalDist().cdf(2) - NormalDist().cdf(-2)
_TRUNCATED_DIGESTS = {
    "bfloat16": "57067d0d9a9995ddc4985800c9c7b34d00fcd4b52affc5caf05a5ed8f0997cd4",
    "float16": "3fa69590fd317d2c3bb5b06dcf6d2534e65022696e20f596ca572788b557f607",
    "float32": "ee9793279d3593496a099b75411670a8195f24a3ab1f1d4413365bed7072b627",
    "float64": "11c6185359a84304c3e4ef8d2306551f604e6c1e63cd4b71ce24a375a627b58d",
}


def _truncated_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for sample in _samples(dtype, rng):
        is_long = sample.kwargs["shape"] == _SHAPES[-1]
        yield replace(sample, digest=_TRUNCATED_DIGESTS[dtype]) if is_long else sample


def _truncated(graph_seed: int, **arguments: Any) -> Any:
    ag.set_random_seed(graph_seed)
    random.truncated_normal(**{**arguments, "shape": (_SKIPPED,)})
    return random.truncated_normal(**arguments)


def _truncated_reference(graph_seed: int, shape: tuple[int, ...], dtype: str, seed: int | None) -> Array:
    count = int(np.prod(shape, dtype=int))
    midpoints = [((half >> 9) + 0.5) * 2.0**-23 for half in _halves(graph_seed, seed, count)]
    values = [NormalDist().inv_cdf(0.5 + (p - 0.5) * _INSIDE) for p in midpoints]
    return np.array(values, np.float64).reshape(shape)


def _permutation_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for graph_seed, seed in _SEEDS:
        for count in (0, 1, 2, 67, 1000):
            arguments = {"graph_seed": graph_seed, "count": count, "seed": seed}
            yield Sample(f"{count} in seeds {graph_seed} and {seed}", (), arguments)


def _permutation(graph_seed: int, count: int, seed: int | None) -> Any:
    ag.set_random_seed(graph_seed)
    random.random_permutation(_SKIPPED, seed)
    return random.random_permutation(count, seed)


def _permutation_reference(graph_seed: int, count: int, seed: int | None) -> Array:
    keys = words(graph_seed, seed, _SKIPPED, count).tolist()
    return np.array(sorted(range(count), key=lambda n: keys[n]), np.int64)


def _rejected(op: str, dtype: str) -> ErrorSample:
    text = f"{op}: dtype {dtype} is not supported; use one of {FLOATING}. Cast with tf.cast."
    return invalid((1,), text, shape=(2,), dtype=dtype)


# Drawn in float32 and rounded once; how well the inverse distribution function is approximated decides.
_NORMAL = {"bfloat16": (8e-3, 1e-6), "float16": (1e-3, 2e-6), "float32": (2e-6, 1e-6), "float64": (2e-6, 1e-6)}

INFOS = (
    OpInfo(
        name="random_uniform",
        samples=_samples,
        sized=_sized,
        reference=_uniform_reference,
        function=_uniform,
        differentiable=False,
        errors=(_rejected("random_uniform", "bool"),),
        tolerances=dict.fromkeys(("bfloat16", "float16", "float32", "float64"), (0.0, 0.0)),
    ),
    OpInfo(
        name="random_integers",
        samples=_integer_samples,
        sized=_integers_sized,
        reference=_integer_reference,
        function=_uniform,
        differentiable=False,
        errors=(
            ErrorSample(
                (1,),
                {"shape": (2,), "dtype": "int32"},
                ValueError,
                "random_uniform: maxval must be given for dtype int32.",
                "int32",
            ),
            invalid(
                (1,),
                "random_uniform: for dtype int32 minval must be below maxval; got [3, 3).",
                "int32",
                shape=(2,),
                dtype="int32",
                minval=3,
                maxval=3,
            ),
        ),
    ),
    OpInfo(
        name="random_normal",
        samples=_normal_samples,
        sized=_sized,
        reference=_normal_reference,
        function=_normal,
        differentiable=False,
        errors=(_rejected("random_normal", "int32"),),
        tolerances=_NORMAL,
    ),
    OpInfo(
        name="truncated_normal",
        samples=_truncated_samples,
        sized=_sized,
        reference=_truncated_reference,
        function=_truncated,
        differentiable=False,
        errors=(_rejected("truncated_normal", "int32"),),
        tolerances=_NORMAL,
    ),
    OpInfo(
        name="random_permutation",
        samples=_permutation_samples,
        reference=_permutation_reference,
        function=_permutation,
        differentiable=False,
        errors=(ErrorSample((1, -1, None), {}, ValueError, "A shape's sizes are not negative; got -1.", "int64"),),
    ),
)
