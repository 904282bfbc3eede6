"""Attention: that of ``tf.keras.ops``, whose heads stand behind the places."""

from __future__ import annotations

import math
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike
from agog_core.errors import InvalidArgumentError
from agog_core.ops.nn.attention import additive
from agog_core.ops.nn.attention import dot_product_attention as attention
from agog_keras.ops.dtypes import floats
from agog_layers.attention.attention import causal_mask

__all__ = ["dot_product_attention"]


def dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    bias: TensorLike | None = None,
    mask: TensorLike | None = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: Any = None,
    attn_logits_soft_cap: float | None = None,
) -> Tensor:
    """Means of values, weighted by the softmax of scaled products of queries and keys, for each head.

    A. Vaswani et al., "Attention is all you need", NIPS 2017.

    Args:
        query: floats of shape (batch, queries, heads, depth).
        key: of shape (batch, keys, heads, depth).
        value: of shape (batch, keys, heads, depth).
        bias: what is added to the scores, in a shape that broadcasts to (batch, heads, queries, keys).
        mask: booleans of such a shape: which keys a query sees. A query that sees none gets the mean of all values.
        scale: what the products are multiplied by; by default ``1 / sqrt(depth)``.
        is_causal: whether a query sees only the keys up to its own place.
        attn_logits_soft_cap: what scores do not exceed, by ``cap * tanh(scores / cap)``; None for no limit.

    Returns:
        A tensor of the shape of the queries.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    >>> import agog_core as ag
    >>> query, value = ag.ones([1, 2, 1, 3]), ag.constant([[[[1.0, 2.0, 3.0]], [[3.0, 4.0, 5.0]]]])
    >>> print(dot_product_attention(query, value, value, is_causal=True)[0, 0, 0])
    tf.Tensor([1. 2. 3.], shape=(3,), dtype=float32)
    """
    q, k, v = (floats(each) for each in (query, key, value))
    if not q.ndim == k.ndim == v.ndim == 4:
        raise InvalidArgumentError(
            "dot_product_attention: query, key and value must be of shape (batch, places, heads, depth); got shapes "
            f"{q.shape}, {k.shape} and {v.shape}."
        )
    factor = 1 / math.sqrt(max(1, q.shape[-1] or 1)) if scale is None else scale
    q, k, v = (ag.transpose(each, (0, 2, 1, 3)) for each in (q, k, v))
    seen = None if mask is None else ag.cast(mask, "bool")
    if is_causal and (seen is not None or attn_logits_soft_cap is not None):
        past = causal_mask(q.shape[2], k.shape[2])
        seen, is_causal = past if seen is None else seen & past, False
    added = None if bias is None else ag.cast(bias, q.dtype)
    if seen is not None:
        hidden = additive(seen, q.dtype)
        added = hidden if added is None else added + hidden
    if attn_logits_soft_cap is None:
        means = attention(q, k, v, added, factor, is_causal)
    else:
        scores = ag.tanh(ag.matmul(q, k, transpose_b=True) * (factor / attn_logits_soft_cap)) * attn_logits_soft_cap
        means = ag.nn.softmax(scores if added is None else scores + added) @ v
    return ag.transpose(means, (0, 2, 1, 3))
