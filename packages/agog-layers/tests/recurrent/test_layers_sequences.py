"""Wrappers of recurrent layers, and masks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import GRU, LSTM, Bidirectional, Dense, Dropout, Flatten, Masking, SimpleRNN, TimeDistributed

SEED = 32
X = np.random.default_rng(SEED).normal(size=(3, 5, 2))
MERGES: dict[str, Any] = {
    "sum": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "ave": lambda x, y: (x + y) / 2,
    "concat": lambda x, y: np.concatenate([x, y], -1),
}


@pytest.mark.parametrize("mode", MERGES)
@pytest.mark.parametrize("sequences", [False, True])
def test_both_directions(mode: str, sequences: bool) -> None:
    layer = Bidirectional(GRU(4, return_sequences=sequences, dtype="float64"), merge_mode=mode)
    out = layer(X).numpy()
    assert len(layer.trainable_variables) == 6
    forward = layer.forward_layer(X).numpy()
    backward = GRU(4, return_sequences=sequences, dtype="float64")
    backward.build((None, None, 2))
    backward.set_weights(layer.backward_layer.get_weights())
    turned = backward(X[:, ::-1]).numpy()
    np.testing.assert_allclose(out, MERGES[mode](forward, turned[:, ::-1] if sequences else turned), rtol=1e-12)


def test_both_directions_with_states() -> None:
    layer = Bidirectional(LSTM(4, return_state=True), name="both")
    output, *states = layer(X)
    assert output.shape == (3, 8)
    assert [state.shape.as_list() for state in states] == [[3, 4]] * 4
    np.testing.assert_array_equal(output.numpy(), np.concatenate([states[0].numpy(), states[2].numpy()], 1))
    again, *_ = layer(X, initial_state=states)
    with_list, *_ = layer([X, *states])
    np.testing.assert_array_equal(again.numpy(), with_list.numpy())
    first, second = Bidirectional(SimpleRNN(4), merge_mode=None)(X)
    assert first.shape == second.shape == (3, 4)
    name = layer.name
    assert [v.name for v in layer.weights][::3] == [
        f"{name}/{layer.forward_layer.name}/kernel:0",
        f"{name}/{layer.backward_layer.name}/kernel:0",
    ]
    assert layer.forward_layer.name.startswith("forward_lstm")


def test_both_directions_with_masks() -> None:
    layer = Bidirectional(LSTM(4, dtype="float64"), dtype="float64")
    whole = layer(X[:, :3]).numpy()
    mask = np.repeat([[True, True, True, False, False]], 3, 0)
    np.testing.assert_allclose(layer(X, mask=mask).numpy(), whole, rtol=1e-12)


def test_both_directions_from_a_description() -> None:
    layer = Bidirectional(LSTM(4, dtype="float64"), merge_mode="sum")
    again = Bidirectional.from_config(layer.get_config())
    assert (again.merge_mode, again.layer.units, again.get_config()) == ("sum", 4, layer.get_config())
    layer(X)
    again = Bidirectional(LSTM(4, dtype="float64"), merge_mode="sum", weights=layer.get_weights())
    np.testing.assert_array_equal(again(X).numpy(), layer(X).numpy())


def test_a_layer_at_each_time() -> None:
    inner = Dense(3, dtype="float64")
    out = TimeDistributed(inner)(X).numpy()
    np.testing.assert_allclose(out, X @ inner.kernel.numpy(), rtol=1e-12)
    images = np.random.default_rng(SEED).normal(size=(2, 3, 4, 5)).astype(np.float32)
    np.testing.assert_array_equal(TimeDistributed(Flatten())(images).numpy(), images.reshape(2, 3, 20))
    dropped = TimeDistributed(Dropout(0.5))(np.ones((2, 3, 50)), training=True).numpy()
    assert set(dropped.ravel().tolist()) == {0.0, 2.0}


def test_masking() -> None:
    x = np.array([[[1.0, 5.0], [9.0, 9.0], [9.0, 0.0]]])
    layer = Masking(9.0)
    np.testing.assert_array_equal(layer.compute_mask(ag.constant(x)).numpy(), [[True, False, True]])
    np.testing.assert_array_equal(layer(x).numpy(), [[[1.0, 5.0], [0.0, 0.0], [9.0, 0.0]]])
    assert Masking.from_config(layer.get_config()).mask_value == 9.0
    assert layer.compute_output_shape((None, 3, 2)).as_list() == [None, 3, 2]


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (
            lambda: Bidirectional(SimpleRNN(2), merge_mode="max"),
            ValueError,
            "Bidirectional: merge_mode must be one of sum, mul, ave, concat or None; got 'max'.",
        ),
        (
            lambda: TimeDistributed(3),
            ValueError,
            "TimeDistributed: Please initialize `TimeDistributed` layer with a `Layer` instance; got 3 of type int.",
        ),
        (
            lambda: TimeDistributed(Dense(2), name="n")(np.zeros((2, 3))),
            ValueError,
            "TimeDistributed layer 'n' takes inputs of shape (batch, time, ...) with more behind; got shape (2, 3).",
        ),
    ],
)
def test_errors(run: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        run()


def test_a_layer_with_variables_is_not_doubled() -> None:
    layer = LSTM(2, name="n")
    layer(X)
    text = (
        "Bidirectional: layer 'n' has variables already, and two new layers are made as it is described. Pass a new "
        "one, and arrays as weights."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Bidirectional(layer)
