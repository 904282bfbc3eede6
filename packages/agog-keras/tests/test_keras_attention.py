"""Attention of ``tf.keras.ops``, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_keras.ops.attention import dot_product_attention
from agog_testing import says

rng = np.random.default_rng(11)
Q, K, V = rng.normal(size=(2, 5, 3, 4)), rng.normal(size=(2, 6, 3, 4)), rng.normal(size=(2, 6, 3, 4))
BIAS, MASK = rng.normal(size=(1, 3, 5, 6)), rng.random((2, 1, 5, 6)) > 0.4
MASK[0, 0, 2] = False  # a query that sees none


def expected(
    scale: float = 0.5, bias: Any = None, mask: Any = None, is_causal: bool = False, cap: float | None = None
) -> Any:
    scores = np.einsum("bqhd,bkhd->bhqk", Q, K) * scale
    scores = scores if cap is None else cap * np.tanh(scores / cap)
    scores = scores if bias is None else scores + bias
    seen = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    seen = seen & np.tril(seen.copy() | True) if is_causal else seen
    weights = np.exp(scores - scores.max(-1, keepdims=True)) * seen
    blind = ~seen.any(-1, keepdims=True)
    weights = np.where(blind, 1.0, weights)
    return np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(-1, keepdims=True), V)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize("bias", [None, BIAS])
@pytest.mark.parametrize("cap", [None, 0.7])
def test_means(cap: float | None, bias: Any, mask: Any, is_causal: bool) -> None:
    got = dot_product_attention(Q, K, V, bias, mask, is_causal=is_causal, attn_logits_soft_cap=cap)
    wanted = expected(bias=bias, mask=mask, is_causal=is_causal, cap=cap)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5 if mask is not None else 1e-9, atol=1e-9)


def test_scale() -> None:
    got = dot_product_attention(Q, K, V, scale=2.0)
    np.testing.assert_allclose(got.numpy(), expected(2.0), rtol=1e-9)


def test_gradients_reach_all_inputs() -> None:
    tensors = [ag.constant(each) for each in (Q, K, V, BIAS)]
    with ag.GradientTape() as tape:
        tape.watch(tensors)
        out = dot_product_attention(*tensors, is_causal=True)
    assert [g.shape for g in tape.gradient(out, tensors)] == [each.shape for each in tensors]


def test_shapes_without_heads() -> None:
    text = (
        "dot_product_attention: query, key and value must be of shape (batch, places, heads, depth); got shapes (5, 3, "
        "4), (5, 3, 4) and (5, 3, 4)."
    )
    with says(InvalidArgumentError, text):
        dot_product_attention(Q[0], Q[0], Q[0])
