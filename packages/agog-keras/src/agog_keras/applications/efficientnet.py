"""EfficientNet: networks of which depth, width and size of the image grow together.

M. Tan and Q. Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019,
https://arxiv.org/abs/1905.11946.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from agog_keras.applications.application import Application, Trunk, application
from agog_keras.applications.published import Published
from agog_keras.applications.scaling import padding_before_stride, rounded
from agog_keras.layers.numbers import Normalization, Rescaling
from agog_layers import Dense, Dropout
from agog_layers.convolution import Conv2D, DepthwiseConv2D, GlobalAveragePooling2D, ZeroPadding2D
from agog_layers.elementwise.activation import Activation
from agog_layers.merging import Add, Multiply
from agog_layers.normalization import BatchNormalization
from agog_layers.reshaping.reshaping import Reshape
from agog_layers.weights.variance_scaling import VarianceScaling

__all__ = [
    "EfficientNetB0",
    "EfficientNetB1",
    "EfficientNetB2",
    "EfficientNetB3",
    "EfficientNetB4",
    "EfficientNetB5",
    "EfficientNetB6",
    "EfficientNetB7",
]

# The expansion, the channels, the number of blocks, the stride of the first, and the size of kernels; table 1.
_STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)
# Blocks that are dropped at the end of the network; those before it less often.
_MOST_DROPPED = 0.2
# The standard deviation of ImageNet's pixels.
_DEVIATION = (0.229, 0.224, 0.225)


def _convolution(filters: int, size: int, name: str, **options: Any) -> Any:
    return Conv2D(filters, size, kernel_initializer=_initializer(), name=name, **options)


def _initializer() -> Any:
    return VarianceScaling(2.0, mode="fan_out", distribution="truncated_normal")


def _activated(x: Any, name: str, activation: str) -> Any:
    return Activation("swish", name=activation)(BatchNormalization(name=name)(x))


def _excited(x: Any, channels: int, name: str) -> Any:
    """Weigh each channel by all their means: J. Hu et al., "Squeeze-and-excitation networks", 2017."""
    width = int(x.shape[-1])
    means = Reshape((1, 1, width), name=f"{name}se_reshape")(GlobalAveragePooling2D(name=f"{name}se_squeeze")(x))
    few = _convolution(channels, 1, f"{name}se_reduce", padding="same", activation="swish")(means)
    scores = _convolution(width, 1, f"{name}se_expand", padding="same", activation="sigmoid")(few)
    return Multiply(name=f"{name}se_excite")([x, scores])


def _block(inputs: Any, expansion: int, channels: int, stride: int, size: int, dropped: float, name: str) -> Any:
    """An inverted residual block, as of MobileNetV2, whose channels are weighed."""
    x, before = inputs, int(inputs.shape[-1])
    if expansion > 1:
        x = _convolution(expansion * before, 1, f"{name}expand_conv", padding="same", use_bias=False)(x)
        x = _activated(x, f"{name}expand_bn", f"{name}expand_activation")
    if stride == 2:
        x = ZeroPadding2D(padding_before_stride(x, size), name=f"{name}dwconv_pad")(x)
    x = DepthwiseConv2D(
        size,
        strides=stride,
        padding="same" if stride == 1 else "valid",
        use_bias=False,
        depthwise_initializer=_initializer(),
        name=f"{name}dwconv",
    )(x)
    x = _excited(_activated(x, f"{name}bn", f"{name}activation"), max(1, before // 4), name)
    x = _convolution(channels, 1, f"{name}project_conv", padding="same", use_bias=False)(x)
    x = BatchNormalization(name=f"{name}project_bn")(x)
    if stride != 1 or before != channels:
        return x
    if dropped:
        x = Dropout(dropped, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
    return Add(name=f"{name}add")([x, inputs])


def _scaled(images: Any, imagenet: bool) -> Any:
    """Pixels from 0 to 255 as the network takes them."""
    x = Normalization(axis=3)(Rescaling(1 / 255)(images))
    if imagenet:  # the published weights stand for a division by the variance: Normalization's is by its root
        x = Rescaling([1 / math.sqrt(deviation) for deviation in _DEVIATION])(x)
    return x


def _trunk(x: Any, width: float, depth: float) -> Any:
    x = ZeroPadding2D(padding_before_stride(x, 3), name="stem_conv_pad")(x)
    x = _convolution(rounded(32 * width), 3, "stem_conv", strides=2, use_bias=False)(x)
    x = _activated(x, "stem_bn", "stem_activation")
    depths = [math.ceil(depth * blocks) for _, _, blocks, _, _ in _STAGES]
    number = 0
    for stage, (expansion, channels, _, stride, size) in enumerate(_STAGES):
        for block in range(depths[stage]):
            dropped = _MOST_DROPPED * number / sum(depths)
            name = f"block{stage + 1}{chr(ord('a') + block)}_"
            x = _block(x, expansion, rounded(channels * width), 1 if block else stride, size, dropped, name)
            number += 1
    x = _convolution(rounded(1280 * width), 1, "top_conv", padding="same", use_bias=False)(x)
    return _activated(x, "top_bn", "top_activation")


def _efficientnet(file: str, size: int, dropped: float, *checksums: str) -> Callable[[Trunk], Application]:
    """What makes an application of a trunk, with the size of its images and the dropout before its classes."""
    with_top, without_top = checksums

    def top(features: Any, classes: int, activation: Any) -> Any:
        x = Dropout(dropped, name="top_dropout")(GlobalAveragePooling2D(name="avg_pool")(features))
        initializer = VarianceScaling(1 / 3, mode="fan_out", distribution="uniform")
        return Dense(classes, activation=activation, kernel_initializer=initializer, name="predictions")(x)

    published = Published("keras-applications", (f"{file}.h5", f"{file}_notop.h5"), (with_top, without_top))
    return application(published, size=size, top=top, scale_images=_scaled)


@_efficientnet("efficientnetb0", 224, 0.2, "902e53a9f72be733fc0bcb005b3ebbac", "50bc09e76180e00e4465e1a485ddc09d")
def EfficientNetB0(images: Any) -> Any:
    """EfficientNet-B0. It scales pixels itself, so images have pixels from 0 to 255.

    M. Tan and Q. Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019.

    >>> EfficientNetB0(weights=None, classes=10, input_shape=(32, 32, 3)).output_shape
    TensorShape([None, 10])
    """
    return _trunk(images, 1.0, 1.0)


@_efficientnet("efficientnetb1", 240, 0.2, "1d254153d4ab51201f1646940f018540", "74c4e6b3e1f6a1eea24c589628592432")
def EfficientNetB1(images: Any) -> Any:
    """EfficientNet-B1, which is deeper; see `EfficientNetB0`."""
    return _trunk(images, 1.0, 1.1)


@_efficientnet("efficientnetb2", 260, 0.3, "b15cce36ff4dcbd00b6dd88e7857a6ad", "111f8e2ac8aa800a7a99e3239f7bfb39")
def EfficientNetB2(images: Any) -> Any:
    """EfficientNet-B2, which is wider and deeper; see `EfficientNetB0`."""
    return _trunk(images, 1.1, 1.2)


@_efficientnet("efficientnetb3", 300, 0.3, "ffd1fdc53d0ce67064dc6a9c7960ede0", "af6d107764bb5b1abb91932881670226")
def EfficientNetB3(images: Any) -> Any:
    """EfficientNet-B3, which is wider and deeper; see `EfficientNetB0`."""
    return _trunk(images, 1.2, 1.4)


@_efficientnet("efficientnetb4", 380, 0.4, "18c95ad55216b8f92d7e70b3a046e2fc", "ebc24e6d6c33eaebbd558eafbeedf1ba")
def EfficientNetB4(images: Any) -> Any:
    """EfficientNet-B4, which is wider and deeper; see `EfficientNetB0`."""
    return _trunk(images, 1.4, 1.8)


@_efficientnet("efficientnetb5", 456, 0.4, "ace28f2a6363774853a83a0b21b9421a", "38879255a25d3c92d5e44e04ae6cec6f")
def EfficientNetB5(images: Any) -> Any:
    """EfficientNet-B5, which is wider and deeper; see `EfficientNetB0`."""
    return _trunk(images, 1.6, 2.2)


@_efficientnet("efficientnetb6", 528, 0.5, "165f6e37dce68623721b423839de8be5", "9ecce42647a20130c1f39a5d4cb75743")
def EfficientNetB6(images: Any) -> Any:
    """EfficientNet-B6, which is wider and deeper; see `EfficientNetB0`."""
    return _trunk(images, 1.8, 2.6)


@_efficientnet("efficientnetb7", 600, 0.5, "8c03f828fec3ef71311cd463b6759d99", "cbcfe4450ddf6f3ad90b1b398090fe4a")
def EfficientNetB7(images: Any) -> Any:
    """EfficientNet-B7, which is wider and deeper; see `EfficientNetB0`."""
    return _trunk(images, 2.0, 3.1)
