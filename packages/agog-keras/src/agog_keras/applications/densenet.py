"""DenseNet: networks in which each layer sees all those before it.

G. Huang et al., "Densely connected convolutional networks", 2016, https://arxiv.org/abs/1608.06993.
"""

from __future__ import annotations

from typing import Any

from agog_keras.applications.application import application
from agog_keras.applications.published import published
from agog_layers.convolution import AveragePooling2D, Conv2D, MaxPooling2D, ZeroPadding2D
from agog_layers.elementwise.activation import Activation
from agog_layers.merging import Concatenate
from agog_layers.normalization import BatchNormalization

__all__ = ["DenseNet121", "DenseNet169", "DenseNet201"]

_GROWTH = 32


def _activated(x: Any, name: str) -> Any:
    x = BatchNormalization(epsilon=1.001e-5, name=f"{name}bn")(x)
    return Activation("relu", name=f"{name}relu")(x)


def _layer(x: Any, name: str) -> Any:
    """A bottleneck layer, whose channels join those that it sees; section 3."""
    y = Conv2D(4 * _GROWTH, 1, use_bias=False, name=f"{name}_1_conv")(_activated(x, f"{name}_0_"))
    y = Conv2D(_GROWTH, 3, padding="same", use_bias=False, name=f"{name}_2_conv")(_activated(y, f"{name}_1_"))
    return Concatenate(name=f"{name}_concat")([x, y])


def _transition(x: Any, name: str) -> Any:
    """Half the channels, and half the height and width."""
    x = _activated(x, f"{name}_")
    x = Conv2D(int(x.shape[-1]) // 2, 1, use_bias=False, name=f"{name}_conv")(x)
    return AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _trunk(x: Any, depths: tuple[int, ...]) -> Any:
    """The first convolution, and four blocks of so many layers with transitions between them; table 1."""
    x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(ZeroPadding2D(3)(x))
    x = MaxPooling2D(3, strides=2, name="pool1")(ZeroPadding2D(1)(_activated(x, "conv1_")))
    for block, depth in enumerate(depths, 2):
        if block > 2:
            x = _transition(x, f"pool{block - 1}")
        for number in range(1, depth + 1):
            x = _layer(x, f"conv{block}_block{number}")
    return _activated(x, "")


@application(
    published("densenet", "densenet121", "9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738")
)
def DenseNet121(images: Any) -> Any:
    """A densely connected network of 121 layers; `densenet.preprocess_input` scales pixels for it.

    G. Huang et al., "Densely connected convolutional networks", 2016.

    >>> DenseNet121(weights=None, classes=10, input_shape=(32, 32, 3)).output_shape
    TensorShape([None, 10])
    """
    return _trunk(images, (6, 12, 24, 16))


@application(
    published("densenet", "densenet169", "d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b")
)
def DenseNet169(images: Any) -> Any:
    """A densely connected network of 169 layers; see `DenseNet121`."""
    return _trunk(images, (6, 12, 32, 32))


@application(
    published("densenet", "densenet201", "1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1")
)
def DenseNet201(images: Any) -> Any:
    """A densely connected network of 201 layers; see `DenseNet121`."""
    return _trunk(images, (6, 12, 48, 32))
