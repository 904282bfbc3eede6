"""Weights in files that Keras has written: each layer gets what Keras's own layer has."""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "jax"

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import agog as tf

# Keras's own variables speak an older NumPy's.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")
FILES = ("m.keras", "m.weights.h5", "m.h5")


def convolutional(layers: Any, build: Any) -> Any:
    """One network, of either framework's layers."""
    return build(
        [
            layers.Conv2D(4, 3, name="c"),
            layers.BatchNormalization(name="n"),
            layers.SeparableConv2D(3, 2, name="s"),
            layers.Flatten(),
            layers.Dense(5, activation="relu", name="d1"),
            layers.Dense(2, name="d2"),
        ]
    )


def save(model: Any, path: Path) -> None:
    if path.name.endswith(".weights.h5"):
        model.save_weights(path)
    else:
        model.save(path)


def randomize(model: Any) -> None:
    random = np.random.RandomState(0)
    model.set_weights([random.rand(*w.shape).astype("float32") for w in model.get_weights()])


@pytest.mark.parametrize("name", FILES)
def test_convolutions(tmp_path: Path, name: str) -> None:
    x = np.random.RandomState(1).rand(2, 8, 8, 3).astype("float32")
    theirs = convolutional(keras.layers, keras.Sequential)
    expected = np.asarray(theirs(x))
    randomize(theirs)
    expected = np.asarray(theirs(x))
    save(theirs, tmp_path / name)
    ours = convolutional(tf.keras.layers, tf.keras.Sequential)
    ours(x)
    ours.load_weights(tmp_path / name)
    np.testing.assert_allclose(ours(x).numpy(), expected, rtol=2e-5)


@pytest.mark.parametrize("name", FILES[:2])
def test_recurrent_and_attending_layers(tmp_path: Path, name: str) -> None:
    def build(framework: Any) -> Any:
        layers = framework.layers
        x = framework.Input((5,), dtype="int32")
        y = layers.Embedding(10, 4)(x)
        y = layers.LSTM(3, return_sequences=True, recurrent_activation="sigmoid")(y)
        gru = layers.GRU(2, return_sequences=True, reset_after=True, recurrent_activation="sigmoid")
        y = layers.Bidirectional(gru)(y)
        y = layers.MultiHeadAttention(2, 3)(y, y)
        y = layers.TimeDistributed(layers.Dense(2))(y)
        return framework.Model(x, layers.LayerNormalization(epsilon=1e-3)(y))

    x = np.array([[1, 2, 3, 4, 5], [9, 8, 7, 6, 5]], "int32")
    theirs = build(keras)
    randomize(theirs)
    save(theirs, tmp_path / name)
    ours = build(tf.keras)
    ours.load_weights(tmp_path / name)
    np.testing.assert_allclose(ours(x).numpy(), np.asarray(theirs(x)), rtol=2e-4, atol=1e-5)


def test_layers_inside_of_layers(tmp_path: Path) -> None:
    def derived(framework: Any) -> Any:
        layers = framework.layers

        class Derived(framework.Model):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.first = layers.Dense(3)
                self.blocks = [layers.Dense(4), layers.Dense(2)]
                self.inner = framework.Sequential([layers.Dense(2), layers.Dense(3)])

            def call(self, inputs: Any) -> Any:
                x = self.first(inputs)
                for block in self.blocks:
                    x = block(x)
                return self.inner(x)

        return Derived()

    x = np.random.RandomState(1).rand(4, 2).astype("float32")
    theirs, ours = derived(keras), derived(tf.keras)
    theirs(x)
    ours(x)
    randomize(theirs)
    theirs.save_weights(tmp_path / "m.weights.h5")
    ours.load_weights(tmp_path / "m.weights.h5")
    np.testing.assert_allclose(ours(x).numpy(), np.asarray(theirs(x)), rtol=2e-5)
