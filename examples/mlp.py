"""The shortest training loop: a model, a tape, an optimizer, a metric.

python examples/mlp.py                  # the 1,797 digits that scikit-learn carries
python examples/mlp.py --data FOLDER    # MNIST, from the four idx files in a folder
"""

from __future__ import annotations

from typing import Any

import click

import agog as tf
import agog.eager as tfe


def load(data: str) -> tuple[Any, Any]:
    """The training set and the test set, as datasets of single examples."""
    sets = tf.data.datasets.digits() if data == "digits" else tf.data.datasets.mnist(data)

    def scale(image: Any, label: Any) -> Any:
        return tf.reshape(tf.cast(image, tf.float32) / 255, (len(image), -1)), tf.cast(label, tf.int64)

    train, test = (tf.data.Dataset.from_tensor_slices(arrays) for arrays in sets)
    return train.shuffle(10_000).batch(128).map(scale), test.batch(1000).map(scale)


def make_model() -> Any:
    """Two hidden layers."""
    return tf.keras.Sequential(
        [
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


@tf.function
def train_step(model: Any, optimizer: Any, images: Any, labels: Any) -> Any:
    """A step by one batch; the batch's loss."""
    with tf.GradientTape() as tape:
        loss = tf.losses.sparse_softmax_cross_entropy(labels, model(images))
    gradients = tape.gradient(loss, model.variables)
    optimizer.apply_gradients(zip(gradients, model.variables, strict=True))
    return loss


def accuracy(model: Any, batches: Any) -> float:
    """The share of correctly classified examples."""
    metric = tfe.metrics.SparseAccuracy()
    for images, labels in batches:
        metric(labels, model(images))
    return float(metric.result())


@click.command()
@click.option("--data", default="digits", help="digits, or a folder with the four idx files.")
@click.option("--epochs", type=click.IntRange(0), default=20, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(device: str | None, function: bool, **options: Any) -> None:
    """Train a network with two hidden layers on handwritten digits."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(data: str, epochs: int, seed: int) -> None:
    """Train, test at the end."""
    tf.set_random_seed(seed)
    train, test = load(data)
    model = make_model()
    optimizer = tf.train.AdamOptimizer(0.001)
    for epoch in range(epochs):
        mean_loss = tfe.metrics.Mean()
        for images, labels in train:
            mean_loss(train_step(model, optimizer, images, labels))
        click.echo(f"epoch {epoch + 1}: loss {float(mean_loss.result()):.4f}")
    click.echo(f"test accuracy: {100 * accuracy(model, test):.1f} %")


if __name__ == "__main__":
    main()
