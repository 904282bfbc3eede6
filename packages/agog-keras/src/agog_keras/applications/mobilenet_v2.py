"""MobileNetV2: a small network of inverted residual blocks.

M. Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018, https://arxiv.org/abs/1801.04381.
"""

from __future__ import annotations

import warnings
from typing import Any

from agog_core.calls.docstrings import documented_like
from agog_keras.applications.application import Application, Network, PathLike, Wanted
from agog_keras.applications.image_shape import checked_shape
from agog_keras.applications.published import KERNELS, Published
from agog_keras.applications.scaling import padding_before_stride, rounded
from agog_layers import Dense
from agog_layers.convolution import Conv2D, DepthwiseConv2D, GlobalAveragePooling2D, ZeroPadding2D
from agog_layers.elementwise.rectifiers import ReLU
from agog_layers.layer.symbolic import Symbolic
from agog_layers.merging import Add
from agog_layers.normalization import BatchNormalization
from agog_training import Model

__all__ = ["MobileNetV2"]

# The expansion, the channels, the number of blocks and the stride of the first; table 2.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
# The sizes and widths that there are published weights for.
_SIZES = (96, 128, 160, 192, 224)
_WIDTHS = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)


def _normalized(x: Any, name: str) -> Any:
    return BatchNormalization(epsilon=1e-3, momentum=0.999, name=name)(x)


def _block(inputs: Any, expansion: int, channels: int, stride: int, name: str) -> Any:
    """Expand, convolve each channel by itself, and project; add the input, if the shapes are the same; figure 3."""
    x, before = inputs, int(inputs.shape[-1])
    if expansion > 1:
        x = Conv2D(expansion * before, 1, padding="same", use_bias=False, name=f"{name}_expand")(x)
        x = ReLU(6.0, name=f"{name}_expand_relu")(_normalized(x, f"{name}_expand_BN"))
    if stride == 2:
        x = ZeroPadding2D(padding_before_stride(x, 3), name=f"{name}_pad")(x)
    padding = "same" if stride == 1 else "valid"
    x = DepthwiseConv2D(3, strides=stride, use_bias=False, padding=padding, name=f"{name}_depthwise")(x)
    x = ReLU(6.0, name=f"{name}_depthwise_relu")(_normalized(x, f"{name}_depthwise_BN"))
    x = Conv2D(channels, 1, padding="same", use_bias=False, name=f"{name}_project")(x)
    x = _normalized(x, f"{name}_project_BN")
    return Add(name=f"{name}_add")([inputs, x]) if before == channels and stride == 1 else x


def _trunk(x: Any, alpha: float) -> Any:
    x = Conv2D(rounded(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="Conv1")(x)
    x = ReLU(6.0, name="Conv1_relu")(_normalized(x, "bn_Conv1"))
    number = 0
    for expansion, channels, depth, stride in _STAGES:
        for block in range(depth):
            name = f"block_{number}" if number else "expanded_conv"
            x = _block(x, expansion, rounded(int(channels * alpha)), 1 if block else stride, name)
            number += 1
    x = Conv2D(rounded(1280 * max(alpha, 1.0)), 1, use_bias=False, name="Conv_1")(x)
    return ReLU(6.0, name="out_relu")(_normalized(x, "Conv_1_bn"))


def _top(features: Any, classes: int, activation: Any) -> Any:
    return Dense(classes, activation=activation, name="predictions")(GlobalAveragePooling2D()(features))


@documented_like(Application.__call__)
def MobileNetV2(
    input_shape: Any = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: PathLike | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
    name: str | None = None,
) -> Model:
    """MobileNetV2; `mobilenet_v2.preprocess_input` scales pixels for it.

    M. Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018.

    Args:
        alpha: the width of all layers; 1 is the paper's.
        name: the model's name; None for one with the width and the height.

    >>> model = MobileNetV2((96, 96, 3), alpha=0.35, weights=None)
    >>> model.name, model.count_params()
    ('mobilenetv2_0.35_96', 1691208)
    """
    said = _sizes(input_shape, input_tensor)
    size = said[0] if len(set(said)) == 1 and said[0] in _SIZES else 224
    rows, columns = said if input_shape is not None else (size, size) if include_top else (None, None)
    if weights == "imagenet":
        if alpha not in _WIDTHS:
            raise ValueError(f"MobileNetV2: with weights='imagenet' alpha must be one of {_WIDTHS}; got {alpha}.")
        if rows != columns or rows not in _SIZES:
            rows = 224
            warnings.warn(
                f"MobileNetV2: there are weights for images of height and width {', '.join(map(str, _SIZES))}; those "
                "for 224 are taken.",
                stacklevel=2,
            )
    file = f"mobilenet_v2_{KERNELS}_{float(alpha)}_{rows}"
    published = Published(
        "tensorflow/keras-applications/mobilenet_v2", (f"{file}.h5", f"{file}_no_top.h5"), (None, None)
    )
    name = name or f"mobilenetv2_{alpha:0.2f}_{rows}"
    network = Network(
        "MobileNetV2", lambda images: _trunk(images, alpha), published, size, top=_top, pools=(None, None)
    )
    return network.build(
        Wanted(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name)
    )


def _sizes(input_shape: Any, input_tensor: Any) -> tuple[int | None, ...]:
    """The height and width that a program says; empty if it says none."""
    of_tensor = input_tensor.shape[1:3].as_list() if isinstance(input_tensor, Symbolic) else []
    if input_shape is None:
        return tuple(of_tensor)
    given = checked_shape("MobileNetV2", input_shape)[:2]
    if of_tensor and of_tensor[1] != given[1]:
        raise ValueError(
            f"MobileNetV2: input_shape and input_tensor must have one width; got {input_shape} and "
            f"{input_tensor.shape}."
        )
    return given
