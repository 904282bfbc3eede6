"""A convolutional network on handwritten digits: two convolutions with pooling, dropout, Adam.

    python examples/cnn.py                  # the 1,797 digits that scikit-learn carries
    python examples/cnn.py --data FOLDER    # MNIST, from the four idx files in a folder

Y. LeCun et al., "Gradient-based learning applied to document recognition", 1998.
"""

from __future__ import annotations

from typing import Any

import click

import agog as tf
import agog.eager as tfe


class Network(tf.keras.Model):
    """Layers that are assigned to attributes are found, saved and restored."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = tf.keras.layers.Conv2D(32, 5, padding="same", activation="relu")
        self.conv2 = tf.keras.layers.Conv2D(64, 5, padding="same", activation="relu")
        self.pool = tf.keras.layers.MaxPool2D()
        self.flatten = tf.keras.layers.Flatten()
        self.hidden = tf.keras.layers.Dense(256, activation="relu")
        self.dropout = tf.keras.layers.Dropout(0.5)
        self.classes = tf.keras.layers.Dense(10)

    def call(self, images: Any, training: bool = False) -> Any:
        features = self.pool(self.conv2(self.pool(self.conv1(images))))
        return self.classes(self.dropout(self.hidden(self.flatten(features)), training=training))


def load(data: str) -> tuple[Any, Any]:
    """Batches of the training set and of the test set: images with one channel, and class numbers."""
    sets = tf.data.datasets.digits() if data == "digits" else tf.data.datasets.mnist(data)

    def scale(image: Any, label: Any) -> Any:
        return tf.expand_dims(tf.cast(image, tf.float32) / 255, -1), tf.cast(label, tf.int64)

    train, test = (tf.data.Dataset.from_tensor_slices(arrays) for arrays in sets)
    return train.shuffle(10_000).batch(50).map(scale).prefetch(2), test.batch(500).map(scale)


@tf.function
def train_step(network: Any, optimizer: Any, images: Any, labels: Any) -> Any:
    """A step by one batch; the batch's loss."""
    with tf.GradientTape() as tape:
        logits = network(images, training=True)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer.apply_gradients(zip(tape.gradient(loss, network.variables), network.variables, strict=True))
    return loss


@click.command()
@click.option("--data", default="digits", help="digits, or a folder with the four idx files.")
@click.option("--epochs", type=click.IntRange(0), default=10, show_default=True)
@click.option("--learning-rate", type=float, default=0.001, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(device: str | None, function: bool, **options: Any) -> None:
    """Train a convolutional network."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(data: str, epochs: int, learning_rate: float, seed: int) -> None:
    """Train, test at the end."""
    tf.set_random_seed(seed)
    train, test = load(data)
    network = Network()
    optimizer = tf.train.AdamOptimizer(learning_rate)
    for epoch in range(epochs):
        mean_loss = tfe.metrics.Mean()
        for images, labels in train:
            mean_loss(train_step(network, optimizer, images, labels))
        click.echo(f"epoch {epoch + 1}: loss {float(mean_loss.result()):.4f}")
    accuracy = tfe.metrics.SparseAccuracy()
    for images, labels in test:
        accuracy(labels, network(images))
    click.echo(f"test accuracy: {100 * float(accuracy.result()):.1f} %")


if __name__ == "__main__":
    main()
