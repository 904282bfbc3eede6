"""Networks: models that Keras of TensorFlow and agog make of the same code, and optimizers with the same formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def sequential(K: Any) -> Any:
    """Layers without weights between others."""
    layers = K.layers
    return K.Sequential([layers.Dense(4, activation="relu"), layers.Dropout(0.5), layers.Dense(3, activation="tanh")])


def with_input(K: Any) -> Any:
    """A sequential model whose layers are built at once."""
    return K.Sequential([K.Input((4,)), K.layers.Activation("tanh"), K.layers.Dense(3), K.layers.Dense(2)])


def normalized(K: Any) -> Any:
    """A functional model with layers of statistics."""
    layers = K.layers
    x = K.Input((4,))
    h = layers.BatchNormalization()(layers.Dense(4)(x))
    h = layers.LayerNormalization(epsilon=1e-3)(layers.Activation("relu")(h))
    return K.Model(x, layers.Dense(2)(h))


def convolutional(K: Any) -> Any:
    layers = K.layers
    x = K.Input((8, 8, 2))
    h = layers.MaxPooling2D()(layers.BatchNormalization()(layers.Conv2D(3, 3, activation="relu")(x)))
    return K.Model(x, layers.Dense(2)(layers.Flatten()(h)))


def separable(K: Any) -> Any:
    layers = K.layers
    return K.Sequential(
        [
            layers.SeparableConv2D(3, 2, depth_multiplier=2, activation="tanh"),
            layers.DepthwiseConv2D(2, depth_multiplier=2),
            layers.Conv2DTranspose(2, 2, strides=2),
            layers.GlobalAveragePooling2D(),
        ]
    )


def lstm(K: Any) -> Any:
    layers = K.layers
    one = layers.LSTM(3, return_sequences=True, recurrent_activation="sigmoid")
    return K.Sequential([one, layers.LSTM(2, recurrent_activation="sigmoid"), layers.Dense(2)])


def gru(K: Any) -> Any:
    """Both forms: the reset gate before the product, and behind it."""
    layers = K.layers
    before = layers.GRU(3, return_sequences=True, reset_after=False, recurrent_activation="sigmoid")
    return K.Sequential([before, layers.GRU(2, reset_after=True, recurrent_activation="sigmoid")])


def simple_rnn(K: Any) -> Any:
    return K.Sequential([K.layers.SimpleRNN(3, return_sequences=True), K.layers.TimeDistributed(K.layers.Dense(2))])


def stacked_cells(K: Any) -> Any:
    layers = K.layers
    cells = [layers.LSTMCell(3, recurrent_activation="sigmoid"), layers.SimpleRNNCell(2)]
    return K.Sequential([layers.RNN(cells), layers.Dense(2)])


def embedding(K: Any) -> Any:
    layers = K.layers
    both = layers.Bidirectional(layers.LSTM(2, recurrent_activation="sigmoid"))
    return K.Sequential([layers.Embedding(20, 3), both, layers.Dense(2)])


def attention(K: Any) -> Any:
    layers = K.layers
    x = K.Input((5, 4))
    h = layers.MultiHeadAttention(num_heads=2, key_dim=3)(x, x)
    h = layers.Attention(use_scale=True)([h, x])
    return K.Model(x, layers.Dense(2)(layers.GlobalAveragePooling1D()(h)))


def nested(K: Any) -> Any:
    """Models in models, of each kind."""
    layers = K.layers
    x = K.Input((4,))
    inner = K.Model(x, layers.Dense(3, activation="tanh")(x))
    tail = K.Sequential([layers.Dense(3, activation="relu"), layers.Dense(2)])
    y = K.Input((4,))
    return K.Model(y, tail(inner(y)))


def shared(K: Any) -> Any:
    """A layer that is called twice, in a model of two inputs."""
    layers = K.layers
    one, other = K.Input((4,)), K.Input((4,))
    tower = layers.Dense(3, activation="tanh")
    h = layers.Concatenate()([tower(one), tower(other), layers.Dense(2)(other)])
    return K.Model([one, other], layers.Dense(2)(h))


def branched(K: Any) -> Any:
    """Branches of several depths, whose layers Keras lists by depth."""
    layers = K.layers
    x = K.Input((4,))
    long = layers.Dense(4, activation="relu")(layers.Dense(4, activation="tanh")(layers.Dense(4)(x)))
    short = layers.Dense(4, activation="sigmoid")(x)
    return K.Model(x, layers.Dense(2)(layers.Add()([short, long])))


def subclassed(K: Any) -> Any:
    class Classifier(K.Model):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = K.layers.Dense(4, activation="relu")
            self.norm = K.layers.BatchNormalization()
            self.tail = K.Sequential([K.layers.Dense(3, activation="tanh"), K.layers.Dense(2)])

        def call(self, inputs: Any, training: Any = None) -> Any:
            return self.tail(self.norm(self.hidden(inputs), training=training))

    return Classifier()


def containers(K: Any) -> Any:
    """Layers in a list, a dict and a tuple."""

    class Blocks(K.Model):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [K.layers.Dense(4, activation="tanh") for _ in range(2)]
            self.heads = {"a": K.layers.Dense(2), "b": K.layers.Dense(2)}
            self.ends = (K.layers.Dense(3, activation="relu"),)

        def call(self, inputs: Any, training: Any = None) -> Any:
            for block in self.blocks:
                inputs = block(inputs)
            inputs = self.ends[0](inputs)
            return self.heads["a"](inputs) + self.heads["b"](inputs)

    return Blocks()


def pieces(K: Any) -> Any:
    """Layers that have weights of other names."""
    layers = K.layers
    return K.Sequential(
        [
            layers.Conv1D(3, 2),
            layers.PReLU(),
            layers.EinsumDense("abc,cd->abd", output_shape=(None, 3), bias_axes="d"),
            layers.GroupNormalization(groups=1, epsilon=1e-3),
            layers.Conv1DTranspose(2, 2),
            layers.GlobalMaxPooling1D(),
        ]
    )


_FEATURES, _SEQUENCES, _IMAGES = (3, 4), (3, 5, 4), (3, 8, 8, 2)
MODELS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "sequential": (sequential, _FEATURES),
    "with_input": (with_input, _FEATURES),
    "normalized": (normalized, _FEATURES),
    "convolutional": (convolutional, _IMAGES),
    "separable": (separable, _IMAGES),
    "lstm": (lstm, _SEQUENCES),
    "gru": (gru, _SEQUENCES),
    "simple_rnn": (simple_rnn, _SEQUENCES),
    "stacked_cells": (stacked_cells, _SEQUENCES),
    "embedding": (embedding, (3, 5)),
    "attention": (attention, _SEQUENCES),
    "nested": (nested, _FEATURES),
    "shared": (shared, _FEATURES),
    "branched": (branched, _FEATURES),
    "subclassed": (subclassed, _FEATURES),
    "containers": (containers, _FEATURES),
    "pieces": (pieces, _SEQUENCES),
}


def inputs_of(name: str) -> Any:
    """What a model is called on: always the same."""
    shape = MODELS[name][1]
    random = np.random.RandomState(7)
    if name == "embedding":
        # Each once: Keras 3 squares the gradients of a row one by one, and sums them up only then.
        return random.permutation(20)[: shape[0] * shape[1]].reshape(shape)
    one = random.uniform(-1, 1, shape).astype(np.float32)
    return [one, random.uniform(-1, 1, shape).astype(np.float32)] if name == "shared" else one
