"""Morphology: grayscale dilation and erosion."""

from __future__ import annotations

import math
from typing import Any

from agog_core.calls.docstrings import documented_like
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import pad, reshape, reverse
from agog_core.ops.conv.arguments import check_rank, pairs_of, per_axis
from agog_core.ops.conv.patches import extract_image_patches
from agog_core.ops.reduce.extrema import reduce_max
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["dilation2d", "erosion2d"]


def dilation2d(
    input: TensorLike, filter: TensorLike, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Grayscale dilation: the maximum over a window of image plus filter. Padding does not count.

    Args:
        input: floats of shape (batch, height, width, channels).
        filter: floats of shape (window height, window width, channels).
        strides: the steps of the window, ``[1, rows, columns, 1]``.
        rates: the distances between the window's elements, ``[1, rows, columns, 1]``.
        padding: ``"SAME"`` or ``"VALID"``.

    Returns:
        A tensor of shape (batch, rows, columns, channels).

    Raises:
        InvalidArgumentError: shapes, dtypes or another argument do not fit.

    >>> print(dilation2d([[[[1.0], [3.0], [2.0]]]], [[[0.0], [2.0]]], [1] * 4, [1] * 4, "VALID").numpy().tolist())
    [[[[5.0], [4.0]]]]
    """
    return _dilation("dilation2d", input, filter, strides, rates, padding)


@documented_like(dilation2d, "Returns", "Raises")
def erosion2d(
    value: TensorLike, kernel: TensorLike, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Grayscale erosion: the minimum over a window of image minus filter. Padding does not count.

    Args:
        value: floats of shape (batch, height, width, channels).
        kernel: floats of shape (window height, window width, channels).
        Other arguments: see `dilation2d`.

    >>> print(erosion2d([[[[1.0], [3.0], [2.0]]]], [[[0.0], [2.0]]], [1] * 4, [1] * 4, "VALID").numpy().tolist())
    [[[[-1.0], [1.0]]]]
    """
    f = convert_to_tensor(kernel)
    check_rank("erosion2d", "the filter", f, 3, "window height, window width, channels")
    turned = reverse(f, (0, 1))
    return -_dilation("erosion2d", -convert_to_tensor(value), turned, strides, rates, padding)


def _dilation(op: str, image: TensorLike, filter: TensorLike, strides: Any, rates: Any, padding: str) -> Tensor:
    x, f = convert_to_tensor(image), convert_to_tensor(filter)
    check_rank(op, "the image", x, 4, "batch, height, width, channels")
    check_rank(op, "the filter", f, 3, "window height, window width, channels")
    if x._shape[-1] != f._shape[-1] or not x.dtype.is_floating:
        raise InvalidArgumentError(
            f"{op}: image and filter must be floats with the same channels; got dtype {x.dtype.name} and shapes "
            f"{x._shape} and {f._shape}."
        )
    height, width, channels = f._shape
    steps, distances = per_axis(op, "strides", strides, 2), per_axis(op, "rates", rates, 2)
    pairs = pairs_of(op, padding, x._shape[1:-1], (height, width), steps, distances)
    if any(map(any, pairs)):
        x = pad(x, ((0, 0), *pairs, (0, 0)), constant_values=-math.inf)
    seen = extract_image_patches(x, (height, width), steps, distances, "VALID")
    windows = reshape(seen, (*seen._shape[:3], height * width, channels))
    return reduce_max(windows + reshape(f, (height * width, channels)), 3)
