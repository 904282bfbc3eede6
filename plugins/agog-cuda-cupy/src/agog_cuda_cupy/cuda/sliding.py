"""Sliding: windows over up to three axes, as windows.cuh takes them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from agog_cuda_cupy.cuda.modules import MOST

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

_MOST_AXES = 3
_WINDOWS = np.dtype(
    [
        *((name, "i4") for name in ("images", "channels")),
        *((name, "i4", _MOST_AXES) for name in ("size", "places", "window", "stride", "dilation", "low")),
    ]
)


class Windows(NamedTuple):
    """Windows over arrays of shape (images, axes..., channels), and how often they fit along each axis."""

    sizes: Sizes
    places: Sizes
    window: Sizes
    strides: Sizes
    dilations: Sizes
    low: Sizes
    channels: int

    def table(self, images: int) -> Any:
        """The structure of windows.cuh, for some of the images."""
        table = np.ones((), _WINDOWS)
        table["images"], table["channels"], table["low"] = images, self.channels, 0
        first = _MOST_AXES - len(self.sizes)
        of_axes = self.sizes, self.places, self.window, self.strides, self.dilations, self.low
        for name, values in zip(("size", "places", "window", "stride", "dilation", "low"), of_axes, strict=True):
            table[name][first:] = values
        return table[()]


def windows(shape: Sizes, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Windows | None:
    """Windows over an array of a shape; None where there are more axes than three, nothing to compute or too much."""
    sizes = shape[1:-1]
    axes = zip(sizes, window, strides, paddings, dilations, strict=True)
    places = tuple([(size + sum(padding) - (n - 1) * d - 1) // stride + 1 for size, n, stride, padding, d in axes])
    if len(sizes) > _MOST_AXES or min(*shape, *places, *window) < 1:
        return None
    input, output = math.prod(shape), shape[0] * math.prod(places) * shape[-1]
    if max(input, output, output // shape[0] * math.prod(window)) > MOST:
        return None
    return Windows(sizes, places, window, strides, dilations, tuple([low for low, _ in paddings]), shape[-1])
