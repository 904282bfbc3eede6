"""Pools over any number of axes, channels last.

One axis after the other is reduced: fewer passes than one for each element of the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array, Pairs, Sizes
from agog_kernels_xp.conv.arguments import inside, out_sizes, padded, padded_shape, places, taps

_BLOCK_BYTES = 1 << 21


def max_pool(xp: Any, input: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Array:
    """Maxima of windows."""

    def block(part: Array) -> Array:
        x = padded(xp, part, paddings, _lowest(xp, input.dtype))
        for parts in _parts_by_axis(x.shape, window, strides, dilations):
            out = x[parts[0]]
            if len(parts) > 1:
                out = xp.maximum(out, x[parts[1]])
            for each in parts[2:]:
                xp.maximum(out, x[each], out=out)
            x = out
        return x

    out = _in_blocks(xp, block, input)
    return out.copy() if math.prod(window) == 1 else out


def max_pool_with_argmax(
    xp: Any, input: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes, dtype: Any
) -> tuple[Array, Array]:
    """Maxima of windows, and where in the flattened input the first of each lies."""
    out = max_pool(xp, input, window=window, strides=strides, paddings=paddings, dilations=dilations)
    x = padded(xp, input, paddings, _lowest(xp, input.dtype))
    positions = padded(xp, xp.arange(input.size, dtype="int64").reshape(input.shape), paddings, -1)
    found = xp.full(out.shape, -1, "int64")
    for part in _parts(out, window, strides, dilations):
        is_first = (x[part] == out) & (found < 0)
        found = xp.where(is_first, positions[part], found)
    return out, xp.maximum(found, 0).astype(dtype)


def max_pool_grad(
    xp: Any,
    gradient: Array,
    input: Array,
    maxima: Array,
    *,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Array:
    """Each element of the output's gradient goes to the first maximum of its window."""
    overlap = any(n > 1 and stride < (n - 1) * d + 1 for n, stride, d in zip(window, strides, dilations, strict=True))

    def block(gradient: Array, input: Array, maxima: Array) -> Array:
        x = padded(xp, input, paddings, _lowest(xp, input.dtype))
        g = gradient.astype(_wide(gradient.dtype), copy=False)
        whole = xp.zeros(x.shape, g.dtype)
        is_left = xp.ones(maxima.shape, bool)
        for part in _parts(maxima, window, strides, dilations):
            is_first = x[part] == maxima
            is_first &= is_left
            is_left ^= is_first
            if overlap:
                whole[part] += xp.multiply(g, is_first)  # a third of the time that xp.where takes
            else:
                xp.multiply(g, is_first, out=whole[part])
        return whole[inside(input.shape, paddings)].astype(gradient.dtype, copy=False)

    out = _in_blocks(xp, block, gradient, input, maxima)
    return out.copy() if any(map(any, paddings)) else out


def max_pool_grad_grad(
    xp: Any,
    gradient: Array,
    input: Array,
    maxima: Array,
    *,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Array:
    """What lies at the first maximum of each window."""
    x = padded(xp, input, paddings, _lowest(xp, input.dtype))
    source = padded(xp, gradient, paddings, 0)
    found = xp.zeros(maxima.shape, gradient.dtype)
    is_left = xp.ones(maxima.shape, bool)
    for part in _parts(maxima, window, strides, dilations):
        is_first = (x[part] == maxima) & is_left
        is_left ^= is_first
        found = xp.where(is_first, source[part], found)
    return found


def avg_pool(xp: Any, input: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Array:
    """Means of windows; padding does not count."""
    x = padded(xp, input.astype(_wide(input.dtype), copy=False), paddings, 0)
    form = window, strides, dilations
    for parts in _parts_by_axis(x.shape, *form):
        out = x[parts[0]]
        for part in parts[1:]:
            out = out + x[part]
        x = out
    return (x / _counts(xp, input.shape, x, paddings, *form)).astype(input.dtype)


def avg_pool_grad(
    xp: Any, gradient: Array, *, input_shape: Sizes, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Array:
    """Each element of the output's gradient goes to its window in equal parts."""
    form = window, strides, dilations
    g = gradient.astype(_wide(gradient.dtype), copy=False)
    g = g / _counts(xp, input_shape, g, paddings, *form)
    shapes = [padded_shape(input_shape, paddings)]
    for axis in range(1, len(window) + 1):
        shapes.append((*shapes[-1][:axis], gradient.shape[axis], *shapes[-1][axis + 1 :]))
    steps = list(_parts_by_axis(shapes[0], *form))
    for shape, parts in zip(reversed(shapes[:-1]), reversed(steps), strict=True):
        whole = xp.zeros(shape, g.dtype)
        for part in parts:
            whole[part] += g
        g = whole
    return g[inside(input_shape, paddings)].astype(gradient.dtype)


def _in_blocks(xp: Any, function: Callable[..., Array], *arrays: Array) -> Array:
    """Run a function on parts of the batch that stay in a processor's cache, which is faster for large arrays."""
    count, size = len(arrays[0]), max(x.size * x.itemsize for x in arrays)
    if size <= _BLOCK_BYTES:
        return function(*arrays)
    step = max(1, _BLOCK_BYTES * count // size)
    out = None
    for n in range(0, count, step):
        part = function(*[x[n : n + step] for x in arrays])
        if out is None:
            out = xp.empty((count, *part.shape[1:]), part.dtype)
        out[n : n + step] = part
    return out


def _wide(dtype: Any) -> Any:
    """The dtype to add in: float32 for half precision."""
    return "float32" if dtype.itemsize == 2 else dtype


def _lowest(xp: Any, dtype: Any) -> Any:
    return xp.iinfo(dtype).min if dtype.kind in "iu" else -math.inf


def _parts(out: Array, window: Sizes, strides: Sizes, dilations: Sizes) -> list[tuple[slice, ...]]:
    """For each place of the window: what lies there of the padded input."""
    return [(slice(None), *taps(place, out.shape[1:-1], strides, dilations)) for place in places(window)]


def _parts_by_axis(shape: Sizes, window: Sizes, strides: Sizes, dilations: Sizes) -> list[list[tuple[slice, ...]]]:
    """For each axis, and each place of the window along it: what lies there, when earlier axes are reduced."""
    sizes = out_sizes(shape[1:-1], window, strides, dilations)
    axes = zip(window, sizes, strides, dilations, strict=True)
    return [
        [(slice(None),) * axis + taps((n,), (size,), (stride,), (dilation,)) for n in range(count)]
        for axis, (count, size, stride, dilation) in enumerate(axes, 1)
    ]


def _counts(xp: Any, shape: Sizes, out: Array, paddings: Pairs, window: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """How many elements of each window are not padding."""
    if not any(map(any, paddings)):
        return math.prod(window)
    counts: Any = xp.ones((), out.dtype)
    axes = zip(shape[1:], out.shape[1:], paddings, window, strides, dilations, strict=False)
    for size, length, (low, _), count, stride, dilation in axes:
        starts = [place * stride - low for place in range(length)]
        valid = [sum(0 <= start + n * dilation < size for n in range(count)) for start in starts]
        counts = counts[..., None] * xp.asarray([max(1, n) for n in valid], out.dtype)
    return counts[..., None]
