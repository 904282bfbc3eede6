"""Functions: the functions of ``tf.layers``."""

from __future__ import annotations

from agog_layers.tf_layers.functional import functional
from agog_layers.tf_layers.layers import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    BatchNormalization,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Dense,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    SeparableConv1D,
    SeparableConv2D,
)

__all__ = [
    "average_pooling1d",
    "average_pooling2d",
    "average_pooling3d",
    "batch_normalization",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "dense",
    "max_pooling1d",
    "max_pooling2d",
    "max_pooling3d",
    "separable_conv1d",
    "separable_conv2d",
]

_VARIABLES = ("trainable", "name", "reuse")

dense = functional(Dense, _VARIABLES)
conv1d = functional(Conv1D, _VARIABLES, ("groups",))
conv2d = functional(Conv2D, _VARIABLES, ("groups",))
conv3d = functional(Conv3D, _VARIABLES, ("groups",))
conv2d_transpose = functional(Conv2DTranspose, _VARIABLES, ("output_padding",))
conv3d_transpose = functional(Conv3DTranspose, _VARIABLES, ("output_padding",))
separable_conv1d = functional(SeparableConv1D, _VARIABLES)
separable_conv2d = functional(SeparableConv2D, _VARIABLES)
max_pooling1d = functional(MaxPooling1D)
max_pooling2d = functional(MaxPooling2D)
max_pooling3d = functional(MaxPooling3D)
average_pooling1d = functional(AveragePooling1D)
average_pooling2d = functional(AveragePooling2D)
average_pooling3d = functional(AveragePooling3D)
batch_normalization = functional(
    BatchNormalization,
    (
        *("training", "trainable", "name", "reuse", "renorm", "renorm_clipping", "renorm_momentum", "fused"),
        *("virtual_batch_size", "adjustment"),
    ),
)
