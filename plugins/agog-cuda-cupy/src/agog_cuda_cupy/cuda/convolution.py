"""Convolution: products of matrices around the kernels of convolution.cu, and its kernels for depthwise ones.

Half precision is added up in float32: one product of matrices widens its factors itself, and whatever else is added up
is float32 before. The images of a batch are taken in parts whose windows need limited memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import MOST, Modules, element
from agog_cuda_cupy.cuda.reduction import reduce_sum
from agog_cuda_cupy.cuda.sliding import Pairs, Sizes, Windows, windows
from agog_cuda_cupy.cuda.transposing import contiguous

Array = Any

_MOST_BYTES = 1 << 28  # of the windows of one product
_PIECE = 256  # places that a thread adds up


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
    """See `agog_kernels_xp.conv.convolution_ops`."""
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
    dtype = x.dtype if groups == 1 else _wide(x)
    factor = _factor(xp, weights, groups, dtype)
    for part in _parts(given, images, dtype):
        columns = _columns(modules, x[part], given, groups, dtype)
        if groups == 1:
            columns[0].dot(factor[0], out=y[part].reshape(-1, outputs))
        else:  # the result has the groups behind the rows
            _by_group(y[part], groups)[...] = xp.matmul(columns, factor)
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
    """See `agog_kernels_xp.conv.convolution_ops`."""
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
    factor, kernel = _factor(xp, weights, groups, _wide(g)).swapaxes(1, 2), _kernel(modules, g, "col2im")
    rows = g.reshape(len(g), -1, groups, outputs // groups).astype(_wide(g), copy=False)
    for part in _parts(given, len(x), rows.dtype):
        columns = xp.matmul(_by_group(rows[part], groups), factor)
        modules.launch(kernel, x[part].size, columns, x[part], given.table(len(x[part])), np.int32(groups))
    return x


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
    """See `agog_kernels_xp.conv.convolution_ops`."""
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
    if groups == 1 and len(list(_parts(given, len(x), x.dtype))) == 1:
        columns = _columns(modules, x, given, groups, x.dtype)
        return columns[0].T.dot(g.reshape(rows, outputs)).reshape(filter_shape)
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


def _parts(given: Windows, images: int, dtype: Any) -> Iterator[slice]:
    """The images in parts."""
    bytes_of_one = math.prod(given.places) * math.prod(given.window) * given.channels * dtype.itemsize
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
