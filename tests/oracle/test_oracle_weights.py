"""Weights of PyTorch's modules in agog's layers: `propose_mapping` gives models that compute what PyTorch's do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import agog as tf
from agog_checkpoint.warning import CheckpointWarning
from agog_training import propose_mapping

layers = tf.keras.layers
EPSILON = 1e-5


def randomized(module: Any) -> Any:
    """A module in inference, with random numbers in all parameters and buffers."""
    generator = torch.Generator().manual_seed(7)
    for tensor in module.state_dict().values():
        if tensor.is_floating_point():
            tensor.copy_(torch.rand(tensor.shape, generator=generator) * 0.8 - 0.3)
    for name, buffer in module.named_buffers():
        if name.endswith("running_var"):
            buffer.add_(0.5)
    return module.eval()


def state_of(module: Any) -> dict[str, np.ndarray]:
    return {key: tensor.numpy() for key, tensor in module.state_dict().items()}


def by_name(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tensors as a safetensors file has them: in the order of the alphabet."""
    return {key: state[key] for key in sorted(state)}


def last(x: np.ndarray) -> np.ndarray:
    return np.moveaxis(x, 1, -1) if x.ndim > 2 else x


def takes_over(model: Any, module: Any, x: np.ndarray, images: bool = True, arrange: Callable[..., Any] = dict) -> None:
    """A model that takes a module's weights computes what that does; images have their channels in front there."""
    theirs = module(torch.from_numpy(x))
    theirs = (theirs[0] if isinstance(theirs, tuple) else theirs).detach().numpy()
    ours = last(x) if images else x
    model(ours)
    mapping = propose_mapping(model, arrange(state_of(module)))
    assert mapping.unused == [key for key in module.state_dict() if key.endswith("num_batches_tracked")]
    mapping.assign()
    np.testing.assert_allclose(model(ours).numpy(), last(theirs) if images else theirs, rtol=2e-4, atol=2e-5)


def uniform(*shape: int) -> np.ndarray:
    return np.random.RandomState(3).uniform(-1, 1, shape).astype(np.float32)


def norm(**kwargs: Any) -> Any:
    return layers.BatchNormalization(epsilon=EPSILON, **kwargs)


ROOMS = {1: (9,), 2: (6, 7), 3: (4, 5, 6)}


@pytest.mark.parametrize("axes", ROOMS)
def test_square_convolutions_and_their_biases(axes: int) -> None:
    conv, ours = getattr(nn, f"Conv{axes}d"), getattr(layers, f"Conv{axes}D")
    module = nn.Sequential(conv(3, 3, 3), nn.ReLU(), conv(3, 3, 3, padding=1), conv(3, 3, 1, bias=True))
    model = tf.keras.Sequential([ours(3, 3, activation="relu"), ours(3, 3, padding="same"), ours(3, 1)])
    takes_over(model, randomized(module), uniform(2, 3, *ROOMS[axes]))


@pytest.mark.parametrize("axes", ROOMS)
def test_transposed_convolutions(axes: int) -> None:
    conv, ours = getattr(nn, f"ConvTranspose{axes}d"), getattr(layers, f"Conv{axes}DTranspose")
    module = nn.Sequential(conv(3, 3, 3), conv(3, 5, 2, stride=2))
    takes_over(
        tf.keras.Sequential([ours(3, 3), ours(5, 2, strides=2)]), randomized(module), uniform(2, 3, *ROOMS[axes])
    )


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_and_separable_convolutions(multiplier: int) -> None:
    n = 4 * multiplier
    module = nn.Sequential(
        nn.Conv2d(4, n, 3, groups=4), nn.Conv2d(n, n, 2, groups=n, bias=False), nn.Conv2d(n, n, 1), nn.Conv2d(n, 4, 1)
    )
    model = tf.keras.Sequential(
        [layers.DepthwiseConv2D(3, depth_multiplier=multiplier), layers.SeparableConv2D(n, 2), layers.Conv2D(4, 1)]
    )
    takes_over(model, randomized(module), uniform(2, 4, 7, 7))


def small_cnn() -> tuple[Any, Any]:
    module = nn.Sequential(
        *(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)),
        *(nn.PReLU(4), nn.Flatten(), nn.Linear(36, 36), nn.BatchNorm1d(36), nn.ReLU(), nn.Linear(36, 36)),
    )
    model = tf.keras.Sequential(
        [
            *(layers.Conv2D(4, 3), norm(), layers.ReLU(), layers.MaxPooling2D(), layers.Conv2D(4, 3), norm()),
            *(layers.PReLU(shared_axes=[1, 2]), layers.Flatten(), layers.Dense(36), norm(), layers.ReLU()),
            *(layers.Dropout(0.5), layers.Dense(36)),
        ]
    )
    return model, module


@pytest.mark.parametrize("arrange", [dict, by_name])
def test_flattened_images_before_square_matrices(arrange: Any) -> None:
    model, module = small_cnn()
    takes_over(model, randomized(module), uniform(2, 3, 12, 12), arrange=arrange)


