"""Layers: what networks are made of, each forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import agog_core as ag  # has what tf.keras has as a layer alone
from agog_core.ops.nn.attention import dot_product_attention
from benchmarks.frameworks import Framework
from benchmarks.kinds import SEED, Case, Gradient, images, normal


class Softmax(Gradient):
    """Softmax of 256 rows of 1,000 numbers."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return (normal(rng, 256, 1000),)

    def agog(self, tf: Any, x: Any) -> Any:
        return tf.nn.softmax(x)

    def torch(self, torch: Any, x: Any) -> Any:
        return torch.softmax(x, -1)

    def jax(self, jax: Any, x: Any) -> Any:
        return jax.nn.softmax(x)


class CrossEntropy(Gradient):
    """The cross entropy of 256 rows of 1,000 logits with labels."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return normal(rng, 256, 1000), rng.integers(0, 1000, 256)

    def agog(self, tf: Any, logits: Any, labels: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def torch(self, torch: Any, logits: Any, labels: Any) -> Any:
        return torch.nn.functional.cross_entropy(logits, labels, reduction="none")

    def jax(self, jax: Any, logits: Any, labels: Any) -> Any:
        taken = jax.numpy.take_along_axis(logits, labels[:, None], 1)[:, 0]
        return jax.nn.logsumexp(logits, 1) - taken


class Gelu(Gradient):
    """gelu of 512 x 3,072 numbers with a bias."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return normal(rng, 512, 3072), normal(rng, 3072)

    def agog(self, tf: Any, x: Any, bias: Any) -> Any:
        return tf.keras.activations.gelu(x + bias)

    def torch(self, torch: Any, x: Any, bias: Any) -> Any:
        return torch.nn.functional.gelu(x + bias)

    def jax(self, jax: Any, x: Any, bias: Any) -> Any:
        return jax.nn.gelu(x + bias, approximate=False)


class LayerNorm(Gradient):
    """Layer normalization of 512 rows of 768 numbers, with scale and offset."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return normal(rng, 512, 768), normal(rng, 768), normal(rng, 768)

    def agog(self, tf: Any, x: Any, scale: Any, offset: Any) -> Any:
        return ag.nn.layer_normalization(x, -1, scale, offset, 1e-5)

    def torch(self, torch: Any, x: Any, scale: Any, offset: Any) -> Any:
        return torch.nn.functional.layer_norm(x, (768,), scale, offset, 1e-5)

    def jax(self, jax: Any, x: Any, scale: Any, offset: Any) -> Any:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + offset


class BatchNorm(Gradient):
    """Batch normalization, in training, of (32, 28, 28, 64) images."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return images(rng, 32, 28, 28, 64), normal(rng, 64), normal(rng, 64)

    def agog(self, tf: Any, x: Any, scale: Any, offset: Any) -> Any:
        return tf.nn.fused_batch_norm(x, scale, offset, epsilon=1e-3)[0]

    def torch(self, torch: Any, x: Any, scale: Any, offset: Any) -> Any:
        return torch.nn.functional.batch_norm(x, None, None, scale, offset, training=True, eps=1e-3)

    def jax(self, jax: Any, x: Any, scale: Any, offset: Any) -> Any:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + offset


class MaxPool(Gradient):
    """The largest of each 2 x 2 pixels of (32, 28, 28, 64) images."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return (images(rng, 32, 28, 28, 64),)

    def agog(self, tf: Any, x: Any) -> Any:
        return tf.nn.max_pool(x, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def torch(self, torch: Any, x: Any) -> Any:
        return torch.nn.functional.max_pool2d(x, 2)

    def jax(self, jax: Any, x: Any) -> Any:
        window = (1, 2, 2, 1)
        return jax.lax.reduce_window(x, -np.inf, jax.lax.max, window, window, "VALID")


class Attention(Gradient):
    """Attention of 8 heads over 128 places, batch 8, 64 numbers a head."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return [normal(rng, 8, 8, 128, 64) for _ in "qkv"]

    def agog(self, tf: Any, q: Any, k: Any, v: Any) -> Any:
        return dot_product_attention(q, k, v)

    def torch(self, torch: Any, q: Any, k: Any, v: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    def jax(self, jax: Any, q: Any, k: Any, v: Any) -> Any:
        return jax.nn.softmax(q @ k.swapaxes(-1, -2) * 0.125) @ v


class Lstm(Case):
    """An LSTM layer of 128 units over 64 steps, batch 64; gradients by its parameters."""

    kind, is_comparable = "LSTM", False  # each layer draws its own parameters

    def program(self, framework: Framework) -> Callable[[], Any]:
        x = framework.tensor(normal(np.random.default_rng(SEED), 64, 64, 49))
        step = self.formula(framework)(framework)
        return lambda: step(x)

    def agog(self, tf: Any, framework: Framework) -> Callable[..., Any]:
        layer = getattr(tf.keras.layers, self.kind)(128, recurrent_activation="sigmoid", return_sequences=True)
        layer.build(tf.TensorShape([None, 64, 49]))

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                result = tf.reduce_mean(layer(x))
            return tape.gradient(result, layer.trainable_variables)

        return framework.compiled(step)

    def torch(self, torch: Any, framework: Framework) -> Callable[..., Any]:
        layer = getattr(torch.nn, self.kind)(49, 128, batch_first=True)
        function = framework.compiled(lambda x: layer(x)[0].mean())
        parameters = list(layer.parameters())
        return lambda x: torch.autograd.grad(function(x), parameters)


class Gru(Lstm):
    """A GRU layer of 128 units over 64 steps, batch 64; gradients by its parameters."""

    kind = "GRU"


LAYERS = (*(Softmax(), CrossEntropy(), Gelu(), LayerNorm(), BatchNorm(), MaxPool(), Attention(), Lstm(), Gru()),)
