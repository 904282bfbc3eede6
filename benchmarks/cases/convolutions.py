"""Convolutions: forward, and forward with both gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.kinds import Forward, Gradient, filters, images


class ConvForward(Forward):
    """3 x 3, 64 to 64 channels, (32, 28, 28) pixels, forward alone."""

    form = (32, 28, 28, 64), (3, 3, 64, 64)
    stride, groups = 1, 1

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        x, kernel = self.form
        return images(rng, *x), filters(rng, *kernel)

    def agog(self, tf: Any, x: Any, kernel: Any) -> Any:
        return tf.nn.conv2d(x, kernel, (1, self.stride, self.stride, 1), "SAME")

    def torch(self, torch: Any, x: Any, kernel: Any) -> Any:
        padding = self.form[1][0] // 2  # at stride 2 one pixel beside "SAME", which PyTorch has at stride 1 alone
        return torch.nn.functional.conv2d(x, kernel, stride=self.stride, padding=padding, groups=self.groups)

    def jax(self, jax: Any, x: Any, kernel: Any) -> Any:
        numbers, steps = ("NHWC", "HWIO", "NHWC"), (self.stride, self.stride)
        return jax.lax.conv_general_dilated(
            x, kernel, steps, "SAME", dimension_numbers=numbers, feature_group_count=self.groups
        )


class Conv(ConvForward, Gradient):
    """3 x 3, 64 to 64 channels, (32, 28, 28) pixels."""

    program = Gradient.program


class ConvSingle(Conv):
    """1 x 1, 64 to 256 channels, (32, 28, 28) pixels."""

    form = (32, 28, 28, 64), (1, 1, 64, 256)


class ConvStrided(Conv):
    """3 x 3 with stride 2, 64 to 128 channels, (32, 28, 28) pixels."""

    form = (32, 28, 28, 64), (3, 3, 64, 128)
    stride, is_comparable = 2, False


class ConvFirst(Conv):
    """7 x 7 with stride 2, 3 to 64 channels, (8, 112, 112) pixels."""

    form = (8, 112, 112, 3), (7, 7, 3, 64)
    stride, is_comparable = 2, False


class ConvGrouped(Conv):
    """3 x 3 in 4 groups, 64 to 64 channels, (32, 28, 28) pixels."""

    form = (32, 28, 28, 64), (3, 3, 16, 64)
    groups = 4

    def agog(self, tf: Any, x: Any, kernel: Any) -> Any:
        return tf.keras.ops.conv(x, kernel, padding="same")


class ConvDepthwise(Conv):
    """3 x 3, each of 64 channels for itself, (32, 28, 28) pixels."""

    form = (32, 28, 28, 64), (3, 3, 1, 64)
    groups = 64

    def agog(self, tf: Any, x: Any, kernel: Any) -> Any:
        return tf.nn.depthwise_conv2d(x, tf.transpose(kernel, (0, 1, 3, 2)), (1, 1, 1, 1), "SAME")


class ConvTransposed(Conv):
    """3 x 3 transposed with stride 2, 64 to 32 channels, (16, 14, 14) to (16, 28, 28) pixels."""

    form = (16, 14, 14, 64), (3, 3, 32, 64)
    is_comparable = False

    def agog(self, tf: Any, x: Any, kernel: Any) -> Any:
        return tf.nn.conv2d_transpose(x, kernel, (16, 28, 28, 32), (1, 2, 2, 1), "SAME")

    def torch(self, torch: Any, x: Any, kernel: Any) -> Any:
        return torch.nn.functional.conv_transpose2d(x, kernel, stride=2, padding=1, output_padding=1)

    def jax(self, jax: Any, x: Any, kernel: Any) -> Any:
        return jax.lax.conv_transpose(
            x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), transpose_kernel=True
        )


CONVOLUTIONS = (
    *(ConvForward(), Conv(), ConvSingle(), ConvStrided(), ConvFirst()),
    *(ConvGrouped(), ConvDepthwise(), ConvTransposed()),
)
