"""Attention: facts about the ops of agog_core.ops.nn.attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import FLOATING, Rng, constant, invalid, rejected, uniform


class Case(NamedTuple):
    """The sizes of a call, the shape of its mask, and whether it is causal."""

    batch: tuple[int, ...]
    queries: int
    keys: int
    depth: int
    width: int
    mask: tuple[int, ...] | None = None
    is_causal: bool = False

    def arrays(self, dtype: str, rng: Rng) -> tuple[Array, ...]:
        """Queries, keys, values, and the mask if there is one."""
        rows = (self.queries, self.depth), (self.keys, self.depth), (self.keys, self.width)
        shapes = [(*self.batch, *row) for row in rows] + ([] if self.mask is None else [self.mask])
        return tuple([uniform(dtype, rng, shape, -1, 1) for shape in shapes])

    def gradients(self, dtype: str, rng: Rng) -> Array:
        """The gradients of the result."""
        return uniform(dtype, rng, (*self.batch, self.queries, self.width), -1, 1)


_CASES = (
    Case((), 1, 1, 1, 1),
    Case((), 3, 4, 2, 5),
    Case((2,), 3, 3, 4, 2, is_causal=True),
    Case((2, 3), 2, 5, 3, 3, (2, 5)),
    Case((2, 2), 4, 3, 2, 2, (2, 1, 1, 3), is_causal=True),
    Case((1, 2), 5, 2, 2, 3, (1,), is_causal=True),
    Case((2, 1), 3, 2, 2, 2, (2, 1, 3, 1)),
    Case((1, 2), 3, 17, 16, 18, (2, 3, 17)),
    Case((2,), 0, 3, 2, 2),
    Case((0,), 2, 3, 2, 2, is_causal=True),
    Case((), 2, 3, 2, 0),
)
_SMALL = Case((2,), 2, 3, 2, 2)


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for case in _CASES:
        yield Sample(str(case), case.arrays(dtype, rng), {"factor": 0.5, "is_causal": case.is_causal})
    yield Sample("the factor of the depth", Case((2,), 3, 4, 5, 2).arrays(dtype, rng))
    booleans = np.array([[True, False, True]] * 2)
    yield Sample("booleans", (*_SMALL.arrays(dtype, rng), booleans), smooth=False)
    query, key, value = _SMALL.arrays(dtype, rng)
    query[0, 0, 0] = np.nan
    yield Sample("NaN", (query, key, value), smooth=False)
    unseen = constant(dtype, [[0.0, -np.inf, 0.0], [-np.inf, -np.inf, 0.0]])
    yield Sample("minus infinity", (*_SMALL.arrays(dtype, rng), unseen), smooth=False)


def _wide(size: int) -> tuple[Case, ...]:
    return Case((size,), 2, 3, 2, 2), Case((), size, 3, 2, 2), Case((), 2, 3, size, 2), Case((), 2, 3, 2, size)


def _sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for case in _wide(size):
        yield Sample(str(case), case.arrays(dtype, rng), {"factor": 1 / size})


def _weights(query: Array, key: Array, mask: Array | None, factor: float, is_causal: bool) -> Array:
    scores = np.einsum("...qd,...kd->...qk", query, key) * factor
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True, initial=-np.inf))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def _attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    factor: float | None = None,
    is_causal: bool = False,
) -> Array:
    weights = _weights(query, key, mask, query.shape[-1] ** -0.5 if factor is None else factor, is_causal)
    return np.asarray(np.einsum("...qk,...kv->...qv", weights, value))


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for case in _CASES:
        arrays = case.gradients(dtype, rng), *case.arrays(dtype, rng)
        yield Sample(str(case), arrays, {"factor": 0.5, "is_causal": case.is_causal})
    for sources in (("query",), ("key",), ("value",), ("query", "value")):
        arrays = _SMALL.gradients(dtype, rng), *_SMALL.arrays(dtype, rng)
        yield Sample(f"of {sources}", arrays, {"sources": sources})


def _sized_grad(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for case in _wide(size):
        yield Sample(str(case), (case.gradients(dtype, rng), *case.arrays(dtype, rng)), {"factor": 1 / size})


def _attention_grad(
    gradients: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    factor: float = 1.0,
    is_causal: bool = False,
    sources: Any = ("query", "key", "value"),
) -> tuple[Array, ...]:
    weights = _weights(query, key, mask, factor, is_causal)
    of_weights = np.einsum("...qv,...kv->...qk", gradients, value)
    slopes = weights * (of_weights - (weights * of_weights).sum(-1, keepdims=True)) * factor
    found = {
        "query": np.einsum("...qk,...kd->...qd", slopes, key),
        "key": np.einsum("...qk,...qd->...kd", slopes, query),
        "value": np.einsum("...qk,...qv->...kv", weights, gradients),
    }
    return tuple([found[source] for source in sources])


# Sums of products of sums, in other orders.
_TOLERANCES = {"float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "float32": (1e-5, 1e-5), "float64": (1e-12, 1e-12)}
_Q, _K = np.ones((2, 3, 4), np.float32), np.ones((2, 5, 4), np.float32)

INFOS = (
    OpInfo(
        name="dot_product_attention",
        samples=_samples,
        reference=_attention,
        sized=_sized,
        errors=(
            invalid(
                (_Q, _K[:1], _K),
                "dot_product_attention: query must be of shape (..., queries, depth), key of shape (..., keys, depth) "
                "and value of shape (..., keys, any size); got shapes (2, 3, 4), (1, 5, 4) and (2, 5, 4).",
            ),
            invalid(
                (_Q, _K, _K, np.ones((4, 5), np.float32)),
                "dot_product_attention: mask must broadcast to the scores' shape (2, 3, 5); got shape (4, 5).",
            ),
            rejected("dot_product_attention", "int32", FLOATING, tuple([np.ones((1, 1), np.int32)] * 3)),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="dot_product_attention_grad",
        samples=_grad_samples,
        reference=_attention_grad,
        sized=_sized_grad,
        errors=(
            invalid(
                (_Q, _Q, _K, _K[..., :2]),
                "dot_product_attention_grad: gradients must be of shape (2, 3, 2); got (2, 3, 4).",
            ),
        ),
        tolerances=_TOLERANCES,
    ),
)
