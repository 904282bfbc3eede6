"""Convolution cases: calls of convolutions and their gradients, and sums that are written out, in float64."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from agog_cpu_numpy.backend import numpy_dtype

TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-14}
# Shapes of input and filter, strides, paddings, dilations, groups.
CASES: dict[str, tuple[Any, ...]] = {
    "one_axis": ((2, 9, 3), (3, 3, 4), (1,), ((1, 1),), (1,), 1),
    "same": ((2, 6, 5, 3), (3, 3, 3, 4), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "strides": ((3, 7, 8, 2), (3, 2, 2, 3), (2, 3), ((0, 1), (1, 0)), (1, 1), 1),
    "dilated": ((1, 9, 9, 2), (2, 3, 2, 2), (1, 2), ((2, 0), (0, 3)), (3, 2), 1),
    "pointwise": ((2, 4, 3, 5), (1, 1, 5, 2), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "pointwise_strides": ((2, 4, 3, 5), (1, 1, 5, 2), (2, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "three_axes": ((2, 4, 3, 5, 2), (2, 2, 3, 2, 3), (1, 2, 1), ((0, 0), (1, 0), (1, 1)), (1, 1, 2), 1),
    "groups": ((2, 5, 6, 6), (3, 2, 2, 9), (1, 2), ((1, 1), (0, 0)), (1, 1), 3),
    "depthwise": ((2, 6, 5, 4), (3, 3, 1, 4), (1, 1), ((1, 1), (1, 1)), (1, 1), 4),
    "depthwise_multiplied": ((3, 7, 6, 3), (2, 3, 1, 6), (2, 1), ((1, 0), (0, 2)), (1, 2), 3),
}


class Taps:
    """For each tap of a filter the input's elements under it, as a slice of the padded input."""

    def __init__(self, shape: Any, filter_shape: Any, strides: Any, paddings: Any, dilations: Any, groups: int) -> None:
        self.shape, self.paddings, self.groups = shape, ((0, 0), *paddings, (0, 0)), groups
        window = filter_shape[:-2]
        padded = [size + sum(pair) for size, pair in zip(shape[1:-1], paddings, strict=True)]
        axes = list(zip(padded, window, strides, dilations, strict=True))
        self.places = [(size - (n - 1) * d - 1) // stride + 1 for size, n, stride, d in axes]
        self.slices = {
            tap: (slice(None), *[slice(t * d, t * d + stride * count, stride) for t, (_, _, stride, d), count in parts])
            for tap in product(*map(range, window))
            for parts in [list(zip(tap, axes, self.places, strict=True))]
        }

    def padded(self, x: Any) -> Any:
        """The input between zeros, with more of them behind each axis, so that slices may end with a whole stride."""
        behind = [9 if 0 < axis < x.ndim - 1 else 0 for axis in range(x.ndim)]
        return np.pad(x, [(low, high + more) for (low, high), more in zip(self.paddings, behind, strict=True)])

    def inside(self, whole: Any) -> Any:
        """What is not padding."""
        slices = [slice(low, low + size) for (low, _), size in zip(self.paddings, self.shape, strict=True)]
        return whole[tuple(slices)]


def expected(case: str, x: Any, f: Any, g: Any) -> tuple[Any, Any, Any]:
    """The convolution and the gradients of its input and filter."""
    taps = Taps(x.shape, f.shape, *CASES[case][2:])
    groups, (inner, outer) = taps.groups, f.shape[-2:]
    whole = taps.padded(x)
    y, to_whole, to_f = np.zeros(g.shape), np.zeros(whole.shape), np.zeros(f.shape)
    for tap, part in taps.slices.items():
        for group in range(groups):
            ins, outs = (slice(group * size, (group + 1) * size) for size in (inner, outer // groups))
            source, gradient, weights = whole[part][..., ins], g[..., outs], f[tap][:, outs]
            y[..., outs] += source @ weights
            to_whole[part][..., ins] += gradient @ weights.T
            to_f[tap][:, outs] += source.reshape(-1, inner).T @ gradient.reshape(-1, gradient.shape[-1])
    return y, taps.inside(to_whole), to_f


def arrays(case: str, dtype: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    """An input, a filter, a gradient of the output, and the attributes."""
    shape, filter_shape, strides, paddings, dilations, groups = CASES[case]
    places = Taps(shape, filter_shape, strides, paddings, dilations, groups).places
    rng = np.random.default_rng(7)
    shapes = shape, filter_shape, (shape[0], *places, filter_shape[-1])
    x, f, g = (rng.standard_normal(each).astype(numpy_dtype(dtype)) for each in shapes)
    return x, f, g, {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}


def agree(found: Any, wanted: Any, dtype: str) -> None:
    """Hold a result to one in float64."""
    assert (found.shape, found.dtype) == (wanted.shape, numpy_dtype(dtype))
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(found.astype("f8"), wanted, rtol=tolerance, atol=20 * tolerance)
