"""Fit a line to points around 3 * x + 2, with gradients of a plain Python function.

python examples/linear_regression.py
"""

from __future__ import annotations

from typing import Any

import click

import agog as tf
import agog.eager as tfe


class Line:
    """A slope and an offset: variables are found wherever a loss reads them."""

    def __init__(self) -> None:
        self.slope = tfe.Variable(5.0, name="slope")
        self.offset = tfe.Variable(10.0, name="offset")

    def __call__(self, x: Any) -> Any:
        return self.slope * x + self.offset


def mean_squared_error(line: Line, x: Any, y: Any) -> Any:
    """The mean of the squared distances along y."""
    return tf.reduce_mean(tf.square(line(x) - y))


gradients = tfe.implicit_gradients(mean_squared_error)


@tf.function
def train_step(line: Line, optimizer: Any, x: Any, y: Any) -> None:
    """A step by all points."""
    optimizer.apply_gradients(gradients(line, x, y))


@click.command()
@click.option("--steps", type=click.IntRange(0), default=300, show_default=True)
@click.option("--learning-rate", type=float, default=0.02, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(device: str | None, function: bool, **options: Any) -> None:
    """Fit a line by gradient descent."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(steps: int, learning_rate: float, seed: int) -> None:
    """Make noisy points, and fit the line to them."""
    tf.set_random_seed(seed)
    x = tf.random_normal([1000])
    y = 3 * x + 2 + tf.random_normal([1000])
    line = Line()
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    for step in range(steps):
        if step % 50 == 0:
            click.echo(f"step {step:3d}: loss {float(mean_squared_error(line, x, y)):.4f}")
        train_step(line, optimizer, x, y)
    click.echo(f"loss: {float(mean_squared_error(line, x, y)):.4f}")
    click.echo(f"y = {float(line.slope):.2f} * x + {float(line.offset):.2f}")


if __name__ == "__main__":
    main()
