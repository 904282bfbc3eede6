"""Resizing: each output row, then each output column, is a weighted sum of a few of the input's."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array, Sizes


def resample(xp: Any, images: Array, *, size: Sizes, method: str, align_corners: bool) -> Array:
    """Images of another size."""
    x = images
    for axis in (1, 2):
        indices, weights = _sources(xp, images.shape[axis], size[axis - 1], method, align_corners)
        if weights is None:
            x = xp.take(x, indices[0], axis)
            continue
        shape = (-1, 1, 1) if axis == 1 else (-1, 1)
        x = x.astype("float32") if x.dtype.itemsize == 2 else x
        weights = weights.astype(x.dtype)
        out = xp.take(x, indices[0], axis)
        out *= weights[0].reshape(shape)
        for index, weight in zip(indices[1:], weights[1:], strict=True):
            part = xp.take(x, index, axis)
            part *= weight.reshape(shape)
            out += part
        x = out
    return x.astype(images.dtype, copy=False)


def resample_grad(xp: Any, gradient: Array, *, images_shape: Sizes, method: str, align_corners: bool) -> Array:
    """The transpose: products with the matrices of the weights, as many elements add up in one."""
    wide = "float32" if gradient.dtype.itemsize == 2 else gradient.dtype
    batch, rows, columns, channels = gradient.shape
    height, width = images_shape[1:3]
    if not gradient.size or not math.prod(images_shape):
        return xp.zeros(images_shape, gradient.dtype)
    across = _matrix(xp, width, columns, method, align_corners, wide)
    g = xp.matmul(across, gradient.astype(wide).reshape(batch * rows, columns, channels))
    down = _matrix(xp, height, rows, method, align_corners, wide)
    g = xp.matmul(down, g.reshape(batch, rows, width * channels))
    return g.reshape(images_shape).astype(gradient.dtype)


def _matrix(xp: Any, length: int, new_length: int, method: str, align_corners: bool, dtype: Any) -> Array:
    """The weights as a matrix of shape (length, new length)."""
    indices, weights = _sources(xp, length, new_length, method, align_corners)
    matrix, columns = xp.zeros((length, new_length), dtype), xp.arange(new_length)
    for n, index in enumerate(indices):
        matrix[index, columns] += 1 if weights is None else weights[n].astype(dtype)
    return matrix


def _sources(xp: Any, length: int, new_length: int, method: str, align_corners: bool) -> tuple[Array, Array | None]:
    """For each output position, which inputs it is made of, and their weights (None for ones), both of shape (inputs
    per output, new length). Positions are float32, as TensorFlow's are, so that the same pixels are chosen.
    """
    ends = align_corners and new_length > 1
    quotient = (length - 1, new_length - 1) if ends else (length, max(1, new_length))
    scale = quotient[0] / quotient[1]  # rounded to float32 where it meets the positions, as it would be by itself
    places = xp.arange(new_length, dtype="float32") * scale
    below = xp.floor(places)
    if method == "nearest":
        starts, weights = (xp.floor(places + 0.5) if align_corners else below)[None], None
    elif method == "bilinear":
        part = places - below
        starts, weights = xp.stack([below, below + 1]), xp.stack([1 - part, part])
    elif method == "bicubic":
        starts = xp.stack([below + n for n in range(-1, 3)])
        weights = _cubic(xp, (places - below).astype("float64"))
    else:
        count = math.ceil(quotient[0] / quotient[1]) + 1
        starts = xp.stack([below + n for n in range(count)])
        ends_at = xp.arange(1, new_length + 1, dtype="float32") * scale
        covered = xp.maximum(xp.minimum(starts + 1, ends_at) - xp.maximum(starts, places), 0)
        weights = covered / scale if quotient[0] else (starts == below).astype("float32")
    return xp.clip(starts, 0, length - 1).astype("int64"), weights


def _cubic(xp: Any, part: Array) -> Array:
    """The weights of Keys' cubic convolution with a = -0.75, of a position rounded to 1/1024 as in TensorFlow."""
    a = -0.75
    part = xp.rint(part * 1024) / 1024

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return xp.stack([far(part + 1), near(part), near(1 - part), far(2 - part)]).astype("float32")