def test_normalizations_of_flattened_images_and_matrices_into_images() -> None:
    module = nn.Sequential(
        *(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.BatchNorm1d(64), nn.PReLU(64), nn.LayerNorm(64), nn.Linear(64, 32)),
        *(nn.BatchNorm1d(32), nn.ReLU(), nn.Unflatten(1, (8, 2, 2)), nn.ConvTranspose2d(8, 3, 2, stride=2)),
    )
    model = tf.keras.Sequential(
        [
            *(layers.Conv2D(4, 3), layers.Flatten(), norm(), layers.PReLU()),
            *(layers.LayerNormalization(epsilon=EPSILON), layers.Dense(32), norm(), layers.ReLU()),
            *(layers.Reshape((2, 2, 8)), layers.Conv2DTranspose(3, 2, strides=2)),
        ]
    )
    takes_over(model, randomized(module), uniform(2, 3, 6, 6))


class TwoWays(nn.Module):
    """Two branches of images and features, which are joined before and after they are flattened."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Conv2d(3, 2, 3, padding=1), nn.Conv2d(3, 2, 3, padding=1)
        self.inner, self.outer = nn.Linear(16, 8), nn.Linear(16 + 8, 5)

    def forward(self, x: Any) -> Any:
        images = torch.cat([self.left(x), self.right(x)], 1)
        flat = torch.flatten(nn.functional.max_pool2d(images, 2), 1)
        return self.outer(torch.cat([flat, torch.relu(self.inner(flat))], 1))


def two_ways() -> Any:
    x = tf.keras.Input((4, 4, 3))
    branches = [layers.Conv2D(2, 3, padding="same", name=name)(x) for name in ("right", "left")]
    flat = layers.Flatten()(layers.MaxPooling2D()(layers.concatenate(branches[::-1])))
    return tf.keras.Model(x, layers.Dense(5)(layers.concatenate([flat, layers.Dense(8, activation="relu")(flat)])))


@pytest.mark.parametrize("arrange", [dict, by_name])
def test_branches_go_by_names(arrange: Any) -> None:
    takes_over(two_ways(), randomized(TwoWays()), uniform(2, 3, 4, 4), arrange=arrange)


class Net(nn.Module):
    """The network of PyTorch's own tutorial."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 6, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(6 * 5 * 5, 84), nn.Linear(84, 84), nn.Linear(84, 10)

    def forward(self, x: Any) -> Any:
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.flatten(nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2), 1)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class OurNet(tf.keras.Model):  # type: ignore[misc, name-defined]
    """The same, with a ``call`` of its own, that uses functions."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = layers.Conv2D(6, 5), layers.Conv2D(6, 5)
        self.fc1, self.fc2, self.fc3 = layers.Dense(84), layers.Dense(84), layers.Dense(10)

    def call(self, x: Any) -> Any:
        x = tf.nn.max_pool(tf.nn.relu(self.conv1(x)), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        x = tf.nn.max_pool(tf.nn.relu(self.conv2(x)), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        x = tf.reshape(x, [x.shape[0], -1])
        return self.fc3(tf.nn.relu(self.fc2(tf.nn.relu(self.fc1(x)))))


@pytest.mark.parametrize("arrange", [dict, by_name])
def test_the_network_of_the_tutorial(arrange: Any) -> None:
    takes_over(OurNet(), randomized(Net()), uniform(2, 3, 32, 32), arrange=arrange)


def test_channels_first() -> None:
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.PReLU(4), nn.Flatten(), nn.Linear(64, 5))
    model = tf.keras.Sequential(
        [
            *(layers.Conv2D(4, 3, data_format="channels_first"), layers.PReLU(shared_axes=[2, 3])),
            *(layers.Flatten(), layers.Dense(5)),
        ]
    )
    takes_over(model, randomized(module), uniform(2, 3, 6, 6), images=False)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_recurrent_layers_of_several_layers(kind: str, directions: int, bias: bool) -> None:
    theirs = {"SimpleRNN": nn.RNN}.get(kind) or getattr(nn, kind)
    module = randomized(theirs(6, 3, 3, bias=bias, batch_first=True, bidirectional=directions == 2))
    settings = {} if kind == "SimpleRNN" else {"recurrent_activation": "sigmoid"}
    settings |= {"reset_after": True} if kind == "GRU" else {}

    def layer() -> Any:
        one = getattr(layers, kind)(3, return_sequences=True, use_bias=bias, **settings)
        return layers.Bidirectional(one) if directions == 2 else one

    takes_over(tf.keras.Sequential([layer(), layer(), layer()]), module, uniform(2, 5, 6), images=False)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_cells_and_layers_of_cudnn(kind: str) -> None:
    module = randomized(getattr(nn, kind)(4, 4, 2, batch_first=True))
    model = tf.keras.Sequential([getattr(layers, f"CuDNN{kind}")(4, return_sequences=True) for _ in range(2)])
    takes_over(model, module, uniform(2, 5, 4), images=False)
    settings = {"recurrent_activation": "sigmoid"} | ({"reset_after": True} if kind == "GRU" else {})
    cells = [getattr(layers, f"{kind}Cell")(4, **settings) for _ in range(2)]
    model = tf.keras.Sequential([layers.RNN(cells, return_sequences=True)])
    takes_over(model, module, uniform(2, 5, 4), images=False)


class Attending(nn.Module):
    def __init__(self, **sizes: Any) -> None:
        super().__init__()
        self.embed, self.attend = nn.Embedding(8, 8), nn.MultiheadAttention(8, 2, batch_first=True, **sizes)
        self.norm, self.out = nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        x = self.embed(x)
        return self.out(self.norm(x + self.attend(x, x, x)[0]))


@pytest.mark.parametrize("bias", [True, False])
def test_attention_and_square_embeddings(bias: bool) -> None:
    x = tf.keras.Input((5,), dtype="int64")
    y = layers.Embedding(8, 8)(x)
    z = layers.MultiHeadAttention(2, 4, use_bias=bias)(y, y, y)
    z = layers.LayerNormalization(epsilon=EPSILON)(layers.add([y, z]))
    model = tf.keras.Model(x, layers.Dense(8)(z))
    takes_over(model, randomized(Attending(bias=bias)), np.array([[1, 7, 0, 2, 3]]), images=False)


def test_attention_to_other_sizes() -> None:
    module = randomized(nn.MultiheadAttention(6, 3, kdim=5, vdim=4, batch_first=True))
    q, k, v = uniform(2, 3, 6), uniform(2, 7, 5), uniform(2, 7, 4)
    layer = layers.MultiHeadAttention(3, 2)
    layer(q, v, k)
    propose_mapping(layer, state_of(module)).assign()
    expected = module(*map(torch.from_numpy, (q, k, v)))[0].detach().numpy()
    np.testing.assert_allclose(layer(q, v, k).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_normalizations() -> None:
    module = nn.Sequential(
        *(nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True), nn.BatchNorm2d(4, affine=False)),
        *(nn.LayerNorm([4, 5, 6]), nn.PReLU()),
    )
    model = tf.keras.Sequential(
        [
            layers.GroupNormalization(2, epsilon=EPSILON),
            layers.InstanceNormalization(epsilon=EPSILON),
            norm(center=False, scale=False),
            layers.LayerNormalization(axis=[1, 2, 3], epsilon=EPSILON),
            layers.PReLU(),
        ]
    )
    takes_over(model, randomized(module), uniform(2, 4, 5, 6))


def test_sequences_are_flattened_alike() -> None:
    module = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(20, 3))
    model = tf.keras.Sequential([layers.Embedding(9, 4), layers.Flatten(), layers.Dense(3)])
    takes_over(model, randomized(module), np.arange(10).reshape(2, 5) % 9, images=False)
    module = nn.Sequential(nn.Conv1d(3, 4, 3), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(12, 12))
    model = tf.keras.Sequential([layers.Conv1D(4, 3), layers.MaxPooling1D(), layers.Flatten(), layers.Dense(12)])
    takes_over(model, randomized(module), uniform(2, 3, 8))


class Block(nn.Module):
    """A block of a residual network, whose shortcut looks as the last convolution does."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)
        self.downsample = nn.Sequential(nn.Conv2d(4, 4, 1))

    def forward(self, x: Any) -> Any:
        return self.conv2(torch.relu(self.conv1(x))) + self.downsample(x)


