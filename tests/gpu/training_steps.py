"""Training steps of three networks, on any device, each with its data and its optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agog as tf


class Training:
    """A network that learns to tell classes apart from one batch, with Adam.

    Args:
        network: makes the network.
        batch: the shape of the batch.
        device: where.
    """

    def __init__(self, network: Callable[[], Any], batch: tuple[int, ...], device: str) -> None:
        numbers = np.random.default_rng(0)
        self.inputs = numbers.random(batch, "float32")
        self.labels = np.arange(batch[0]) % 10
        self.device = device
        tf.set_random_seed(7)
        with tf.device(device):
            self.network = network()
            self.network(tf.constant(self.inputs))  # which makes the weights
            self.optimizer = tf.train.AdamOptimizer(0.01)

    def step(self) -> Any:
        """One step; gives the loss, which nobody has waited for."""
        with tf.device(self.device):
            inputs, labels = tf.constant(self.inputs), tf.constant(self.labels)
            with tf.GradientTape() as tape:
                loss = tf.losses.sparse_softmax_cross_entropy(labels, self.network(inputs, training=True))
            variables = self.network.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss


def perceptron(units: int = 64) -> Any:
    """Two layers."""
    return tf.keras.Sequential([tf.keras.layers.Dense(units, activation="relu"), tf.keras.layers.Dense(10)])


def convolutions(filters: int = 8) -> Any:
    """A convolution, normalized over the batch, pooled, and a layer."""
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu"),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.MaxPool2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(10),
        ]
    )


def recurrent(units: int = 16) -> Any:
    """An LSTM, and a layer."""
    return tf.keras.Sequential([tf.keras.layers.LSTM(units), tf.keras.layers.Dense(10)])


SMALL: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "perceptron": (perceptron, (32, 20)),
    "convolutions": (convolutions, (8, 8, 8, 1)),
    "recurrent": (recurrent, (8, 20, 6)),
}
"""By name: what makes the network, and the shape of a batch."""
