"""Convolutions over any number of axes, channels last, as matrix products with windows as rows.

The windows are a view of the padded input. They are copied to the rows of a matrix in blocks that stay in a processor's
cache, which took half the time of one large matrix, and less than a product for each place of the filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from agog_kernels_xp.arrays import Array, Pairs, Sizes
from agog_kernels_xp.conv.arguments import inside, out_sizes, padded, padded_shape, sliding, taps
from agog_kernels_xp.conv.arguments import places as every_place
from agog_kernels_xp.parts.rows import wide

_BLOCK_BYTES = 1 << 21


def convolution(
    xp: Any, input: Array, filter: Array, *, strides: Sizes, paddings: Pairs, dilations: Sizes, groups: int
) -> Array:
    """Sums of windows, weighted by the filter."""
    x, weights = wide(input), wide(filter)
    if groups == 1:
        out = _dense(xp, x, weights, strides, paddings, dilations)
    elif filter.shape[-2] == 1:
        out = _depthwise(xp, x, weights, strides, paddings, dilations)
    else:
        parts = zip(xp.split(x, groups, -1), xp.split(weights, groups, -1), strict=True)
        out = xp.concatenate([_dense(xp, *part, strides, paddings, dilations) for part in parts], -1)
    return out.astype(input.dtype, copy=False)


def convolution_input_grad(
    xp: Any,
    gradient: Array,
    filter: Array,
    *,
    input_shape: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Array:
    """The gradient of the input: each element of the output's gradient goes back to its window."""
    g, weights = wide(gradient), wide(filter)
    if groups == 1:
        out = _dense_input_grad(xp, g, weights, input_shape, strides, paddings, dilations)
    elif filter.shape[-2] == 1:
        out = _depthwise_input_grad(xp, g, weights, input_shape, strides, paddings, dilations)
    else:
        shape = (*input_shape[:-1], input_shape[-1] // groups)
        parts = zip(xp.split(g, groups, -1), xp.split(weights, groups, -1), strict=True)
        grads = [_dense_input_grad(xp, part, f, shape, strides, paddings, dilations) for part, f in parts]
        out = xp.concatenate(grads, -1)
    return out.astype(gradient.dtype, copy=False)


def convolution_filter_grad(
    xp: Any,
    input: Array,
    gradient: Array,
    *,
    filter_shape: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Array:
    """The gradient of the filter: windows, weighted by the output's gradient."""
    x, g = wide(input), wide(gradient)
    if groups == 1:
        out = _dense_filter_grad(xp, x, g, filter_shape, strides, paddings, dilations)
    elif filter_shape[-2] == 1:
        out = _depthwise_filter_grad(xp, x, g, filter_shape, strides, paddings, dilations)
    else:
        shape = (*filter_shape[:-1], filter_shape[-1] // groups)
        parts = zip(xp.split(x, groups, -1), xp.split(g, groups, -1), strict=True)
        grads = [_dense_filter_grad(xp, part, h, shape, strides, paddings, dilations) for part, h in parts]
        out = xp.concatenate(grads, -1)
    return out.astype(input.dtype, copy=False)


def _dense(xp: Any, x: Array, filter: Array, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Array:
    window, channels = filter.shape[:-2], filter.shape[-1]
    windows = sliding(xp, padded(xp, x, paddings, 0), window, strides, dilations)
    places = windows.shape[: len(window) + 1]
    if not windows.size or not channels:
        return xp.zeros((*places, channels), x.dtype)
    out = xp.empty((*places, channels), x.dtype)
    weights = filter.reshape(-1, channels)
    for block in _blocks(windows, len(weights)):
        xp.matmul(windows[block].reshape(-1, len(weights)), weights, out=out[block].reshape(-1, channels))
    return out


def _dense_input_grad(
    xp: Any, g: Array, filter: Array, shape: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Array:
    window, (inner, outer) = filter.shape[:-2], filter.shape[-2:]
    around = _turned_paddings(window, strides, paddings, dilations)
    if around and outer <= 2 * inner:
        return _dense(xp, g, _turned(filter).swapaxes(-1, -2), strides, around, dilations)
    whole = xp.zeros(padded_shape(shape, paddings), g.dtype)
    weights = filter.reshape(-1, outer).T
    for image in range(len(g) if g.size and filter.size else 0):
        spread = xp.matmul(g[image].reshape(-1, outer), weights).reshape(*g.shape[1:-1], *window, inner)
        for place in every_place(window):
            into = whole[(image, *taps(place, g.shape[1:-1], strides, dilations))]
            into += spread[(slice(None),) * len(window) + place]
    return whole[inside(shape, paddings)].copy()


def _dense_filter_grad(
    xp: Any, x: Array, g: Array, shape: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Array:
    windows = sliding(xp, padded(xp, x, paddings, 0), shape[:-2], strides, dilations)
    out = xp.zeros((math.prod(shape[:-1]), shape[-1]), x.dtype)
    if windows.size and g.size:
        for block in _blocks(windows, len(out)):
            out += xp.matmul(windows[block].reshape(-1, len(out)).T, g[block].reshape(-1, shape[-1]))
    return out.reshape(shape)


def _blocks(windows: Array, columns: int) -> Iterator[tuple[slice, ...]]:
    """Parts of the batch, or of one image's first axis, of about as many windows as fit into a block."""
    images, rows = windows.shape[:2]
    image_bytes = windows.size // images * windows.itemsize
    if image_bytes <= _BLOCK_BYTES:
        step = max(1, _BLOCK_BYTES // image_bytes)
        yield from ((slice(n, n + step),) for n in range(0, images, step))
    else:
        step = max(1, _BLOCK_BYTES * rows // image_bytes)
        for n in range(images):
            yield from ((slice(n, n + 1), slice(row, row + step)) for row in range(0, rows, step))


def _turned(filter: Array) -> Array:
    return filter[(slice(None, None, -1),) * (filter.ndim - 2)]


def _turned_paddings(window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Pairs | None:
    """The paddings with which the gradient of the input is a convolution with the turned filter, if it is one."""
    if any(stride > 1 for stride in strides):
        return None
    extents = [(size - 1) * dilation for size, dilation in zip(window, dilations, strict=True)]
    around = [(extent - low, extent - high) for extent, (low, high) in zip(extents, paddings, strict=True)]
    return tuple(around) if all(min(pair) >= 0 for pair in around) else None


def _depthwise(xp: Any, x: Array, filter: Array, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Array:
    """Each output has one channel as its source, so there is no product of matrices. Long rows make NumPy fast."""
    window, channels = filter.shape[:-2], filter.shape[-1]
    x = padded(xp, _repeated(xp, x, channels), paddings, 0)
    sizes = out_sizes(x.shape[1:-1], window, strides, dilations)
    row = (*sizes[:-1], sizes[-1] * channels)
    out = xp.zeros((len(x), *row), x.dtype)
    weights = xp.tile(filter[..., 0, :], sizes[-1])
    part = xp.empty(row, x.dtype)
    for image in range(len(x)):
        for place in every_place(window):
            source = x[(image, *taps(place, sizes, strides, dilations))].reshape(row)
            out[image] += xp.multiply(source, weights[place], out=part)
    return out.reshape(len(x), *sizes, channels)


def _depthwise_input_grad(
    xp: Any, g: Array, filter: Array, shape: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Array:
    window, channels = filter.shape[:-2], filter.shape[-1]
    around = _turned_paddings(window, strides, paddings, dilations)
    if around:
        whole = _depthwise(xp, g, _turned(filter), strides, around, dilations)
    else:
        whole = xp.zeros((*padded_shape(shape, paddings)[:-1], channels), g.dtype)
        for image in range(len(g)):
            for place in every_place(window):
                into = whole[(image, *taps(place, g.shape[1:-1], strides, dilations))]
                into += g[image] * filter[(*place, 0)]
        whole = whole[inside(shape, paddings)]
    return whole.reshape(*shape, channels // shape[-1] if shape[-1] else 0).sum(-1)


def _depthwise_filter_grad(
    xp: Any, x: Array, g: Array, shape: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Array:
    window, channels = shape[:-2], shape[-1]
    x = padded(xp, _repeated(xp, x, channels), paddings, 0)
    sizes = g.shape[1:-1]
    row = (math.prod(sizes[:-1]), sizes[-1] * channels)
    out = xp.zeros(shape, x.dtype)
    for image in range(len(x)):
        gradient = g[image].reshape(row)
        for place in every_place(window):
            part = x[(image, *taps(place, sizes, strides, dilations))].reshape(row) * gradient
            out[(*place, 0)] += part.sum(0).reshape(sizes[-1], channels).sum(0)
    return out


def _repeated(xp: Any, x: Array, channels: int) -> Array:
    return x if x.shape[-1] == channels else xp.repeat(x, channels // max(1, x.shape[-1]), -1)
