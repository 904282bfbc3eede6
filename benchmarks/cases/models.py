"""Models: steps of training, with Adam."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

import agog_core as ag  # has what tf.keras has as a layer alone
from benchmarks.kinds import Training, filters, images, normal


def dense(rng: np.random.Generator, *sizes: int) -> list[np.ndarray]:
    """Weights and biases from layer to layer."""
    layers = [(normal(rng, i, o, scale=np.sqrt(2 / i)), np.zeros(o, np.float32)) for i, o in pairwise(sizes)]
    return [array for layer in layers for array in layer]


class Classifier(Training):
    """What ends with the cross entropy of ten or more classes; each framework's method gives logits."""

    def agog(self, tf: Any, *arguments: Any) -> Any:
        *arguments, labels = arguments
        logits = self.agog_logits(tf, *arguments)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

    def torch(self, torch: Any, *arguments: Any) -> Any:
        *arguments, labels = arguments
        return torch.nn.functional.cross_entropy(self.torch_logits(torch, *arguments), labels)

    def jax(self, jax: Any, *arguments: Any) -> Any:
        *arguments, labels = arguments
        logits = self.jax_logits(jax, *arguments)
        taken = jax.numpy.take_along_axis(logits, labels[:, None], 1)[:, 0]
        return (jax.nn.logsumexp(logits, 1) - taken).mean()


