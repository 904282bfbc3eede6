"""Masks that go along with the inputs of MultiHeadAttention."""

from __future__ import annotations

import numpy as np

import agog_core as ag
from agog_layers import Embedding, MultiHeadAttention


def test_masked_values_are_not_seen() -> None:
    ids = np.array([[3, 1, 4, 0, 0], [2, 2, 1, 3, 4]])
    x = Embedding(5, 4, mask_zero=True)(ids)
    layer = MultiHeadAttention(2, 3)
    found = layer(x, x).numpy()
    alone = layer(ag.constant(x.numpy()[:1, :3]), ag.constant(x.numpy()[:1, :3])).numpy()
    np.testing.assert_allclose(found[:1, :3], alone, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], layer(ag.constant(x.numpy()[1:])).numpy()[0], rtol=1e-5, atol=1e-6)
    causal = layer(x, x, use_causal_mask=True).numpy()
    np.testing.assert_allclose(causal[0, 0], layer(ag.constant(x.numpy()[:1, :1])).numpy()[0, 0], rtol=1e-5, atol=1e-6)
    assert abs(causal - found).max() > 1e-4
