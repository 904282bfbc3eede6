"""Convolution: products of matrices around the kernels of convolution.cu, and its kernels for depthwise ones.

Half precision is added up in float32 and rounded once: one product of matrices widens its factors itself, and whatever
else is added up is float32 before. So the gradient of an input of half precision is a product for each pixel, and that
of others one for each place, whose parts are added up. The images of a batch are taken in parts whose windows need
limited memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import MOST, Modules, element
from agog_cuda_cupy.cuda.reduction import reduce_sum
from agog_cuda_cupy.cuda.sliding import Pairs, Sizes, Windows, windows
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

_MOST_BYTES = 1 << 28  # of the windows of one product
_PIECE = 256  # places that a thread adds up
_ZEROS = 8  # how many times as many terms, most of them 0, a product of half precision may have, so much faster is it


def convolution(
    modules: Modules,
    input: Array,
    filter: Array,
    *,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    given = windows(input.shape, filter.shape[:-2], strides, paddings, dilations)
    if given is None or not _is_served(input, filter):
        return NotImplemented
    images, outputs = len(input), filter.shape[-1]
    shape = images, *given.places, outputs
    if _is_depthwise(filter.shape, groups) and math.prod(shape) > MOST:
        return NotImplemented
    xp, (x, weights) = modules.xp, _contiguous(modules, input, filter)
    if _is_depthwise(filter.shape, groups):
        y = xp.empty(shape, x.dtype)
        numbers = given.table(images), np.int32(outputs // given.channels)
        modules.launch(_kernel(modules, x, "depthwise"), y.size, x, weights, y, *numbers)
        return y
    y = xp.empty((images, math.prod(given.places), groups, outputs // groups), x.dtype)
    factor = _factor(xp, weights, groups, x.dtype)
    for part in _parts(given, images, x.dtype):
        _multiply(xp, _columns(modules, x[part], given, groups, x.dtype), factor, y[part])
    return y.reshape(shape)


def convolution_input_grad(
    modules: Modules,
    gradient: Array,
    filter: Array,
    *,
    input_shape: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    given = windows(input_shape, filter.shape[:-2], strides, paddings, dilations)
    if given is None or not _is_served(gradient, filter):
        return NotImplemented
    if _is_depthwise(filter.shape, groups) and gradient.size > MOST:
        return NotImplemented
    xp, (g, weights) = modules.xp, _contiguous(modules, gradient, filter)
    x, outputs = xp.empty(input_shape, g.dtype), filter.shape[-1]
    if _is_depthwise(filter.shape, groups):
        numbers = given.table(len(x)), np.int32(outputs // given.channels)
        modules.launch(_kernel(modules, g, "depthwise_input_grad"), x.size, g, weights, x, *numbers)
        return x
    if _is_by_pixels(given, g):
        _by_pixels(modules, g, weights, given, groups, x)
        return x
    factor, kernel = _factor(xp, weights, groups, _wide(g)).swapaxes(1, 2), _kernel(modules, g, "col2im")
    rows = g.reshape(len(g), -1, groups, outputs // groups).astype(_wide(g), copy=False)
    for part in _parts(given, len(x), rows.dtype):
        columns = xp.matmul(_by_group(rows[part], groups), factor)
        modules.launch(kernel, x[part].size, columns, x[part], given.table(len(x[part])), np.int32(groups))
    return x


def _is_by_pixels(given: Windows, g: Array) -> bool:
    """Whether half precision has not too many zeros between its gradients."""
    pixels, places = math.prod(given.sizes), math.prod(given.places)
    terms = pixels * math.prod(given.window) * g.shape[-1]
    return bool(g.dtype.itemsize == 2 and terms <= MOST and pixels * g.shape[-1] <= _ZEROS * places * given.channels)


def _by_pixels(modules: Modules, g: Array, weights: Array, given: Windows, groups: int, x: Array) -> None:
    """The gradient of the input: for each pixel the gradients that its taps meet, times the filter."""
    xp, outputs, taps = modules.xp, g.shape[-1], math.prod(given.window)
    factor = weights.reshape(taps, -1, groups, outputs // groups).transpose(2, 0, 3, 1)
    factor = xp.ascontiguousarray(factor).reshape(groups, -1, given.channels // groups)
    kernel, pixels = _kernel(modules, g, "gradients_im2col"), math.prod(given.sizes)
    whole = x.reshape(len(x), pixels, groups, given.channels // groups)
    for part in _slices(len(x), pixels * taps * outputs * g.dtype.itemsize):
        images = len(g[part])
        columns = xp.empty((groups, images * pixels, taps * outputs // groups), g.dtype)
        numbers = given.table(images), np.int32(groups), np.int32(outputs)
        modules.launch(kernel, columns.size, g[part], columns, *numbers)
        _multiply(xp, columns, factor, whole[part])


def convolution_filter_grad(
    modules: Modules,
    input: Array,
    gradient: Array,
    *,
    filter_shape: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    given = windows(input.shape, filter_shape[:-2], strides, paddings, dilations)
    if given is None or not _is_served(input, gradient) or not filter_shape[-1]:
        return NotImplemented
    xp, (x, g) = modules.xp, _contiguous(modules, input, gradient)
    outputs, rows = filter_shape[-1], g.size // filter_shape[-1]
    if _is_depthwise(filter_shape, groups):
        pieces = -(-rows // _PIECE)
        if max(g.size, pieces * math.prod(filter_shape)) > MOST:
            return NotImplemented
        sums = xp.empty((pieces, *filter_shape), _wide(x))
        numbers = given.table(len(x)), np.int32(outputs // given.channels), np.int32(pieces)
        modules.launch(_kernel(modules, x, "depthwise_filter_grad"), sums.size, x, g, sums, *numbers)
        return reduce_sum(modules, sums, axes=(0,), keepdims=False).astype(x.dtype, copy=False)
    if len(list(_parts(given, len(x), x.dtype))) == 1 and (groups == 1 or x.dtype.itemsize == 2):
        columns = _columns(modules, x, given, groups, x.dtype)
        gradient = g.reshape(rows, groups, outputs // groups)
        found = xp.empty((columns.shape[-1], groups, outputs // groups), x.dtype)
        _multiply(xp, columns.swapaxes(1, 2), xp.ascontiguousarray(gradient.swapaxes(0, 1)), found)
        return found.reshape(filter_shape)
    of_groups = g.reshape(len(g), -1, groups, outputs // groups).astype(_wide(x), copy=False)
    total = xp.zeros((groups, math.prod(filter_shape[:-1]), outputs // groups), _wide(x))
    for part in _parts(given, len(x), total.dtype):
        columns = _columns(modules, x[part], given, groups, total.dtype)
        total += xp.matmul(columns.swapaxes(1, 2), _by_group(of_groups[part], groups))
    return total.swapaxes(0, 1).reshape(filter_shape).astype(x.dtype, copy=False)


def _is_served(first: Array, second: Array) -> bool:
    return element(first.dtype) is not None and first.dtype == second.dtype and second.size > 0


def _is_depthwise(filter_shape: Sizes, groups: int) -> bool:
    return groups > 1 and filter_shape[-2] == 1


def _contiguous(modules: Modules, *arrays: Array) -> list[Array]:
    return [contiguous(modules, array) for array in arrays]


def _wide(x: Array) -> Any:
    """The dtype that is computed with."""
    return np.dtype("float32") if x.dtype.itemsize == 2 else x.dtype


def _factor(xp: Any, weights: Array, groups: int, dtype: Any) -> Array:
    """The filter as a factor for each group: (groups, taps and inputs of a group, outputs of a group)."""
    matrix = weights.astype(dtype, copy=False).reshape(-1, groups, weights.shape[-1] // groups)
    return xp.ascontiguousarray(matrix.swapaxes(0, 1))


def _by_group(x: Array, groups: int) -> Array:
    """A view of (images, places, groups, channels) as (groups, images and places, channels)."""
    return x.reshape(-1, groups, x.shape[-1]).swapaxes(0, 1)


def _multiply(xp: Any, columns: Array, factor: Array, out: Array) -> None:
    """Put the products of each group into an array whose groups are behind its rows."""
    if len(columns) == 1:
        columns[0].dot(factor[0], out=out.reshape(-1, out.shape[-1]))
    elif columns.dtype.itemsize == 2:
        # One by one: CuPy has no batches of bfloat16, and the product's own dtype is to be the result's.
        for group, product in zip(_by_group(out, len(columns)), zip(columns, factor, strict=True), strict=True):
            group[...] = product[0].dot(product[1])
    else:
        _by_group(out, len(columns))[...] = xp.matmul(columns, factor)


def _parts(given: Windows, images: int, dtype: Any) -> Iterator[slice]:
    """The images in parts of which the windows need limited memory."""
    windows_of_one = math.prod(given.places) * math.prod(given.window) * given.channels
    yield from _slices(images, windows_of_one * dtype.itemsize)


def _slices(images: int, bytes_of_one: int) -> Iterator[slice]:
    step = max(1, _MOST_BYTES // bytes_of_one)
    yield from (slice(start, start + step) for start in range(0, images, step))


def _columns(modules: Modules, x: Array, given: Windows, groups: int, dtype: Any) -> Array:
    """The windows of images as rows: (groups, images and places, taps and channels of a group)."""
    rows, taps = len(x) * math.prod(given.places), math.prod(given.window)
    shape = groups, rows, taps * given.channels // groups
    if groups == 1 and taps == 1 and given.places == given.sizes and not any(given.low):  # the images themselves
        return x.reshape(shape).astype(dtype, copy=False)
    columns = modules.xp.empty(shape, dtype)
    numbers = given.table(len(x)), np.int32(groups), dtype == x.dtype
    modules.launch(_kernel(modules, x, "im2col"), columns.size, x, columns, *numbers)
    return columns


def _kernel(modules: Modules, x: Array, name: str) -> Any:
    return modules.kernel("convolution", name, AGOG_NUMBER=element(x.dtype) or "")
