"""ResNet: networks of residual blocks.

K. He et al., "Deep residual learning for image recognition", 2015, https://arxiv.org/abs/1512.03385.
"""

from __future__ import annotations

from typing import Any

from agog_keras.applications.application import application
from agog_keras.applications.published import published
from agog_layers.convolution import Conv2D, MaxPooling2D, ZeroPadding2D
from agog_layers.elementwise.activation import Activation
from agog_layers.merging import Add
from agog_layers.normalization import BatchNormalization

__all__ = ["ResNet50", "ResNet101", "ResNet152"]


def _convolution(x: Any, filters: int, size: int, name: str, **options: Any) -> Any:
    x = Conv2D(filters, size, name=f"{name}_conv", **options)(x)
    return BatchNormalization(epsilon=1.001e-5, name=f"{name}_bn")(x)


def _relu(x: Any, name: str) -> Any:
    return Activation("relu", name=name)(x)


def _block(x: Any, filters: int, stride: int, projects: bool, name: str) -> Any:
    """A bottleneck block of 1 x 1, 3 x 3 and 1 x 1, added to its input; figure 5. The first one has the stride."""
    shortcut = _convolution(x, 4 * filters, 1, f"{name}_0", strides=stride) if projects else x
    x = _relu(_convolution(x, filters, 1, f"{name}_1", strides=stride), f"{name}_1_relu")
    x = _relu(_convolution(x, filters, 3, f"{name}_2", padding="same"), f"{name}_2_relu")
    x = _convolution(x, 4 * filters, 1, f"{name}_3")
    return _relu(Add(name=f"{name}_add")([shortcut, x]), f"{name}_out")


def _trunk(x: Any, depths: tuple[int, ...]) -> Any:
    """The first convolution, and four stages of so many blocks; table 1."""
    x = ZeroPadding2D(3, name="conv1_pad")(x)
    x = _relu(_convolution(x, 64, 7, "conv1", strides=2), "conv1_relu")
    x = ZeroPadding2D(1, name="pool1_pad")(x)
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stage, depth in enumerate(depths):
        for block in range(depth):
            stride = 2 if stage and not block else 1
            x = _block(x, 64 << stage, stride, not block, f"conv{stage + 2}_block{block + 1}")
    return x


@application(published("resnet", "resnet50", "2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"))
def ResNet50(images: Any) -> Any:
    """A residual network of 50 layers; `resnet50.preprocess_input` scales pixels for it.

    K. He et al., "Deep residual learning for image recognition", 2015.

    >>> model = ResNet50(weights=None, input_shape=(32, 32, 3), classes=10)
    >>> model.output_shape, model.count_params()
    (TensorShape([None, 10]), 23608202)
    """
    return _trunk(images, (3, 4, 6, 3))


@application(published("resnet", "resnet101", "f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"))
def ResNet101(images: Any) -> Any:
    """A residual network of 101 layers; see `ResNet50`."""
    return _trunk(images, (3, 4, 23, 3))


@application(published("resnet", "resnet152", "100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"))
def ResNet152(images: Any) -> Any:
    """A residual network of 152 layers; see `ResNet50`."""
    return _trunk(images, (3, 8, 36, 3))
