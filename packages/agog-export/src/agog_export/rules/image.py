"""Image: rules of sizes and boxes of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core import constant
from agog_core.dispatch.op import all_ops
from agog_export.writer import Array, Operand, Writer

__all__ = ["non_max_suppression", "resample"]


def non_max_suppression(
    op: Writer,
    boxes: Operand,
    scores: Operand,
    *,
    max_output_size: int,
    iou_threshold: float,
    score_threshold: float,
) -> Any:
    """Of one class of one image; the place of the box is the third coordinate."""
    limits = (np.array([limit], np.float32) for limit in (iou_threshold, score_threshold))
    given = op.Unsqueeze(op.cast(boxes, np.float32), [0]), op.Unsqueeze(op.cast(scores, np.float32), [0, 1])
    chosen = op.NonMaxSuppression(*given, np.array([max_output_size]), *limits)
    places = op.Squeeze(op.Slice(chosen, [2], [3], [1]), [1])
    places.dtype = np.dtype(np.int64)
    return op.cast(places, np.int32)


def resample(op: Writer, images: Operand, *, size: Sequence[int], method: str, align_corners: bool) -> Any:
    """Rows, then columns: each is a weighted sum of a few of the image's, by a matrix that agog itself makes."""
    result = images
    for axis in (1, 2):
        matrix = _matrix(images.shape[axis].__index__(), size[axis - 1], method, align_corners)
        if method == "nearest":
            result = op.Gather(result, matrix.argmax(1), axis=axis)
            continue
        count = int((matrix != 0).sum(1).max()) if matrix.size else 0
        places = np.argsort(matrix == 0, axis=1, kind="stable")[:, :count]
        weights = np.take_along_axis(matrix, places, 1).astype(images.dtype)
        shape = (-1, 1, 1) if axis == 1 else (-1, 1)
        parts = [op.Mul(op.Gather(result, places[:, n], axis=axis), weights[:, n].reshape(shape)) for n in range(count)]
        result = parts[0]
        for part in parts[1:]:
            result = op.Add(result, part)
    return result


def _matrix(length: int, count: int, method: str, align_corners: bool) -> Array:
    """What each of so many rows is made of: an image that is resampled whose columns are the rows of one."""
    rows = constant(np.eye(length, dtype=np.float32).reshape(1, length, 1, length))
    resampled = all_ops()["resample"].function
    found = resampled(rows, (count, 1), method, align_corners)
    return np.asarray(found.numpy()).reshape(count, length)
