"""Conv: rules of convolutions and pools, whose channels come last here and second there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from agog_export.rules.nn import activated
from agog_export.writer import Operand, Writer

__all__ = [
    "add_image_patches",
    "avg_pool",
    "convolution",
    "convolution_bias",
    "convolution_input_grad",
    "extract_image_patches",
    "max_pool",
    "max_pool_with_argmax",
]

Sizes = Sequence[int]
Pairs = Sequence[Sequence[int]]


def avg_pool(op: Writer, input: Operand, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Any:
    if 0 in op.out.shape:
        return op.zeros(op.out.shape, input.dtype)
    form = {"kernel_shape": window, "strides": strides, "pads": _pads(paddings), "dilations": dilations}
    return _channels_last(op, op.AveragePool(_channels_second(op, input), **form, count_include_pad=0), input)


def max_pool(op: Writer, input: Operand, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Any:
    """Of integers, which ONNX has no pools of, the maxima of what lies at each place of the window."""
    if 0 in op.out.shape:
        return op.zeros(op.out.shape, input.dtype)
    if input.is_integer:
        return reduce(op.Max, _windows(op, input, window, strides, paddings, dilations, _lowest(input.dtype)))
    form = {"kernel_shape": window, "strides": strides, "pads": _pads(paddings), "dilations": dilations}
    return _channels_last(op, op.MaxPool(_channels_second(op, input), **form), input)


def max_pool_with_argmax(
    op: Writer, input: Operand, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes, dtype: Any
) -> list[Any]:
    """The place of the first maximum among those of an image, then behind the images before it."""
    if 0 in op.out.shape:
        return [op.zeros(x.shape, x.dtype) for x in op.outputs]
    form = window, strides, paddings, dilations
    parts = list(_windows(op, input, *form, _lowest(input.dtype)))
    maxima = reduce(op.Max, parts) if len(parts) > 1 else parts[0]
    batch, shape = input.shape[0], [size.__index__() for size in input.shape[1:]]
    places = op.constant(np.arange(np.prod(shape)).reshape(1, *shape))
    places.shape = (1, *shape)
    found: Any = np.array(-1)
    for part, place in zip(parts, _windows(op, places, *form, -1), strict=True):
        found = op.Where(op.And(op.Equal(part, maxima), op.Less(found, np.array(0))), place, found)
    starts = op.Mul(op.Range(np.array(0), op.Squeeze(op.sizes([batch]), [0]), np.array(1)), np.prod(shape))
    absolute = op.Add(found, op.Reshape(starts, [-1, *(1 for _ in shape)]))
    return [maxima, op.cast(op.Where(op.Less(found, np.array(0)), np.array(0), absolute), op.outputs[1].dtype)]


def extract_image_patches(
    op: Writer, images: Operand, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Any:
    return op.Concat(*_windows(op, images, window, strides, paddings, dilations, 0), axis=-1)


def add_image_patches(
    op: Writer,
    patches: Operand,
    *,
    images_shape: Sizes,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Any:
    """All elements are added where they belong in the padded image, whose places come first."""
    batch, *sizes, channels = images_shape
    counts = [size.__index__() for size in patches.shape[1:-1]]
    padded = [size + sum(pair) for size, pair in zip(sizes, paddings, strict=True)]
    axes = zip(counts, strides, window, dilations, strict=True)
    places = [np.add.outer(np.arange(n) * stride, np.arange(k) * step) for n, stride, k, step in axes]
    flat = places[0][:, None, :, None] * padded[1] + places[1][None, :, None, :]
    rows = op.Transpose(op.Reshape(patches, [batch, flat.size, channels], allowzero=1), perm=[1, 0, 2])
    zeros = op.zeros([padded[0] * padded[1], batch, channels], patches.dtype)
    total = op.Transpose(op.ScatterND(zeros, flat.reshape(-1, 1), rows, reduction="add"), perm=[1, 0, 2])
    image = op.Reshape(total, [batch, *padded, channels], allowzero=1)
    starts = [before for before, _ in paddings]
    return op.Slice(image, starts, [start + size for start, size in zip(starts, sizes, strict=True)], [1, 2])


def _windows(
    op: Writer, x: Operand, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes, value: Any
) -> Iterator[Any]:
    """What lies at each place of the window, for all windows."""
    pairs = [(0, 0), *paddings, (0, 0)]
    padded = op.Pad(x, _pads(pairs), np.array(value, x.dtype)) if any(map(any, pairs)) else x
    axes = list(range(1, len(window) + 1))
    for place in product(*map(range, window)):
        starts = [n * dilation for n, dilation in zip(place, dilations, strict=True)]
        ends = [
            start + (size - 1) * stride + 1
            for start, size, stride in zip(starts, op.out.shape[1:-1], strides, strict=True)
        ]
        yield op.Slice(padded, starts, ends, axes, list(strides))


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def convolution(
    op: Writer,
    input: Operand,
    filter: Operand,
    *,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    return _channels_last(op, _convolved(op, input, filter, None, strides, paddings, dilations, groups), input)


def convolution_bias(
    op: Writer,
    input: Operand,
    filter: Operand,
    bias: Operand,
    *,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
    activation: str,
) -> Any:
    convolved = _convolved(op, input, filter, bias, strides, paddings, dilations, groups)
    return _channels_last(op, activated(op, convolved, activation), input)


def convolution_input_grad(
    op: Writer,
    gradients: Operand,
    filter: Operand,
    *,
    input_shape: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    """The transposed convolution; what the strides have left over at the ends is added there."""
    spatial = gradients.rank - 2
    weights = op.transpose(filter, [spatial + 1, spatial, *range(spatial)])
    axes = zip(input_shape[1:-1], gradients.shape[1:-1], filter.shape, strides, dilations, paddings, strict=False)
    left = [
        size.__index__() - ((count.__index__() - 1) * stride + (k.__index__() - 1) * step + 1 - sum(pair))
        for size, count, k, stride, step, pair in axes
    ]
    form = {"strides": strides, "pads": _pads(paddings), "dilations": dilations, "group": groups}
    found = op.ConvTranspose(_channels_second(op, gradients), weights, output_padding=left, **form)
    return _channels_last(op, found, gradients)


def _convolved(
    op: Writer,
    input: Operand,
    filter: Operand,
    bias: Operand | None,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    spatial = input.rank - 2
    weights = op.transpose(filter, [spatial + 1, spatial, *range(spatial)])
    form = {"strides": strides, "pads": _pads(paddings), "dilations": dilations, "group": groups}
    return op.Conv(_channels_second(op, input), weights, *([] if bias is None else [bias]), **form)


def _pads(paddings: Pairs) -> list[int]:
    return [*(before for before, _ in paddings), *(after for _, after in paddings)]


def _channels_second(op: Writer, x: Operand) -> Operand:
    return op.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def _channels_last(op: Writer, found: Operand, x: Operand) -> Operand:
    return op.transpose(found, [0, *range(2, x.rank), 1])
