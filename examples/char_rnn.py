"""A network that reads text letter by letter and learns to go on with it.

python examples/char_rnn.py                     # learns from this repository's own pages
python examples/char_rnn.py --text FILE
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import agog as tf

PAGES = sorted(Path(__file__).parents[1].glob("**/*.md"))


class Reader(tf.keras.Model):
    """An embedding, a GRU, and logits for the next letter."""

    def __init__(self, letters: int, units: int) -> None:
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(letters, 32)
        self.gru = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.logits = tf.keras.layers.Dense(letters)

    def call(self, letters: Any, state: Any = None) -> tuple[Any, Any]:
        outputs, state = self.gru(self.embedding(letters), initial_state=state)
        return self.logits(outputs), state


def pieces(letters: Any, count: int, length: int) -> Any:
    """Pieces from anywhere in the text."""
    starts = tf.random_uniform([count, 1], 0, len(letters) - length + 1, dtype=tf.int32)
    return tf.gather(letters, starts + tf.range(length))


@tf.function
def train_step(reader: Any, optimizer: Any, letters: Any) -> Any:
    """A step by some pieces; their loss."""
    with tf.GradientTape() as tape:
        logits, _ = reader(letters[:, :-1])
        loss = tf.losses.sparse_softmax_cross_entropy(letters[:, 1:], logits)
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, reader.variables), 1.0)
    optimizer.apply_gradients(zip(gradients, reader.variables, strict=True))
    return loss


def write(reader: Reader, start: str, count: int, alphabet: str) -> str:
    """Text that the network goes on with, one letter after the other."""
    text, state = start, None
    letters = tf.constant([[alphabet.index(letter) for letter in start]])
    for _ in range(count):
        logits, state = reader(letters, state=state)
        letters = tf.multinomial(logits[:, -1] / 0.7, 1)
        text += alphabet[int(letters)]
    return text


@click.command()
@click.option("--text", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file of text.")
@click.option("--steps", type=click.IntRange(0), default=400, show_default=True)
@click.option("--units", type=click.IntRange(1), default=192, show_default=True)
@click.option("--length", type=click.IntRange(2), default=64, show_default=True, help="Letters in a sequence.")
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(device: str | None, function: bool, **options: Any) -> None:
    """Learn to write."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(text: Path | None, steps: int, units: int, length: int, seed: int) -> None:
    """Train on pieces of the text, then write."""
    tf.set_random_seed(seed)
    corpus = "\n".join(page.read_text(encoding="utf-8") for page in ([text] if text else PAGES))
    alphabet = "".join(sorted(set(corpus)))
    letters = tf.constant([alphabet.index(letter) for letter in corpus])
    reader = Reader(len(alphabet), units)
    optimizer = tf.train.AdamOptimizer(0.003)
    for step in range(steps):
        loss = train_step(reader, optimizer, pieces(letters, 32, length + 1))
        if step % 50 == 0:
            click.echo(f"step {step}: loss {float(loss):.3f}")
    click.echo(write(reader, "The ", 300, alphabet))


if __name__ == "__main__":
    main()
