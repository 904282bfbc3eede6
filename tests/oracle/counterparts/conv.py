"""Conv: counterparts of convolutions, pools and patches of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as nn
from counterparts.counterpart import (
    Counterpart,
    channels_first,
    channels_last,
    has_elements,
    padded,
    take_at,
    transposed,
)

from agog_testing.opinfo import Sample


def fits(sample: Sample) -> bool:
    """PyTorch wants elements, and windows that fit."""
    return has_elements(sample) and not sample.name.startswith(("no places", "no outputs"))


def convolution(input: Any, filter: Any, strides: Any, paddings: Any, dilations: Any, groups: int = 1) -> Any:
    convolve = (nn.conv1d, nn.conv2d, nn.conv3d)[len(strides) - 1]
    # Chosen by position, for the second derivative of a convolution wants a weight that lies in order.
    positions = np.moveaxis(np.arange(filter.numel()).reshape(filter.shape), (-1, -2), (0, 1))
    weight = take_at(filter, positions)
    x = padded(channels_first(input), paddings)
    return channels_last(convolve(x, weight, stride=strides, dilation=dilations, groups=groups))


def convolution_filter_grad(input: Any, gradient: Any, filter_shape: Any, *form: Any) -> Any:
    return transposed(lambda filter: convolution(input, filter, *form), filter_shape, gradient)


def convolution_input_grad(gradient: Any, filter: Any, input_shape: Any, *form: Any) -> Any:
    return transposed(lambda input: convolution(input, filter, *form), input_shape, gradient)


def avg_pool(input: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    """Padding does not count: sums of the windows, divided by how many elements they hold."""
    convolve = (nn.conv1d, nn.conv2d, nn.conv3d)[len(window) - 1]
    channels = input.shape[-1]
    ones = torch.ones((channels, 1, *window), dtype=input.dtype)

    def sums(x: Any) -> Any:
        return convolve(padded(x, paddings), ones, stride=strides, dilation=dilations, groups=channels)

    x = channels_first(input)
    return channels_last(sums(x) / sums(torch.ones_like(x)))


def avg_pool_grad(gradient: Any, input_shape: Any, *form: Any) -> Any:
    return transposed(lambda input: avg_pool(input, *form), input_shape, gradient)


def max_pool_with_positions(input: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    """The maxima, and the positions among all elements with padding, channels first."""
    pool = (nn.max_pool1d, nn.max_pool2d, nn.max_pool3d)[len(window) - 1]
    x = padded(
        channels_first(input), paddings, -torch.inf if input.is_floating_point() else torch.iinfo(input.dtype).min
    )
    return pool(x, window, strides, dilation=dilations, return_indices=True)


def max_pool(input: Any, *form: Any) -> Any:
    return channels_last(max_pool_with_positions(input, *form)[0])


def max_pool_with_argmax(input: Any, window: Any, strides: Any, paddings: Any, dilations: Any, dtype: str = "") -> Any:
    values, positions = max_pool_with_positions(input, window, strides, paddings, dilations)
    # The numbers of the elements of the input, in the places where padding puts them.
    numbers = torch.arange(input.numel(), dtype=torch.float64).reshape(input.shape)
    spread = padded(channels_first(numbers), paddings).flatten(2)
    found = spread.gather(2, positions.flatten(2)).reshape(positions.shape)
    return channels_last(values), channels_last(found).to(torch.int64)


def max_pool_grad(gradient: Any, input: Any, maxima: Any, *form: Any) -> Any:
    return transposed(lambda x: max_pool(x, *form), input, gradient)


def max_pool_grad_grad(
    gradient: Any, input: Any, maxima: Any, window: Any, strides: Any, paddings: Any, dilations: Any
) -> Any:
    _, positions = max_pool_with_positions(input, window, strides, paddings, dilations)
    spread = padded(channels_first(gradient), paddings).flatten(2)
    return channels_last(spread.gather(2, positions.flatten(2)).reshape(positions.shape))


def image_patches(images: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    x = padded(channels_first(images), paddings)
    rows, columns = (1 + (x.shape[2 + n] - 1 - (window[n] - 1) * dilations[n]) // strides[n] for n in range(2))
    channels = images.shape[-1]
    unfolded = nn.unfold(x, tuple(window), tuple(dilations), 0, tuple(strides))
    parts = unfolded.reshape(x.shape[0], channels, window[0] * window[1], rows, columns).permute(0, 3, 4, 2, 1)
    return parts.flatten(3)


def extract_image_patches(images: Any, ksizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    window, steps, dilations = ksizes[1:3], strides[1:3], rates[1:3]
    paddings = []
    for size, length, step, rate in zip(images.shape[1:3], window, steps, dilations, strict=True):
        reach = (length - 1) * rate + 1
        missing = max(0, (-(-size // step) - 1) * step + reach - size) if padding == "SAME" else 0
        paddings.append((missing // 2, missing - missing // 2))
    return image_patches(images, window, steps, paddings, dilations)


COUNTERPARTS = {
    "add_image_patches": lambda patches, images_shape, *form: transposed(
        lambda images: image_patches(images, *form), images_shape, patches
    ),
    "avg_pool": Counterpart(avg_pool, covers=fits),
    "avg_pool_grad": Counterpart(avg_pool_grad, covers=fits),
    "convolution": Counterpart(convolution, covers=fits),
    "convolution_filter_grad": Counterpart(convolution_filter_grad, covers=fits),
    "convolution_input_grad": Counterpart(convolution_input_grad, covers=fits),
    "extract_image_patches": Counterpart(extract_image_patches, covers=has_elements),
    "max_pool": Counterpart(max_pool, covers=fits),
    "max_pool_grad": Counterpart(max_pool_grad, covers=fits),
    "max_pool_grad_grad": Counterpart(max_pool_grad_grad, covers=fits),
    "max_pool_with_argmax": Counterpart(max_pool_with_argmax, covers=fits),
}
