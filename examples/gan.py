"""Two networks against each other: one draws points, the other tells them from points on a ring.

    python examples/gan.py

I. Goodfellow et al., "Generative adversarial nets", 2014, with the second form of the generator's loss.
"""

from __future__ import annotations

import math
from typing import Any

import click

import agog as tf


def network(outputs: int) -> Any:
    """Two hidden layers."""
    layers = tf.keras.layers
    hidden = [layers.Dense(64, activation=tf.nn.leaky_relu) for _ in range(2)]
    return tf.keras.Sequential([*hidden, layers.Dense(outputs)])


def ring(count: int) -> Any:
    """Points at a distance of about 1 from the centre."""
    angle = tf.random_uniform([count], 0.0, 2 * math.pi)
    radius = 1 + 0.05 * tf.random_normal([count])
    return tf.stack([radius * tf.cos(angle), radius * tf.sin(angle)], 1)


@tf.function
def train_step(networks: Any, optimizers: Any, noise: Any, points: Any) -> Any:
    """A step of the generator and one of the discriminator, and their losses."""
    generator, discriminator = networks
    with tf.GradientTape() as tape_of_generator, tf.GradientTape() as tape_of_discriminator:
        drawn = discriminator(generator(noise))
        real = discriminator(points)
        generator_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(drawn), drawn)
        discriminator_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(real), real)
        discriminator_loss += tf.losses.sigmoid_cross_entropy(tf.zeros_like(drawn), drawn)
    for_generator = tape_of_generator.gradient(generator_loss, generator.variables)
    for_discriminator = tape_of_discriminator.gradient(discriminator_loss, discriminator.variables)
    optimizers[0].apply_gradients(zip(for_generator, generator.variables, strict=True))
    optimizers[1].apply_gradients(zip(for_discriminator, discriminator.variables, strict=True))
    return generator_loss, discriminator_loss


def picture(points: Any) -> str:
    """Points as text."""
    rows = [[" "] * 41 for _ in range(21)]
    for x, y in points:
        if abs(x) < 1.5 and abs(y) < 1.5:
            rows[round(10 - y / 0.15)][round(20 + x / 0.075)] = "o"
    return "\n".join("".join(row).rstrip() for row in rows)


def draw(real: Any, drawn: Any, file: str) -> None:
    """Points as a picture."""
    import matplotlib.pyplot as plt  # here, because most runs do not need it

    figure, axes = plt.subplots(figsize=(4, 4))
    axes.plot(*real.T, ".", color="0.8", label="real")
    axes.plot(*drawn.T, ".", color="C3", markersize=4, label="drawn")
    axes.set_aspect("equal")
    axes.legend(loc="center")
    figure.savefig(file, dpi=120)


@click.command()
@click.option("--steps", type=click.IntRange(0), default=3000, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--picture", "file", help="A file for a picture, which needs matplotlib.")
def main(device: str | None, function: bool, **options: Any) -> None:
    """Train a generator and a discriminator, and print what the generator draws."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(steps: int, seed: int, file: str | None = None) -> None:
    """Let the two networks learn from each other, and draw."""
    tf.set_random_seed(seed)
    networks = generator, _ = network(2), network(1)
    optimizers = tf.train.AdamOptimizer(0.001, 0.5), tf.train.AdamOptimizer(0.001, 0.5)
    for step in range(steps):
        generator_loss, discriminator_loss = train_step(networks, optimizers, tf.random_normal([256, 8]), ring(256))
        if step % 500 == 0:
            click.echo(
                f"step {step}: generator {float(generator_loss):.3f}, discriminator {float(discriminator_loss):.3f}"
            )
    points = generator(tf.random_normal([500, 8]))
    distance = tf.norm(points, axis=1)
    near = tf.reduce_mean(tf.cast(tf.abs(distance - 1) < 0.2, tf.float32))
    click.echo(picture(points.numpy()))
    if file:
        draw(ring(500).numpy(), points.numpy(), file)
    click.echo(f"near the ring: {100 * float(near):.0f} %")


if __name__ == "__main__":
    main()
