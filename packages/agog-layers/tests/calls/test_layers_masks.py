"""Masks that go along with tensors: padded sequences give what the sequences alone give."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import (
    GRU,
    LSTM,
    Activation,
    Add,
    Bidirectional,
    Concatenate,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Input,
    Masking,
    Model,
    Sequential,
    SimpleRNN,
    TimeDistributed,
)
from agog_layers.calls.masks import known, mask_of

SEED = 35
LENGTHS = [5, 2, 3]
X = np.random.default_rng(SEED).normal(size=(3, 5, 2)) * (np.arange(5) < np.array(LENGTHS)[:, None])[:, :, None]
MASK = np.arange(5) < np.array(LENGTHS)[:, None]


def alone(run: Any) -> np.ndarray:
    """The last outputs of the examples, each without its padding."""
    return np.concatenate([run(X[n : n + 1, :length]).numpy() for n, length in enumerate(LENGTHS)])


@pytest.mark.parametrize("make", [LSTM, GRU, SimpleRNN, lambda units: Bidirectional(LSTM(units))])
def test_what_masking_marks_is_left_out(make: Any) -> None:
    layer = make(4)
    result = layer(Masking(dtype="float64")(X))
    np.testing.assert_allclose(result.numpy(), alone(layer), rtol=1e-11, err_msg=f"seed {SEED}")
    assert mask_of(result) is None


def layers() -> list[Any]:
    first = Masking(dtype="float64")
    return [first, Dense(3, "tanh"), Dropout(0.5), LSTM(4, return_sequences=True), Activation("relu"), GRU(3)]


def test_masks_go_along_in_models() -> None:
    parts = layers()
    sequential = Sequential(parts)
    result = sequential(X).numpy()

    def run(x: Any) -> Any:
        for part in parts[1:]:
            x = part(x)
        return x

    np.testing.assert_allclose(result, alone(run), rtol=1e-11, err_msg=f"seed {SEED}")
    symbol = Input((5, 2), dtype="float64")
    out = symbol
    for part in parts:
        out = part(out)
    np.testing.assert_array_equal(Model(symbol, out)(X).numpy(), result)


def test_masks_of_embeddings() -> None:
    embedding, layer = Embedding(10, 4, mask_zero=True), GRU(3)
    numbers = np.array([[1, 2, 0, 0], [3, 4, 5, 0]], np.int32)
    result = layer(embedding(numbers)).numpy()
    np.testing.assert_allclose(result[:1], layer(embedding(numbers[:1, :2])).numpy(), rtol=1e-5)
    np.testing.assert_allclose(result[1:], layer(embedding(numbers[1:, :3])).numpy(), rtol=1e-5)
    assert mask_of(Embedding(10, 4)(numbers)) is None


def test_where_masks_end() -> None:
    masked = Masking()(X)
    np.testing.assert_array_equal(mask_of(masked).numpy(), MASK)
    for layer in (Dense(2), Activation("tanh"), LSTM(2, return_sequences=True), TimeDistributed(Dense(2))):
        np.testing.assert_array_equal(mask_of(layer(masked)).numpy(), MASK)
    for layer in (Flatten(), LSTM(2)):
        assert mask_of(layer(masked)) is None
    outputs = LSTM(2, return_sequences=True, return_state=True)(masked)
    assert [mask_of(output) is None for output in outputs] == [False, True, True]


def test_masks_of_several_inputs() -> None:
    other = X.copy()
    other[0, 0] = 0
    masked = [Masking()(ag.constant(X)), Masking()(ag.constant(other))]
    both = MASK.copy()
    both[0, 0] = False
    np.testing.assert_array_equal(mask_of(Add()(masked)).numpy(), both)
    np.testing.assert_array_equal(mask_of(Concatenate()(masked)).numpy(), both)
    assert mask_of(Concatenate(1)(masked)) is None
    np.testing.assert_array_equal(mask_of(Add()([masked[0], ag.constant(X)])).numpy(), MASK)


def test_a_mask_that_is_given_is_taken() -> None:
    layer = LSTM(3)
    given = np.ones((3, 5), bool)
    np.testing.assert_array_equal(layer(Masking()(X), mask=given).numpy(), layer(X).numpy())


def test_masks_go_with_their_tensors() -> None:
    gc.collect()
    before = len(known)
    masked = Masking()(X)
    assert len(known) == before + 1
    del masked
    assert len(known) == before


def test_states_that_stay_are_not_those_of_a_trial() -> None:
    layer = LSTM(3, stateful=True, batch_input_shape=(3, 5, 2), dtype="float64")
    Sequential([layer])
    assert layer.built
    assert layer.states == [None, None]
