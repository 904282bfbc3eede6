"""Train a network with two hidden layers and dropout on handwritten digits, with Adam.

    python examples/mnist.py                      # the 1,797 digits that scikit-learn carries
    python examples/mnist.py --data mnist         # MNIST, downloaded into the user's cache
    python examples/mnist.py --data FOLDER        # MNIST, from the four idx files in a folder
    python examples/mnist.py --resume             # go on from the last checkpoint

All that the training is made of is in one `Checkpoint`: weights, Adam's slots, the place in the shuffled data, the
random numbers, the metrics and the step. So a run that is killed at any step and resumed ends with the same bits as one
that was not.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

import agog as tf
import agog.eager as tfe


class NeuralNet(tfe.Network):
    """Two hidden layers of 256 neurons, dropout, and one output for each class."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden1 = self.track_layer(tf.layers.Dense(256, activation=tf.nn.relu))
        self.hidden2 = self.track_layer(tf.layers.Dense(256, activation=tf.nn.relu))
        self.dropout = self.track_layer(tf.layers.Dropout(0.2))
        self.classes = self.track_layer(tf.layers.Dense(10))

    def call(self, images: Any, training: bool = False) -> Any:
        return self.classes(self.dropout(self.hidden2(self.hidden1(images)), training=training))


def load(data: str) -> Any:
    """((training images, labels), (test images, labels)), as NumPy arrays of bytes."""
    if data == "digits":
        return tf.data.datasets.digits()
    return tf.data.datasets.mnist(tf.data.datasets.download_mnist() if data == "mnist" else data)


def slices(images: Any, labels: Any) -> Any:
    """A dataset of single examples."""
    return tf.data.Dataset.from_tensor_slices((images.reshape(len(images), -1), labels))


def scale(images: Any, labels: Any) -> Any:
    """Pixels in [0, 1], and class numbers."""
    return tf.cast(images, tf.float32) / 255, tf.cast(labels, tf.int64)


@tf.function
def train_step(network: Any, optimizer: Any, metrics: Any, images: Any, labels: Any) -> None:
    """One batch."""
    with tf.GradientTape() as tape:
        logits = network(images, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels)
        loss = tf.reduce_mean(losses)
    optimizer.apply_gradients(zip(tape.gradient(loss, network.variables), network.variables, strict=True))
    metrics["loss"](losses)
    metrics["accuracy"](labels, logits)


def test(network: Any, batches: Any) -> float:
    """The share of correctly classified examples."""
    accuracy = tfe.metrics.SparseAccuracy()
    for images, labels in batches:
        accuracy(labels, network(images))
    return float(accuracy.result())


@click.command()
@click.option("--data", default="digits", help="digits, mnist, or a folder with the four idx files.")
@click.option("--epochs", type=click.IntRange(0), help="20 for digits, 5 for MNIST by default.")
@click.option("--batch-size", type=click.IntRange(1), default=128, show_default=True)
@click.option("--learning-rate", type=float, default=0.001, show_default=True)
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--prefer", help="The plugin whose kernels run before all others.")
@click.option("--checkpoints", type=click.Path(path_type=Path), default=Path("checkpoints"), show_default=True)
@click.option("--save-every", type=click.IntRange(1), help="Steps between checkpoints; one epoch by default.")
@click.option("--workers", type=click.IntRange(0), default=0, show_default=True, help="Threads that prepare batches.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint.")
def main(device: str | None, prefer: str | None, function: bool, **options: Any) -> None:
    """Train a network with two hidden layers on handwritten digits."""
    try:
        if prefer:
            tf.prefer(prefer)
        tf.config.run_functions_eagerly(not function)
        with tf.device(device):
            run(**options)
    except (tf.errors.OpError, ImportError, RuntimeError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def run(
    data: str,
    epochs: int | None,
    batch_size: int,
    learning_rate: float,
    seed: int,
    checkpoints: Path,
    save_every: int | None,
    workers: int,
    resume: bool,
) -> None:
    """Train, save now and then, test at the end."""
    tf.set_random_seed(seed)
    (images, labels), test_set = load(data)
    epochs = epochs if epochs is not None else 20 if data == "digits" else 5
    steps_per_epoch = math.ceil(len(labels) / batch_size)
    shuffled = slices(images, labels).shuffle(len(labels), seed=seed).batch(batch_size)
    batches = tfe.Iterator(shuffled.map(scale, num_parallel_calls=workers or None).repeat().prefetch(2))
    network = NeuralNet()
    optimizer = tf.train.AdamOptimizer(learning_rate)
    metrics = {"loss": tfe.metrics.Mean(), "accuracy": tfe.metrics.SparseAccuracy()}
    step = tfe.Variable(0, trainable=False, name="step")
    checkpoint = tf.train.Checkpoint(
        network=network,
        optimizer=optimizer,
        batches=batches,
        metrics=metrics,
        random=tf.random.generator(),
        step=step,
    )

    manager = tf.train.CheckpointManager(checkpoint, checkpoints, max_to_keep=3)
    if resume:
        if manager.latest_checkpoint is None:
            raise tf.errors.NotFoundError(f"--resume: there is no checkpoint in {checkpoints}; train without it first.")
        checkpoint.restore(manager.latest_checkpoint)
        click.echo(f"resumed from {manager.latest_checkpoint}, after step {int(step)}")
    while int(step) < epochs * steps_per_epoch:
        epoch, done = divmod(int(step), steps_per_epoch)
        if done == 0:
            for metric in metrics.values():
                metric.init_variables()
        with tqdm(total=steps_per_epoch, initial=done, desc=f"epoch {epoch + 1}/{epochs}", unit=" batches") as progress:
            for _ in range(done, steps_per_epoch):
                train_step(network, optimizer, metrics, *next(batches))
                step.assign_add(1)
                results = {name: f"{float(metric.result()):.4f}" for name, metric in metrics.items()}
                progress.set_postfix(results, refresh=False)
                progress.update()
                if int(step) % (save_every or steps_per_epoch) == 0:
                    manager.save(checkpoint_number=step)
    click.echo(f"test accuracy: {100 * test(network, slices(*test_set).batch(1000).map(scale)):.1f} %")


if __name__ == "__main__":
    main()
