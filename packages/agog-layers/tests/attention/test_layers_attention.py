"""Attention layers, against loops over queries in NumPy, in float64."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from agog_layers import AdditiveAttention, Attention, MultiHeadAttention
from agog_layers.attention.attention import BaseAttention
from agog_testing.gradcheck import gradcheck

SEED = 34
RNG = np.random.default_rng(SEED)
QUERY, VALUE, KEY = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 6)), RNG.normal(size=(2, 5, 4))
QUERY_MASK = np.array([[1, 1, 0], [0, 1, 1]], bool)
VALUE_MASK = np.array([[1, 1, 0, 1, 0], [1, 1, 1, 1, 1]], bool)

KINDS = ("kernel", "bias")


def softmax(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    shares = np.where(allowed, np.exp(scores - scores[allowed].max()), 0)
    return np.asarray(shares / shares.sum())


def attend(score: Any, q: np.ndarray, v: np.ndarray, k: np.ndarray, allowed: Any) -> tuple[np.ndarray, np.ndarray]:
    weights = np.zeros((len(q), q.shape[1], k.shape[1]))
    for b, i in np.ndindex(*weights.shape[:2]):
        scores = np.array([score(q[b, i], key) for key in k[b]])
        weights[b, i] = softmax(scores, allowed(b, i))
    return np.array([weights[b] @ v[b] for b in range(len(q))]), weights


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("make", [Attention, AdditiveAttention])
def test_attention(make: Any, scaled: bool, masked: bool, causal: bool) -> None:
    layer = make(use_scale=scaled, causal=causal, dtype="float64")
    layer([QUERY, VALUE, KEY])
    scale: Any = 1.0
    if scaled:
        layer.scale.assign(np.random.default_rng(SEED).normal(size=layer.scale.shape.as_list()))
        scale = layer.scale.numpy()
    assert [variable.name.partition("/")[2] for variable in layer.weights] == ["scale:0"] * scaled
    mask = [QUERY_MASK, VALUE_MASK] if masked else None
    result, weights = layer([QUERY, VALUE, KEY], mask=mask, return_attention_scores=True)

    def score(q: np.ndarray, k: np.ndarray) -> Any:
        return (scale * np.tanh(q + k)).sum() if make is AdditiveAttention else scale * (q @ k)

    def allowed(b: int, i: int) -> np.ndarray:
        past = np.arange(5) <= i if causal else np.ones(5, bool)
        return past & VALUE_MASK[b] if masked else past

    wanted, shares = attend(score, QUERY, VALUE, KEY, allowed)
    if masked:
        wanted = wanted * QUERY_MASK[:, :, None]
    np.testing.assert_allclose(weights.numpy(), shares, rtol=1e-11, atol=1e-14, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-11, atol=1e-14, err_msg=f"seed {SEED}")
    assert layer.compute_mask(None, mask) is (QUERY_MASK if masked else None)
    gradcheck(lambda q, v, k: layer([q, v, k], mask=mask), [QUERY, VALUE[:, :, :2], KEY], seed=SEED)


def test_values_are_the_keys_unless_given() -> None:
    layer = Attention()
    np.testing.assert_array_equal(layer([QUERY, KEY]).numpy(), layer([QUERY, KEY, KEY]).numpy())


def test_half_precision_has_masks_too() -> None:
    x = np.ones((1, 2, 2), np.float16)
    result = Attention()([x, x * np.array([[[1], [2]]], np.float16)], mask=[None, [[True, False]]])
    np.testing.assert_array_equal(result.numpy(), [[[1, 1], [1, 1]]])


def project(x: np.ndarray, weights: list[np.ndarray], head: int) -> np.ndarray:
    return x @ weights[0][:, head] + weights[1][head]


@pytest.mark.parametrize("mask", [None, "of all examples", "of each example"])
@pytest.mark.parametrize("causal", [False, True])
def test_several_heads(mask: str | None, causal: bool) -> None:
    layer = MultiHeadAttention(num_heads=2, key_dim=3, value_dim=5, output_shape=7, name="heads", dtype="float64")
    layer(QUERY, VALUE, KEY)
    rng = np.random.default_rng(SEED)
    for variable in layer.weights:
        variable.assign(rng.normal(size=variable.shape.as_list()))
    given: Any = None
    if mask is not None:
        given = rng.random((2, 3, 5) if "each" in mask else (3, 5)) < 0.6
        given[..., 0] = True
    options = {"attention_mask": given, "use_causal_mask": causal}
    result, weights = layer(QUERY, VALUE, KEY, return_attention_scores=True, **options)
    w = [variable.numpy() for variable in layer.weights]

    def allowed(b: int, i: int) -> np.ndarray:
        past = np.arange(5) <= i if causal else np.ones(5, bool)
        return past if given is None else past & np.broadcast_to(given, (2, 3, 5))[b, i]

    wanted = np.zeros((2, 3, 7)) + w[7]
    for head in range(2):
        q, k, v = project(QUERY, w[0:2], head), project(KEY, w[2:4], head), project(VALUE, w[4:6], head)
        means, shares = attend(lambda a, b: a @ b / np.sqrt(3), q, v, k, allowed)
        wanted = wanted + means @ w[6][head]
        np.testing.assert_allclose(weights.numpy()[:, head], shares, rtol=1e-10, atol=1e-14, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-10, atol=1e-13, err_msg=f"seed {SEED}")
    gradcheck(lambda a, b, c: layer(a, b, c, **options)[:1, :, :2], [QUERY, VALUE, KEY], seed=SEED)


def test_weights_have_the_shapes_of_keras() -> None:
    layer = MultiHeadAttention(2, 3, 5, name="heads")
    layer(QUERY, VALUE, KEY)
    parts = {"query": ([4, 2, 3], [2, 3]), "key": ([4, 2, 3], [2, 3]), "value": ([6, 2, 5], [2, 5])}
    parts["attention_output"] = ([2, 5, 4], [4])
    wanted = {
        f"heads/{part}/{what}:0": shape for part, both in parts.items() for what, shape in zip(KINDS, both, strict=True)
    }
    assert {variable.name: variable.shape.as_list() for variable in layer.weights} == wanted
    assert list(wanted) == [variable.name for variable in layer.weights]
    assert len(MultiHeadAttention(2, 3, use_bias=False).weights) == 0
    plain = MultiHeadAttention(2, 3, use_bias=False)
    assert plain(QUERY).shape == QUERY.shape
    assert len(plain.weights) == 4


def test_weights_are_dropped_while_training() -> None:
    x = np.random.default_rng(SEED).normal(size=(4, 8, 4))
    for layer in (Attention(dropout=0.5), MultiHeadAttention(2, 4, dropout=0.5)):
        inputs = [[x, x]] if isinstance(layer, Attention) else [x]
        _, weights = layer(*inputs, return_attention_scores=True, training=True)
        _, plain = layer(*inputs, return_attention_scores=True)
        kept = weights.numpy() != 0
        assert 0.3 < kept.mean() < 0.7
        np.testing.assert_allclose(weights.numpy()[kept], 2 * plain.numpy()[kept], rtol=1e-6)


@pytest.mark.parametrize(
    "layer", [Attention(True, True, 0.5), AdditiveAttention(False), MultiHeadAttention(2, 3, output_shape=4)]
)
def test_layers_are_made_again_from_their_description(layer: Any) -> None:
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (
            lambda: Attention(name="n")(QUERY),
            ValueError,
            "Attention layer 'n' takes a list of queries and values, or of queries, values and keys; got Tensor.",
        ),
        (
            lambda: Attention(name="n")([QUERY]),
            ValueError,
            "Attention layer 'n' takes a list of queries and values, or of queries, values and keys; got 1 inputs.",
        ),
        (
            lambda: Attention(name="n")([QUERY, VALUE]),
            ValueError,
            "Attention layer 'n' takes queries of shape (batch, queries, size), values of shape (batch, keys, any size)"
            " and keys of shape (batch, keys, size); got shapes (2, 3, 4), (2, 5, 6) and (2, 5, 6).",
        ),
        (
            lambda: Attention(name="n")([QUERY, KEY], mask=QUERY_MASK),
            ValueError,
            "Attention layer 'n' takes a list of the masks of the queries and of the values, with None for no mask; "
            "got ndarray.",
        ),
        (lambda: Attention(dropout=1.0), ValueError, "Attention: dropout must be in [0, 1); got 1.0."),
        (
            lambda: BaseAttention()([QUERY, KEY]),
            NotImplementedError,
            "BaseAttention.scores is not implemented; it compares queries with keys.",
        ),
        (lambda: MultiHeadAttention(0, 1), ValueError, "MultiHeadAttention: num_heads must be above 0; got 0."),
        (
            lambda: MultiHeadAttention(1, 1, dropout=2.0),
            ValueError,
            "MultiHeadAttention: dropout must be in [0, 1); got 2.0.",
        ),
        (
            lambda: MultiHeadAttention(1, 1, name="n")(QUERY, VALUE, KEY[:, :4]),
            ValueError,
            "MultiHeadAttention layer 'n' takes queries of shape (batch, queries, size), and values and keys of shape "
            "(batch, keys, size); got shapes (2, 3, 4), (2, 5, 6) and (2, 4, 4).",
        ),
        (
            lambda: MultiHeadAttention(1, 1, name="n")(QUERY, VALUE, attention_mask=VALUE_MASK),
            ValueError,
            "MultiHeadAttention layer 'n': attention_mask must be of shape (batch, 3, 5) or (3, 5); got (2, 5).",
        ),
    ],
)
def test_errors(run: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        run()


def test_other_widths_name_the_layer() -> None:
    layer = MultiHeadAttention(1, 1, name="n")
    layer(QUERY, VALUE)
    text = "MultiHeadAttention layer 'n' takes a key of shape (batch, time, 6); got shape (2, 5, 4)."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        layer(QUERY, VALUE, KEY)