class Mlp(Classifier):
    """784-256-256-10, batch 128."""

    sizes: ClassVar[tuple[int, ...]] = (784, 256, 256, 10)
    examples = 128

    def parameters(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return dense(rng, *self.sizes)

    def batch(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return normal(rng, self.examples, self.sizes[0]), rng.integers(0, self.sizes[-1], self.examples)

    def agog_logits(self, tf: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any) -> Any:
        h = tf.nn.relu(tf.nn.bias_add(x @ w1, b1))
        h = tf.nn.relu(tf.nn.bias_add(h @ w2, b2))
        return tf.nn.bias_add(h @ w3, b3)

    def torch_logits(self, torch: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any) -> Any:
        h = torch.relu(torch.addmm(b1, x, w1))
        h = torch.relu(torch.addmm(b2, h, w2))
        return torch.addmm(b3, h, w3)

    def jax_logits(self, jax: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any) -> Any:
        h = jax.nn.relu(x @ w1 + b1)
        h = jax.nn.relu(h @ w2 + b2)
        return h @ w3 + b3


class MlpBig(Mlp):
    """1,024-4,096-4,096-1,024, batch 256."""

    sizes, examples = (1024, 4096, 4096, 1024), 256


class Cnn(Classifier):
    """Two convolutions of 5 x 5 with pools and two dense layers on 28 x 28 pixels, batch 50."""

    def parameters(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        first = [filters(rng, 5, 5, 1, 32), np.zeros(32, np.float32)]
        second = [filters(rng, 5, 5, 32, 64), np.zeros(64, np.float32)]
        return [*first, *second, *dense(rng, 3136, 1024, 10)]

    def batch(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return images(rng, 50, 28, 28, 1), rng.integers(0, 10, 50)

    def agog_logits(
        self, tf: Any, c1: Any, b1: Any, c2: Any, b2: Any, w1: Any, d1: Any, w2: Any, d2: Any, x: Any
    ) -> Any:
        for kernel, bias in ((c1, b1), (c2, b2)):
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, (1, 1, 1, 1), "SAME"), bias))
            x = tf.nn.max_pool(x, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        h = tf.nn.relu(tf.nn.bias_add(tf.reshape(x, (50, -1)) @ w1, d1))
        return tf.nn.bias_add(h @ w2, d2)

    def torch_logits(
        self, torch: Any, c1: Any, b1: Any, c2: Any, b2: Any, w1: Any, d1: Any, w2: Any, d2: Any, x: Any
    ) -> Any:
        for kernel, bias in ((c1, b1), (c2, b2)):
            x = torch.relu(torch.nn.functional.conv2d(x, kernel, bias, padding=2))
            x = torch.nn.functional.max_pool2d(x, 2)
        h = torch.relu(torch.addmm(d1, x.permute(0, 2, 3, 1).reshape(50, -1), w1))
        return torch.addmm(d2, h, w2)

    def jax_logits(
        self, jax: Any, c1: Any, b1: Any, c2: Any, b2: Any, w1: Any, d1: Any, w2: Any, d2: Any, x: Any
    ) -> Any:
        window, numbers = (1, 2, 2, 1), ("NHWC", "HWIO", "NHWC")
        for kernel, bias in ((c1, b1), (c2, b2)):
            x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)
            x = jax.lax.reduce_window(jax.nn.relu(x + bias), -np.inf, jax.lax.max, window, window, "VALID")
        return jax.nn.relu(x.reshape(50, -1) @ w1 + d1) @ w2 + d2


class Bottleneck(Training):
    """ResNet's block of 1 x 1, 3 x 3 and 1 x 1 with batch normalization, (16, 28, 28, 256)."""

    def parameters(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        kernels = (filters(rng, 1, 1, 256, 64), filters(rng, 3, 3, 64, 64), filters(rng, 1, 1, 64, 256))
        norms = [(np.ones(n, np.float32), np.zeros(n, np.float32)) for n in (64, 64, 256)]
        return [array for kernel, norm in zip(kernels, norms, strict=True) for array in (kernel, *norm)]

    def batch(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return (images(rng, 16, 28, 28, 256),)

    def agog(self, tf: Any, *arguments: Any) -> Any:
        *parameters, x = arguments
        h = x
        for n in range(3):
            kernel, scale, offset = parameters[3 * n : 3 * n + 3]
            h = tf.nn.conv2d(h, kernel, (1, 1, 1, 1), "SAME")
            h = tf.nn.fused_batch_norm(h, scale, offset, epsilon=1e-3)[0]
            h = tf.nn.relu(h if n < 2 else h + x)
        return tf.reduce_mean(tf.square(h))

    def torch(self, torch: Any, *arguments: Any) -> Any:
        *parameters, x = arguments
        h, f = x, torch.nn.functional
        for n in range(3):
            kernel, scale, offset = parameters[3 * n : 3 * n + 3]
            h = f.conv2d(h, kernel, padding=kernel.shape[2] // 2)
            h = f.batch_norm(h, None, None, scale, offset, training=True, eps=1e-3)
            h = torch.relu(h if n < 2 else h + x)
        return torch.square(h).mean()

    def jax(self, jax: Any, *arguments: Any) -> Any:
        *parameters, x = arguments
        h = x
        for n in range(3):
            kernel, scale, offset = parameters[3 * n : 3 * n + 3]
            numbers = ("NHWC", "HWIO", "NHWC")
            h = jax.lax.conv_general_dilated(h, kernel, (1, 1), "SAME", dimension_numbers=numbers)
            mean, variance = h.mean((0, 1, 2)), h.var((0, 1, 2))
            h = (h - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + offset
            h = jax.nn.relu(h if n < 2 else h + x)
        return jax.numpy.square(h).mean()


class Transformer(Training):
    """A block of attention and a dense network, 256 numbers a place, 8 heads, 64 places, batch 16."""

    width, heads = 256, 8

    def parameters(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        n = self.width
        sizes = ((n, 3 * n), (n, n), (n, 4 * n), (4 * n, n))
        norms = [np.ones(n, np.float32), np.zeros(n, np.float32)]
        return [*(normal(rng, *size, scale=np.sqrt(1 / size[0])) for size in sizes), *norms, *(a.copy() for a in norms)]

    def batch(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return (normal(rng, 16, 64, self.width),)

    def agog(self, tf: Any, qkv: Any, out: Any, up: Any, down: Any, *arguments: Any) -> Any:
        s1, o1, s2, o2, x = arguments

        def norm(x: Any, scale: Any, offset: Any) -> Any:
            return ag.nn.layer_normalization(x, -1, scale, offset, 1e-5)

        parts = tf.reshape(tf.matmul(norm(x, s1, o1), qkv), (16, 64, 3, self.heads, -1))
        means = tf.keras.ops.dot_product_attention(*tf.unstack(parts, axis=2))
        h = x + tf.matmul(tf.reshape(means, (16, 64, -1)), out)
        y = h + tf.matmul(tf.keras.activations.gelu(tf.matmul(norm(h, s2, o2), up)), down)
        return tf.reduce_mean(tf.square(y))

    def torch(self, torch: Any, qkv: Any, out: Any, up: Any, down: Any, *arguments: Any) -> Any:
        (s1, o1, s2, o2, x), f = arguments, torch.nn.functional
        parts = (f.layer_norm(x, (self.width,), s1, o1, 1e-5) @ qkv).reshape(16, 64, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind()
        h = x + f.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(16, 64, -1) @ out
        y = h + f.gelu(f.layer_norm(h, (self.width,), s2, o2, 1e-5) @ up) @ down
        return torch.square(y).mean()

    def jax(self, jax: Any, qkv: Any, out: Any, up: Any, down: Any, *arguments: Any) -> Any:
        s1, o1, s2, o2, x = arguments

        def norm(x: Any, scale: Any, offset: Any) -> Any:
            mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + offset

        parts = (norm(x, s1, o1) @ qkv).reshape(16, 64, 3, self.heads, -1)
        q, k, v = parts.transpose(2, 0, 3, 1, 4)
        scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) * (self.width / self.heads) ** -0.5)
        h = x + (scores @ v).swapaxes(1, 2).reshape(16, 64, -1) @ out
        y = h + jax.nn.gelu(norm(h, s2, o2) @ up, approximate=False) @ down
        return jax.numpy.square(y).mean()


MODELS = (Mlp(), MlpBig(), Cnn(), Bottleneck(), Transformer())
