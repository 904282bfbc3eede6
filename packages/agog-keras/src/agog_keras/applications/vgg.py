"""VGG: networks of 3 x 3 convolutions.

K. Simonyan and A. Zisserman, "Very deep convolutional networks for large-scale image recognition", 2014,
https://arxiv.org/abs/1409.1556.
"""

from __future__ import annotations

from typing import Any

from agog_keras.applications.application import application
from agog_keras.applications.published import published
from agog_layers import Dense, Flatten
from agog_layers.convolution import Conv2D, MaxPooling2D

__all__ = ["VGG16", "VGG19"]

_WIDTHS = (64, 128, 256, 512, 512)


def _trunk(x: Any, depths: tuple[int, ...]) -> Any:
    """Blocks of convolutions, each of which halves the image."""
    for block, (width, depth) in enumerate(zip(_WIDTHS, depths, strict=True), 1):
        for number in range(1, depth + 1):
            x = Conv2D(width, 3, padding="same", activation="relu", name=f"block{block}_conv{number}")(x)
        x = MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    return x


def _top(features: Any, classes: int, activation: Any) -> Any:
    x = Flatten(name="flatten")(features)
    x = Dense(4096, activation="relu", name="fc1")(x)
    x = Dense(4096, activation="relu", name="fc2")(x)
    return Dense(classes, activation=activation, name="predictions")(x)


@application(
    published("vgg16", "vgg16", "64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
    top=_top,
    pools=(None, None),
)
def VGG16(images: Any) -> Any:
    """VGG with 16 layers of weights; `vgg16.preprocess_input` scales pixels for it.

    K. Simonyan and A. Zisserman, "Very deep convolutional networks for large-scale image recognition", 2014.

    >>> VGG16(include_top=False, weights=None, input_shape=(32, 32, 3)).output_shape
    TensorShape([None, 1, 1, 512])
    """
    return _trunk(images, (2, 2, 3, 3, 3))


@application(
    published("vgg19", "vgg19", "cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
    top=_top,
    pools=(None, None),
)
def VGG19(images: Any) -> Any:
    """VGG with 19 layers of weights; see `VGG16`."""
    return _trunk(images, (2, 2, 4, 4, 4))
