"""Fit a line one example at a time, with a loss that forgives outliers; the loss is chosen by Python's `if`.

    python examples/huber.py                              # points with outliers, made here
    python examples/huber.py --data birth_life_2010.txt   # or lines of name, x and y, with tabs between them

P. J. Huber, "Robust estimation of a location parameter", 1964.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import agog as tf
import agog.eager as tfe


def load(data: Path | None) -> list[tuple[float, float]]:
    """Pairs of x and y."""
    if data is None:
        x = tf.random_uniform([190], 1.0, 7.0)
        is_outlier = tf.cast(tf.random_uniform([190]) < 0.1, tf.float32)
        y = 85 - 6 * x + 4 * tf.random_normal([190]) - 30 * is_outlier
        return list(zip(x.numpy().tolist(), y.numpy().tolist(), strict=True))
    rows = [line.split("\t") for line in data.read_text(encoding="utf-8").splitlines()[1:]]
    return [(float(x), float(y)) for _, x, y in rows]


class Line:
    """A slope and an offset."""

    def __init__(self) -> None:
        self.slope, self.offset = tfe.Variable(0.0, name="slope"), tfe.Variable(0.0, name="offset")

    def __call__(self, x: Any) -> Any:
        return self.slope * x + self.offset


def huber(error: Any, width: float = 1.0) -> Any:
    """A parabola near zero, straight lines beyond."""
    if tf.abs(error) <= width:
        return error * error
    return width * (2 * tf.abs(error) - width)


def loss(line: Line, x: Any, y: Any) -> Any:
    """Of one example."""
    return huber(y - line(x))


value_and_gradients = tfe.implicit_value_and_gradients(loss)


@tf.function
def train_step(line: Line, optimizer: Any, x: Any, y: Any) -> Any:
    """A step by one example; its loss."""
    value, gradients = value_and_gradients(line, x, y)
    optimizer.apply_gradients(gradients)
    return value


def draw(examples: list[tuple[float, float]], slope: float, offset: float, file: str) -> None:
    """The points and the line as a picture."""
    import matplotlib.pyplot as plt  # here, because most runs do not need it

    x, y = zip(*examples, strict=True)
    ends = [min(x), max(x)]
    figure, axes = plt.subplots(figsize=(5, 3.5))
    axes.plot(x, y, ".", color="0.6")
    axes.plot(ends, [slope * end + offset for end in ends], color="C3")
    figure.savefig(file, dpi=120)


@click.command()
@click.option("--data", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file with a header.")
@click.option("--epochs", type=click.IntRange(0), default=30, show_default=True)
@click.option("--learning-rate", type=float, default=0.01, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--picture", "file", help="A file for a picture, which needs matplotlib.")
def main(device: str | None, function: bool, **options: Any) -> None:
    """Fit a line, an update after each example."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(data: Path | None, epochs: int, learning_rate: float, seed: int, file: str | None = None) -> None:
    """Go through the examples, and print the line."""
    tf.set_random_seed(seed)
    examples = load(data)
    # Around their mean: where all x are on one side of 0, the slope has to wait for the offset, and that takes long.
    mean = sum(x for x, _ in examples) / len(examples)
    points = [(tf.constant(x - mean), tf.constant(y)) for x, y in examples]
    line = Line()
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    for epoch in range(epochs):
        total = 0.0
        for x, y in points:
            total += float(train_step(line, optimizer, x, y))
        if epoch % 10 == 0:
            click.echo(f"epoch {epoch}: average loss {total / len(examples):.4f}")
    slope = float(line.slope)
    offset = float(line.offset) - slope * mean
    if file:
        draw(examples, slope, offset, file)
    click.echo(f"y = {slope:.2f} * x + {offset:.2f}")


if __name__ == "__main__":
    main()