def test_branches_without_names_are_unclear_until_the_program_says_which_is_which() -> None:
    x = tf.keras.Input((3, 3, 4))
    shortcut, first = layers.Conv2D(4, 1), layers.Conv2D(4, 1)
    second = layers.Conv2D(4, 1)
    model = tf.keras.Model(x, layers.add([shortcut(x), second(layers.ReLU()(first(x)))]), name="block")
    module, images = randomized(Block()), uniform(2, 4, 3, 3)
    mapping = propose_mapping(model, state_of(module))
    assert len(mapping.unclear) == 6
    with pytest.raises(ValueError, match="it is unclear which tensors belong to some weights"):
        mapping.assign()
    for layer, name in ((first, "conv1"), (second, "conv2"), (shortcut, "downsample.0")):
        mapping[layer.name] = name
    mapping.assign()
    expected = module(torch.from_numpy(images)).detach().numpy()
    np.testing.assert_allclose(model(last(images)).numpy(), last(expected), rtol=1e-4, atol=1e-5)


def test_settings_that_differ_are_told() -> None:
    model = tf.keras.Sequential([layers.LSTM(3, input_shape=(4, 2), name="lstm")], name="net")
    with pytest.warns(CheckpointWarning, match=re.escape("recurrent_activation is 'hard_sigmoid' in net/lstm")):
        propose_mapping(model, state_of(randomized(nn.LSTM(2, 3)))).assign()
