"""Inception-v3: a network of parallel branches, with large kernels in factors.

C. Szegedy et al., "Rethinking the Inception architecture for computer vision", 2015, https://arxiv.org/abs/1512.00567.
"""

from __future__ import annotations

from typing import Any

from agog_keras.applications.application import application
from agog_keras.applications.published import published
from agog_layers.convolution import AveragePooling2D, Conv2D, MaxPooling2D
from agog_layers.elementwise.activation import Activation
from agog_layers.merging import Concatenate
from agog_layers.normalization import BatchNormalization

__all__ = ["InceptionV3"]


def _convolution(x: Any, filters: int, height: int, width: int, strides: int = 1, padding: str = "same") -> Any:
    x = Conv2D(filters, (height, width), strides=strides, padding=padding, use_bias=False)(x)
    return Activation("relu")(BatchNormalization(scale=False)(x))


def _branch(x: Any, *convolutions: tuple[int, int, int]) -> Any:
    """Convolutions one after another: of so many filters, of that height and width."""
    for filters, height, width in convolutions:
        x = _convolution(x, filters, height, width)
    return x


def _average(x: Any) -> Any:
    return AveragePooling2D(3, strides=1, padding="same")(x)


def _half(x: Any, filters: int) -> Any:
    """A 3 x 3 convolution that halves the image."""
    return _convolution(x, filters, 3, 3, strides=2, padding="valid")


def _in_squares(x: Any, pooled: int, name: str) -> Any:
    """A block whose 5 x 5 kernels are two of 3 x 3; figure 5."""
    branches = [
        _branch(x, (64, 1, 1)),
        _branch(x, (48, 1, 1), (64, 5, 5)),
        _branch(x, (64, 1, 1), (96, 3, 3), (96, 3, 3)),
        _branch(_average(x), (pooled, 1, 1)),
    ]
    return Concatenate(name=name)(branches)


def _in_lines(x: Any, filters: int, name: str) -> Any:
    """A block whose 7 x 7 kernels are 1 x 7 and 7 x 1; figure 6."""
    few = filters
    branches = [
        _branch(x, (192, 1, 1)),
        _branch(x, (few, 1, 1), (few, 1, 7), (192, 7, 1)),
        _branch(x, (few, 1, 1), (few, 7, 1), (few, 1, 7), (few, 7, 1), (192, 1, 7)),
        _branch(_average(x), (192, 1, 1)),
    ]
    return Concatenate(name=name)(branches)


def _in_width(x: Any, name: str, inner: str) -> Any:
    """A block whose 3 x 3 kernels are 1 x 3 beside 3 x 1; figure 7."""
    first = _branch(x, (320, 1, 1))
    single = _branch(x, (384, 1, 1))
    single = Concatenate(name=inner)([_branch(single, (384, 1, 3)), _branch(single, (384, 3, 1))])
    double = _branch(x, (448, 1, 1), (384, 3, 3))
    double = Concatenate()([_branch(double, (384, 1, 3)), _branch(double, (384, 3, 1))])
    return Concatenate(name=name)([first, single, double, _branch(_average(x), (192, 1, 1))])


@application(
    published("inception_v3", "inception_v3", "9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63"),
    name="inception_v3",
    size=299,
    least=75,
    pools=(None, None),
)
def InceptionV3(images: Any) -> Any:
    """Inception-v3; `inception_v3.preprocess_input` scales pixels for it.

    C. Szegedy et al., "Rethinking the Inception architecture for computer vision", 2015.

    >>> InceptionV3(include_top=False, weights=None, input_shape=(75, 75, 3)).output_shape
    TensorShape([None, 1, 1, 2048])
    """
    x = _half(images, 32)
    x = _convolution(x, 32, 3, 3, padding="valid")
    x = MaxPooling2D(3, strides=2)(_convolution(x, 64, 3, 3))
    x = _convolution(x, 80, 1, 1, padding="valid")
    x = MaxPooling2D(3, strides=2)(_convolution(x, 192, 3, 3, padding="valid"))

    for block, pooled in enumerate((32, 64, 64)):
        x = _in_squares(x, pooled, f"mixed{block}")
    branches = [_half(x, 384), _half(_branch(x, (64, 1, 1), (96, 3, 3)), 96), MaxPooling2D(3, strides=2)(x)]
    x = Concatenate(name="mixed3")(branches)

    for block, filters in enumerate((128, 160, 160, 192), 4):
        x = _in_lines(x, filters, f"mixed{block}")
    narrow = _half(_branch(x, (192, 1, 1)), 320)
    wide = _half(_branch(x, (192, 1, 1), (192, 1, 7), (192, 7, 1)), 192)
    x = Concatenate(name="mixed8")([narrow, wide, MaxPooling2D(3, strides=2)(x)])

    for block in range(2):
        x = _in_width(x, f"mixed{9 + block}", f"mixed9_{block}")
    return x
