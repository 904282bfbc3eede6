"""A small transformer that learns to copy: it sees a sequence and a mark, and has to repeat the sequence.

    python examples/transformer.py

A. Vaswani et al., "Attention is all you need", 2017; with the normalisation before each part, as in R. Xiong et al.,
"On layer normalization in the transformer architecture", 2020.
"""

from __future__ import annotations

from typing import Any

import click

import agog as tf

LENGTH, TOKENS, MARK = 8, 10, 0


class Block(tf.keras.Model):
    """Attention to earlier places, then two dense layers for each place; both add to what goes through."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = tf.keras.layers.LayerNormalization(), tf.keras.layers.LayerNormalization()
        self.attention = tf.keras.layers.MultiHeadAttention(heads, width // heads)
        self.hidden = tf.keras.layers.Dense(4 * width, activation="relu")
        self.out = tf.keras.layers.Dense(width)

    def call(self, x: Any) -> Any:
        y = self.norm1(x)
        x = x + self.attention(y, y, use_causal_mask=True)
        return x + self.out(self.hidden(self.norm2(x)))


class Transformer(tf.keras.Model):
    """Embeddings of tokens and places, blocks, and logits for the next token."""

    def __init__(self, width: int, heads: int, blocks: int) -> None:
        super().__init__()
        self.tokens = tf.keras.layers.Embedding(TOKENS, width)
        self.places = tf.keras.layers.Embedding(2 * LENGTH, width)
        self.blocks = [Block(width, heads) for _ in range(blocks)]
        self.norm = tf.keras.layers.LayerNormalization()
        self.logits = tf.keras.layers.Dense(TOKENS)

    def call(self, tokens: Any) -> Any:
        x = self.tokens(tokens) + self.places(tf.range(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.logits(self.norm(x))


def sequences(count: int) -> Any:
    """A random sequence, the mark, and the sequence again."""
    sequence = tf.random_uniform([count, LENGTH], 1, TOKENS, dtype=tf.int32)
    return tf.concat([sequence, tf.fill([count, 1], MARK), sequence], 1)


@tf.function
def train_step(transformer: Any, optimizer: Any, tokens: Any) -> Any:
    """A step by some sequences; their loss."""
    with tf.GradientTape() as tape:
        logits = transformer(tokens[:, :-1])
        loss = tf.losses.sparse_softmax_cross_entropy(tokens[:, LENGTH + 1 :], logits[:, LENGTH:])
    gradients = tape.gradient(loss, transformer.variables)
    optimizer.apply_gradients(zip(gradients, transformer.variables, strict=True))
    return loss


@click.command()
@click.option("--steps", type=click.IntRange(0), default=400, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(device: str | None, function: bool, **options: Any) -> None:
    """Learn to copy."""
    tf.config.run_functions_eagerly(not function)
    with tf.device(device):
        run(**options)


def run(steps: int, seed: int) -> None:
    """Train on random sequences, and copy new ones."""
    tf.set_random_seed(seed)
    transformer = Transformer(width=64, heads=4, blocks=2)
    optimizer = tf.train.AdamOptimizer(0.002)
    for step in range(steps):
        loss = train_step(transformer, optimizer, sequences(64))
        if step % 50 == 0:
            click.echo(f"step {step}: loss {float(loss):.4f}")
    tokens = sequences(256)
    copied = tf.argmax(transformer(tokens[:, :-1])[:, LENGTH:], -1, output_type=tf.int32)
    right = tf.reduce_mean(tf.cast(tf.equal(copied, tokens[:, LENGTH + 1 :]), tf.float32))
    click.echo(f"copied right: {100 * float(right):.1f} %")


if __name__ == "__main__":
    main()
