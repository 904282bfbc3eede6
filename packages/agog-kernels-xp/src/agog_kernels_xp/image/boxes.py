"""Boxes in images: non-maximum suppression."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array


def non_max_suppression(
    xp: Any, boxes: Array, scores: Array, *, max_output_size: int, iou_threshold: float, score_threshold: float
) -> Array:
    """The best box is chosen, what overlaps it is dropped, and so on with those that are left."""
    corners = boxes.astype("float64").reshape(-1, 2, 2)
    low, high = corners.min(1), corners.max(1)
    areas = (high - low).prod(1)
    left = scores.astype("float64")
    left = xp.where(left > score_threshold, left, -math.inf)
    chosen: list[int] = []
    while len(chosen) < min(max_output_size, len(scores)):
        best = int(xp.argmax(left))
        if not float(left[best]) > score_threshold:
            break
        chosen.append(best)
        sides = xp.maximum(xp.minimum(high, high[best]) - xp.maximum(low, low[best]), 0)
        shared = sides.prod(1)
        union = areas + areas[best] - shared
        overlaps = (areas > 0) & (areas[best] > 0) & (shared > iou_threshold * union)
        left = xp.where(overlaps, -math.inf, left)
        left[best] = -math.inf
    return xp.asarray(chosen, "int32")
