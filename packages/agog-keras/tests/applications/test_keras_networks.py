"""Networks: their weights are counted by hand, one is computed by NumPy, and they are trained further."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_keras import applications
from agog_keras.layers.numbers import Rescaling
from agog_layers import Dense, Input
from agog_training import Model

Array = np.ndarray[Any, Any]
# Depth, width and classes of features, of the networks that come in several sizes: the tables of their papers.
VGG = {"VGG16": (2, 2, 3, 3, 3), "VGG19": (2, 2, 4, 4, 4)}
RESNET = {"ResNet50": (3, 4, 6, 3), "ResNet101": (3, 4, 23, 3)}
DENSENET = {"DenseNet121": (6, 12, 24, 16), "DenseNet169": (6, 12, 32, 32)}
INVERTED = ((1, 16, 1), (6, 24, 2), (6, 32, 3), (6, 64, 4), (6, 96, 3), (6, 160, 3), (6, 320, 1))
EFFICIENT = ((1, 16, 1, 3), (6, 24, 2, 3), (6, 40, 2, 5), (6, 80, 3, 3), (6, 112, 3, 5), (6, 192, 4, 5), (6, 320, 1, 3))


def vgg(depths: tuple[int, ...]) -> int:
    count, before = 0, 3
    for width, depth in zip((64, 128, 256, 512, 512), depths, strict=True):
        for _ in range(depth):
            count, before = count + (9 * before + 1) * width, width
    return count


def resnet(depths: tuple[int, ...]) -> int:
    def convolution(size: int, before: int, after: int) -> int:  # with a bias, and four numbers of the normalization
        return (size * size * before + 5) * after

    count, before = convolution(7, 3, 64), 64
    for width, depth in zip((64, 128, 256, 512), depths, strict=True):
        count += convolution(1, before, 4 * width)
        for _ in range(depth):
            count += convolution(1, before, width) + convolution(3, width, width) + convolution(1, width, 4 * width)
            before = 4 * width
    return count


def densenet(depths: tuple[int, ...]) -> int:
    count, channels = 49 * 3 * 64 + 4 * 64, 64
    for block, depth in enumerate(depths):
        for _ in range(depth):
            count += 4 * channels + channels * 128 + 4 * 128 + 9 * 128 * 32
            channels += 32
        if block < 3:
            count += 4 * channels + channels * (channels // 2)
            channels //= 2
    return count + 4 * channels


def mobilenet() -> int:
    count, before = 27 * 32 + 4 * 32, 32
    for expansion, channels, depth in INVERTED:
        for _ in range(depth):
            wide = expansion * before
            count += 0 if expansion == 1 else before * wide + 4 * wide
            count += 9 * wide + 4 * wide + wide * channels + 4 * channels
            before = channels
    return count + before * 1280 + 4 * 1280


def efficientnet() -> int:
    count, before = 3 + 3 + 1 + 27 * 32 + 4 * 32, 32  # pixels are normalized by a mean and a variance of so many
    for expansion, channels, depth, size in EFFICIENT:
        for _ in range(depth):
            wide, few = expansion * before, before // 4
            count += 0 if expansion == 1 else before * wide + 4 * wide
            count += size * size * wide + 4 * wide + (wide + 1) * few + (few + 1) * wide
            count += wide * channels + 4 * channels
            before = channels
    return count + before * 1280 + 4 * 1280


COUNTS = {
    **{name: vgg(depths) for name, depths in VGG.items()},
    **{name: resnet(depths) for name, depths in RESNET.items()},
    **{name: densenet(depths) for name, depths in DENSENET.items()},
    "MobileNetV2": mobilenet(),
    "EfficientNetB0": efficientnet(),
    "InceptionV3": 21_802_784,  # as Keras documents it
}


@pytest.mark.parametrize("name", COUNTS)
def test_numbers_of_weights(name: str) -> None:
    side = 75 if name == "InceptionV3" else 32
    model = getattr(applications, name)(include_top=False, weights=None, input_shape=(side, side, 3), pooling="avg")
    assert model.count_params() == COUNTS[name]


def test_classes() -> None:
    """The top of a network: its weights beside those of the features, and its names."""
    model = applications.ResNet50(weights=None, input_shape=(32, 32, 3), classes=7)
    assert model.count_params() == COUNTS["ResNet50"] + 2048 * 7 + 7
    assert [layer.name for layer in model.layers[-3:]] == ["conv5_block3_out", "avg_pool", "predictions"]
    model = applications.VGG16(weights=None, input_shape=(32, 32, 3), classes=7)
    assert model.count_params() == COUNTS["VGG16"] + 513 * 4096 + 4097 * 4096 + 4097 * 7
    assert [layer.name for layer in model.layers[-4:]] == ["flatten", "fc1", "fc2", "predictions"]


# MobileNetV2 in NumPy: the convolutions on images with borders, as section 3 has them.


def convolved(x: Array, kernel: Array, stride: int) -> Array:
    """By windows that begin where TensorFlow's do: half of what is missing lies before, the larger half behind."""
    size = kernel.shape[0]
    missing = [max((-(-length // stride) - 1) * stride + size - length, 0) for length in x.shape[1:3]]
    x = np.pad(x, [(0, 0), *((each // 2, each - each // 2) for each in missing), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (1, 2))[:, ::stride, ::stride]
    return np.einsum("bhwcij,ijcd->bhwd", windows, kernel, optimize=True)


def mobilenet_of(weights: dict[str, Array], x: Array) -> Array:
    def normalized(x: Array, name: str) -> Array:
        gamma, beta, mean, variance = (
            weights[f"{name}/{each}"] for each in ("gamma", "beta", "moving_mean", "moving_variance")
        )
        return (x - mean) / np.sqrt(variance + 1e-3) * gamma + beta

    def capped(x: Array) -> Array:
        return np.clip(x, 0, 6)

    x = capped(normalized(convolved(x, weights["Conv1/kernel"], 2), "bn_Conv1"))
    number = 0
    for stage, (expansion, _, depth) in enumerate(INVERTED):
        for block in range(depth):
            name = f"block_{number}" if number else "expanded_conv"
            y = x
            if expansion > 1:
                y = capped(normalized(convolved(y, weights[f"{name}_expand/kernel"], 1), f"{name}_expand_BN"))
            kernel = weights[f"{name}_depthwise/depthwise_kernel"][..., 0]
            stride = 2 if stage in (1, 2, 3, 5) and not block else 1
            y = convolved(y, kernel[..., None] * np.eye(kernel.shape[-1]), stride)
            y = capped(normalized(y, f"{name}_depthwise_BN"))
            y = normalized(convolved(y, weights[f"{name}_project/kernel"], 1), f"{name}_project_BN")
            x = x + y if block else y
            number += 1
    x = capped(normalized(convolved(x, weights["Conv_1/kernel"], 1), "Conv_1_bn"))
    return x.mean((1, 2)) @ weights["predictions/kernel"] + weights["predictions/bias"]


def randomize(model: Any) -> None:
    """Give a model weights that keep numbers near 1 through many layers."""
    random = np.random.RandomState(0)
    for variable in model.weights:
        shape = variable.shape.as_list()
        if "kernel" in variable.name:
            value = random.normal(0, (1.5 / np.prod(shape[:-1])) ** 0.5, shape)
        else:
            middle = 1 if variable.name.endswith(("gamma:0", "moving_variance:0")) else 0
            value = random.uniform(middle - 0.5, middle + 0.5, shape)
        variable.assign(value.astype(np.float32))


def test_outputs() -> None:
    random = np.random.RandomState(1)
    shape = (33, 40, 3)  # both an odd and an even side
    model = applications.MobileNetV2(shape, 0.35, weights=None, classes=5, classifier_activation=None)
    randomize(model)
    weights = {
        "/".join(variable.name.removesuffix(":0").split("/")[-2:]): variable.numpy().astype(np.float64)
        for variable in model.weights
    }
    x = random.uniform(-1, 1, (2, *shape)).astype(np.float32)
    expected = mobilenet_of(weights, x.astype(np.float64))
    np.testing.assert_allclose(model(x).numpy(), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_input_tensors() -> None:
    """What layers have made of inputs: the model begins at the inputs."""
    pixels = Input((32, 32, 3))
    model = applications.MobileNetV2(None, 0.35, False, None, Rescaling(1 / 255)(pixels))
    assert model.inputs[0] is pixels
    assert (model.name, model.layers[1].name.startswith("rescaling")) == ("mobilenetv2_0.35_None", True)
    assert model(ag.zeros([1, 32, 32, 3])).shape == (1, 1, 1, 1280)
    any_size = applications.MobileNetV2(alpha=0.35, include_top=False, weights=None, pooling="max")
    assert any_size.name == "mobilenetv2_0.35_None"
    assert [any_size(ag.zeros([1, side, 40, 3])).shape for side in (32, 48)] == [(1, 1280), (1, 1280)]


def test_training_further() -> None:
    """Features stand still while classes are learned; then they are trained, by the averages that they came with."""
    random = np.random.RandomState(0)
    base = applications.MobileNetV2((32, 32, 3), 0.35, False, None, pooling="avg")
    randomize(base)
    base.trainable = False
    images = Input((32, 32, 3))
    model = Model(images, Dense(3)(base(images, training=False)))
    x, labels = random.uniform(-1, 1, (4, 32, 32, 3)).astype("float32"), np.array([0, 1, 2, 1])

    def trained() -> tuple[list[Array], list[Array]]:
        model.compile("sgd", "mse")
        before = base.get_weights()
        model.fit(x, np.eye(3, dtype="float32")[labels], verbose=0)
        return before, base.get_weights()

    top = model.layers[-1].get_weights()
    before, after = trained()
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
    assert not np.array_equal(top[0], model.layers[-1].get_weights()[0])

    base.trainable = True
    before, after = trained()
    moved = {
        variable.name.rpartition("/")[2]: not np.array_equal(one, other)
        for variable, one, other in zip(base.weights, before, after, strict=True)
    }
    assert moved["kernel:0"]
    assert not moved["moving_mean:0"]
    assert not moved["moving_variance:0"]
