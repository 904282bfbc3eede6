"""Convolutions, then an LSTM that reads the feature maps one after the other.

python examples/cnn_lstm.py                  # the 1,797 digits that scikit-learn carries
python examples/cnn_lstm.py --data FOLDER    # MNIST, from the four idx files in a folder
python examples/cnn_lstm.py --logdir logs    # with summaries for TensorBoard
"""

from __future__ import annotations

from typing import Any

import click

import agog as tf
import agog.eager as tfe


class Network(tf.keras.Model):
    """Two convolutions make 64 small maps; the LSTM sees each as one step of a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = tf.keras.layers.Conv2D(32, 5, padding="same", activation="relu")
        self.conv2 = tf.keras.layers.Conv2D(64, 5, padding="same", activation="relu")
        self.pool = tf.keras.layers.MaxPool2D()
        self.lstm = tf.keras.layers.LSTM(128)
        self.classes = tf.keras.layers.Dense(10)

    def call(self, images: Any) -> Any:
        maps = self.pool(self.conv2(self.pool(self.conv1(images))))
        batch, height, width, count = maps.shape.as_list()
        sequence = tf.reshape(tf.transpose(maps, (0, 3, 1, 2)), (batch, count, height * width))
        return self.classes(self.lstm(sequence))


def load(data: str) -> tuple[Any, Any]:
    """Batches of the training set and of the test set: images with one channel, and class numbers."""
    sets = tf.data.datasets.digits() if data == "digits" else tf.data.datasets.mnist(data)

    def scale(image: Any, label: Any) -> Any:
        return tf.expand_dims(tf.cast(image, tf.float32) / 255, -1), tf.cast(label, tf.int64)

    train, test = (tf.data.Dataset.from_tensor_slices(arrays) for arrays in sets)
    return train.shuffle(10_000).batch(64).map(scale).prefetch(2), test.batch(500).map(scale)


@tf.function
def train_step(network: Any, optimizer: Any, images: Any, labels: Any) -> Any:
    """A step by one batch; the batch's loss and logits."""
    with tf.GradientTape() as tape:
        logits = network(images)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, network.variables), 1.0)
    optimizer.apply_gradients(zip(gradients, network.variables, strict=True))
    return loss, logits


@click.command()
@click.option("--data", default="digits", help="digits, or a folder with the four idx files.")
@click.option("--epochs", type=click.IntRange(0), default=10, show_default=True)
@click.option("--logdir", help="A folder for summaries; none are written without it.")
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(device: str | None, function: bool, **options: Any) -> None:
    """Train a network of convolutions and an LSTM."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(data: str, epochs: int, logdir: str | None, seed: int) -> None:
    """Train, write summaries, test at the end."""
    tf.set_random_seed(seed)
    train, test = load(data)
    network = Network()
    optimizer = tf.train.AdamOptimizer(0.001)
    writer = tf.contrib.summary.create_file_writer(logdir)  # for None it writes nothing
    for epoch in range(epochs):
        mean_loss, accuracy = tfe.metrics.Mean(), tfe.metrics.SparseAccuracy()
        for images, labels in train:
            loss, logits = train_step(network, optimizer, images, labels)
            mean_loss(loss)
            accuracy(labels, logits)
        with writer.as_default(), tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("loss", mean_loss.result(), step=epoch + 1)
            tf.contrib.summary.scalar("accuracy", accuracy.result(), step=epoch + 1)
        shown = f"loss {float(mean_loss.result()):.4f}, accuracy {100 * float(accuracy.result()):.1f} %"
        click.echo(f"epoch {epoch + 1}: {shown}")
    accuracy = tfe.metrics.SparseAccuracy()
    for images, labels in test:
        accuracy(labels, network(images))
    click.echo(f"test accuracy: {100 * float(accuracy.result()):.1f} %")


if __name__ == "__main__":
    main()
