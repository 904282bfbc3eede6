"""Attention: softmax of scaled products of queries and keys, times values, and the gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.nn.softmax import softmax, softmax_grad
from agog_kernels_xp.parts.rows import wide


def dot_product_attention(
    xp: Any, query: Array, key: Array, value: Array, bias: Array, *, factor: float, is_causal: bool
) -> Array:
    """softmax(factor * query @ key^T + bias) @ value."""
    weights = _weights(xp, wide(query), wide(key), bias, factor, is_causal)
    return xp.matmul(weights, wide(value)).astype(query.dtype, copy=False)


def dot_product_attention_grad(
    xp: Any,
    gradients: Array,
    query: Array,
    key: Array,
    value: Array,
    bias: Array,
    *,
    factor: float,
    is_causal: bool,
    sources: tuple[str, ...],
) -> tuple[Array, ...]:
    """Its gradients."""
    g, q, k = wide(gradients), wide(query), wide(key)
    weights = _weights(xp, q, k, bias, factor, is_causal)
    slopes = softmax_grad(xp, xp.matmul(g, wide(value).swapaxes(-1, -2)), weights, axis=weights.ndim - 1)
    slopes *= factor
    found: dict[str, Callable[[], Array]] = {
        "query": lambda: xp.matmul(slopes, k),
        "key": lambda: xp.matmul(slopes.swapaxes(-1, -2), q),
        "value": lambda: xp.matmul(weights.swapaxes(-1, -2), g),
    }
    return tuple([found[source]().astype(query.dtype, copy=False) for source in sources])


def _weights(xp: Any, query: Array, key: Array, bias: Array, factor: float, is_causal: bool) -> Array:
    scores = xp.matmul(query, key.swapaxes(-1, -2))
    scores *= factor
    if bias.size:
        scores += wide(bias)
    if is_causal:
        queries, keys = scores.shape[-2:]
        seen = xp.arange(queries)[:, None] >= xp.arange(keys)
        scores = xp.where(seen, scores, scores.dtype.type(-xp.inf))
    return softmax(xp, scores, axis=scores.ndim - 1)
