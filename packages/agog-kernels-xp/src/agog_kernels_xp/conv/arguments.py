"""Arguments: windows that slide over the axes between batch and channels, for convolutions and pools."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from agog_kernels_xp.arrays import Array, Pairs, Sizes


def padded_shape(shape: Sizes, paddings: Pairs) -> Sizes:
    """The shape of an array with its padding."""
    sizes = (size + low + high for size, (low, high) in zip(shape[1:-1], paddings, strict=True))
    return (shape[0], *sizes, shape[-1])


def inside(shape: Sizes, paddings: Pairs) -> tuple[slice, ...]:
    """Where an array lies in its padding."""
    return (slice(None), *(slice(low, low + size) for size, (low, _) in zip(shape[1:-1], paddings, strict=True)))


def padded(xp: Any, x: Array, paddings: Pairs, value: Any) -> Array:
    """The array with its padding; the array itself where there is none."""
    if not any(map(any, paddings)):
        return x
    shape = padded_shape(x.shape, paddings)
    whole = xp.full(shape, value, x.dtype) if value else xp.zeros(shape, x.dtype)
    whole[inside(x.shape, paddings)] = x
    return whole


def out_sizes(sizes: Sizes, window: Sizes, strides: Sizes, dilations: Sizes) -> Sizes:
    """How often a window fits along each axis of a padded array."""
    axes = zip(sizes, window, strides, dilations, strict=True)
    return tuple(max(0, (size - (n - 1) * dilation - 1) // stride + 1) for size, n, stride, dilation in axes)


def places(window: Sizes) -> Iterator[Sizes]:
    """The places of a window, row by row."""
    return product(*map(range, window))


def taps(place: Sizes, sizes: Sizes, strides: Sizes, dilations: Sizes) -> tuple[slice, ...]:
    """The elements that lie at one place of all windows."""
    axes = zip(place, sizes, strides, dilations, strict=True)
    return tuple(slice(n * d, n * d + (size - 1) * s + 1 if size else n * d, s) for n, size, s, d in axes)


def sliding(xp: Any, x: Array, window: Sizes, strides: Sizes, dilations: Sizes) -> Array:
    """A view of an array: batch, places of the windows, places in the window, channels."""
    steps = x.strides[1:-1]
    shape = (len(x), *out_sizes(x.shape[1:-1], window, strides, dilations), *window, x.shape[-1])
    over = [step * stride for step, stride in zip(steps, strides, strict=True)]
    within = [step * dilation for step, dilation in zip(steps, dilations, strict=True)]
    return xp.lib.stride_tricks.as_strided(x, shape, (x.strides[0], *over, *within, x.strides[-1]))
