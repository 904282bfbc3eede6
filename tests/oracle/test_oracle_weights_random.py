"""Weights of random networks of PyTorch's modules: agog's models compute the same after `propose_mapping`.

AGOG_RANDOM_PROGRAMS says how many networks are tried, AGOG_RANDOM_SEED where they begin.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, spectral_norm, weight_norm

import agog as tf
from agog_training import propose_mapping

layers = tf.keras.layers
NETWORKS = int(os.environ.get("AGOG_RANDOM_PROGRAMS", "300"))
SEED = int(os.environ.get("AGOG_RANDOM_SEED", "0"))
EPSILON = 1e-5


class Part(NamedTuple):
    """A module, the layers that do the same, and the sizes of their output: (channels, sizes...)."""

    module: Any
    ours: list[Any]
    sizes: tuple[int, ...]


class First(nn.Module):
    """The first of what a module returns, called with its input once or for queries, keys and values."""

    def __init__(self, inner: Any, times: int = 1) -> None:
        super().__init__()
        self.inner, self.times = inner, times

    def forward(self, x: Any) -> Any:
        return self.inner(*[x] * self.times)[0]


class Attention(nn.Module):
    """Attention as programs write it, of four projections."""

    NAMES = (("q_proj", "k_proj", "v_proj", "out_proj"), ("query", "key", "value", "dense"), ("wq", "wk", "wv", "wo"))

    def __init__(self, size: int, heads: int, each: int, bias: bool, names: tuple[str, ...]) -> None:
        super().__init__()
        self.heads, self.names = heads, names
        for name in names[:3]:
            self.add_module(name, nn.Linear(size, heads * each, bias=bias))
        self.add_module(names[3], nn.Linear(heads * each, size, bias=bias))

    def forward(self, x: Any) -> Any:
        parts = (getattr(self, name)(x) for name in self.names[:3])
        q, k, v = (y.reshape(*y.shape[:2], self.heads, -1).transpose(1, 2) for y in parts)
        means = nn.functional.scaled_dot_product_attention(q, k, v)
        return getattr(self, self.names[3])(means.transpose(1, 2).flatten(2))


def normed(module: Any, choose: random.Random) -> Any:
    """A module whose weight PyTorch computes of others, or not."""
    kind = choose.choice(["", "", "", "weight", "weight_2", "spectral", "spectral_2"])
    if kind == "weight":
        return parametrizations.weight_norm(module, dim=choose.choice([0, 1, None]))
    if kind == "weight_2":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return weight_norm(module, dim=choose.choice([0, 1]))
    if kind == "spectral":
        return parametrizations.spectral_norm(module)
    if kind == "spectral_2":
        return spectral_norm(module, n_power_iterations=20)
    return module


def convolution(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    axes, channels = len(sizes) - 1, sizes[0]
    filters, window = choose.choice([channels, 2, 4]), choose.choice([1, 2, 3])
    groups = choose.choice([g for g in (1, 1, 2, channels) if channels % g == filters % g == 0])
    bias, wide = choose.random() < 0.7, window == 3 and choose.random() < 0.5
    options = {"groups": groups, "bias": bias, "padding": 1 if wide else 0}
    module = getattr(nn, f"Conv{axes}d")(channels, filters, window, **options)
    settings = {"groups": groups, "use_bias": bias, "padding": "same" if wide else "valid"}
    ours: Any = getattr(layers, f"Conv{axes}D")(filters, window, **settings)
    if groups == channels and axes == 2 and choose.random() < 0.7:
        del settings["groups"]
        ours = layers.DepthwiseConv2D(window, depth_multiplier=filters // channels, **settings)
    elif window == 1 and groups == 1 and choose.random() < 0.5:
        ours = layers.Dense(filters, use_bias=bias)
    after = tuple(size if wide else size - window + 1 for size in sizes[1:])
    return Part(normed(module, choose), [ours], (filters, *after))


def transposed(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    axes, channels = len(sizes) - 1, sizes[0]
    filters, window, stride = choose.choice([channels, 3]), choose.choice([2, 3]), choose.choice([1, 2])
    bias = choose.random() < 0.7
    module = getattr(nn, f"ConvTranspose{axes}d")(channels, filters, window, stride=stride, bias=bias)
    ours = getattr(layers, f"Conv{axes}DTranspose")(filters, window, strides=stride, use_bias=bias)
    after = tuple((size - 1) * stride + window for size in sizes[1:])
    return Part(normed(module, choose), [ours], (filters, *after))


def normalization(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    axes, channels = len(sizes) - 1, sizes[0]
    affine = choose.random() < 0.8
    kind = choose.choice(["batch", "group", *(["instance"] if axes else [])])
    settings = {"epsilon": EPSILON, "center": affine, "scale": affine}
    if kind == "batch":
        return Part(getattr(nn, f"BatchNorm{max(axes, 1)}d")(channels, affine=affine), [norm(**settings)], sizes)
    if kind == "instance":
        module = getattr(nn, f"InstanceNorm{axes}d")(channels, affine=affine)
        return Part(module, [layers.InstanceNormalization(**settings)], sizes)
    groups = choose.choice([g for g in (1, 2) if axes and channels % g == 0] or [1])
    return Part(nn.GroupNorm(groups, channels, affine=affine), [layers.GroupNormalization(groups, **settings)], sizes)


def norm(**settings: Any) -> Any:
    return layers.BatchNormalization(**settings)


def slopes(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    count = choose.choice([1, sizes[0]])
    return Part(nn.PReLU(count), [layers.PReLU(shared_axes=[*range(1, len(sizes))] or None)], sizes)


def rectifier(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    return Part(nn.ReLU(), [layers.ReLU()], sizes)


def pooling(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    axes = len(sizes) - 1
    module, ours = getattr(nn, f"MaxPool{axes}d")(2), getattr(layers, f"MaxPooling{axes}D")(2)
    return Part(module, [ours], (sizes[0], *(size // 2 for size in sizes[1:])))


def flattening(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    return Part(nn.Flatten(), [layers.Flatten()], (int(np.prod(sizes)),))


def linear(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    units, bias = choose.choice([sizes[0], 4, 6]), choose.random() < 0.7
    module = normed(nn.Linear(sizes[0], units, bias=bias), choose)
    return Part(module, [layers.Dense(units, use_bias=bias)], (units, *sizes[1:]))


def matrix_as_convolution(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    """Of sequences (batch, time, features), which PyTorch has as agog has them."""
    units = choose.choice([sizes[0], 4])
    return Part(nn.Linear(sizes[0], units), [layers.Conv1D(units, 1)], (units, *sizes[1:]))


def unflattening(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    channels = 2
    module = nn.Sequential(nn.Linear(sizes[0], 18), nn.Unflatten(1, (channels, 3, 3)))
    return Part(module, [layers.Dense(18), layers.Reshape((3, 3, channels))], (channels, 3, 3))


def layer_normalization(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    bias = choose.random() < 0.7
    ours = layers.LayerNormalization(epsilon=EPSILON, center=bias)
    return Part(nn.LayerNorm(sizes[0], bias=bias), [ours], sizes)


def root_mean_square(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    return Part(nn.RMSNorm(sizes[0], eps=EPSILON), [layers.RMSNormalization(epsilon=EPSILON)], sizes)


def recurrent(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    kind, units, count = choose.choice(["LSTM", "GRU", "RNN"]), choose.choice([sizes[0], 3]), choose.choice([1, 2])
    bias, both = choose.random() < 0.7, choose.random() < 0.5
    settings: dict[str, Any] = {} if kind == "RNN" else {"recurrent_activation": "sigmoid"}
    settings |= {"reset_after": True} if kind == "GRU" else {}
    module = getattr(nn, kind)(sizes[0], units, count, bias=bias, bidirectional=both, batch_first=True)
    if count == 1 and choose.random() < 0.3:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = weight_norm(module, "weight_hh_l0")
    ours = []
    for _ in range(count):
        name = {"RNN": "SimpleRNN"}.get(kind, kind)
        one = getattr(layers, name)(units, return_sequences=True, use_bias=bias, **settings)
        ours.append(layers.Bidirectional(one) if both else one)
    return Part(First(module), ours, (units * (1 + both), *sizes[1:]))


class Attending(layers.Layer):  # type: ignore[misc, name-defined]
    """Attention of a sequence to itself."""

    def __init__(self, heads: int, each: int, bias: bool) -> None:
        super().__init__()
        self.attention = layers.MultiHeadAttention(heads, each, use_bias=bias)

    def call(self, x: Any) -> Any:
        return self.attention(x, x)


def attention(choose: random.Random, sizes: tuple[int, ...]) -> Part:
    size, bias = sizes[0], choose.random() < 0.7
    heads = choose.choice([n for n in (1, 2, 3) if size % n == 0])
    if choose.random() < 0.5:
        module: Any = First(nn.MultiheadAttention(size, heads, bias=bias, batch_first=True), 3)
        return Part(module, [Attending(heads, size // heads, bias)], sizes)
    each = choose.choice([2, size // heads])
    return Part(
        Attention(size, heads, each, bias, choose.choice(Attention.NAMES)), [Attending(heads, each, bias)], sizes
    )


OF_IMAGES = [convolution, convolution, transposed, normalization, slopes, rectifier, pooling]
OF_FEATURES = [linear, linear, normalization, slopes, rectifier, unflattening, layer_normalization, root_mean_square]
OF_SEQUENCES = [linear, matrix_as_convolution, layer_normalization, root_mean_square, recurrent, attention, rectifier]
Rule = Callable[[random.Random, tuple[int, ...]], Part]


def network(seed: int) -> tuple[Any, Any, np.ndarray, bool]:
    """A random module, a model of the same layers, an input, and whether it has its channels behind in PyTorch too."""
    choose, state = random.Random(seed), np.random.RandomState(seed)
    parts: list[Part] = []
    sequences = choose.random() < 0.4
    if sequences:
        size = choose.choice([4, 6])
        x: Any = state.uniform(-1, 1, (2, 5, size)).astype(np.float32)
        sizes: tuple[int, ...] = (size, 5)
        if choose.random() < 0.5:
            x = state.randint(0, size, (2, 5))
            parts.append(Part(nn.Embedding(size, size), [layers.Embedding(size, size)], sizes))
    else:
        axes = choose.choice([0, 1, 2, 2, 2, 3])
        sizes = (choose.choice([2, 4]), *[choose.choice([6, 7]) for _ in range(axes)])
        x = state.uniform(-1, 1, (2, *sizes)).astype(np.float32)
        if axes == 1:  # what comes in as (batch, steps, features) may be a sequence in PyTorch too
            parts.append(convolution(choose, sizes))
            sizes = parts[-1].sizes
    for _ in range(choose.randint(2, 7)):
        kinds: list[Rule] = OF_IMAGES if len(sizes) > 1 else OF_FEATURES
        if sequences:
            kinds = OF_SEQUENCES if len(sizes) > 1 else [kind for kind in OF_FEATURES if kind is not unflattening]
        if len(sizes) > 1 and (choose.random() < 0.15 or (not sequences and min(sizes[1:]) < 4)):
            kinds = [flattening]
        parts.append(choose.choice(kinds)(choose, sizes))
        sizes = parts[-1].sizes
        if int(np.prod(sizes)) > 3000:
            break
    if not sequences and len(sizes) == 1:  # flattened images are in another order
        parts.append(linear(choose, sizes))
    module = nn.Sequential(*(part.module for part in parts))
    return module, tf.keras.Sequential([layer for part in parts for layer in part.ours]), x, sequences


def randomize(module: Any, seed: int) -> None:
    """Random numbers in all parameters and buffers; singular vectors go on from these."""
    state = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=state) * 1.2 - 0.5)
        for name, buffer in module.named_buffers():
            if name.endswith(("running_mean", "running_var")):
                buffer.copy_(torch.rand(buffer.shape, generator=state) + 0.3)


def behind(x: np.ndarray, sequences: bool) -> np.ndarray:
    return x if sequences or x.ndim < 3 else np.moveaxis(x, 1, -1)


def compare(seed: int) -> str:
    """Whether a network has the "same" outputs, or what is "unclear" in it; AssertionError for others."""
    torch.manual_seed(seed)
    module, model, x, sequences = network(seed)
    if not list(module.parameters()):
        return "same"
    randomize(module, seed)
    if any("_u" in name for name, _ in module.named_buffers()):
        module.train()(torch.from_numpy(x))  # singular vectors follow in training
    module.eval()
    expected = module(torch.from_numpy(x)).detach().numpy()
    given = {key: tensor.numpy() for key, tensor in module.state_dict().items()}
    ours = behind(x, sequences)
    model(ours)
    mapping = propose_mapping(model, given)
    assert not mapping.unmatched, mapping
    if mapping.unclear:
        return f"unclear: {mapping.unclear}"
    assert all(key.endswith(("num_batches_tracked", "weight_u")) for key in mapping.unused), mapping
    mapping.assign()
    scale = float(np.abs(expected).max()) or 1.0
    np.testing.assert_allclose(model(ours).numpy() / scale, behind(expected, sequences) / scale, rtol=1e-3, atol=2e-5)
    return "same"


@pytest.mark.parametrize("first", range(0, NETWORKS, 50))
def test_random_networks(first: int) -> None:
    found = [compare(SEED + seed) for seed in range(first, min(first + 50, NETWORKS))]
    assert found.count("same") > 0.9 * len(found), found
