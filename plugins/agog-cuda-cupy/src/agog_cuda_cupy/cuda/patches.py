"""Patches: windows of images as rows of channels, and back, by the kernels of convolution.cu."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import MOST, Modules, number
from agog_cuda_cupy.cuda.sliding import Pairs, Sizes, windows
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any


def extract_image_patches(
    modules: Modules, images: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Any:
    given, kind = windows(images.shape, window, strides, paddings, dilations), number(images.dtype)
    if given is None or kind is None:
        return NotImplemented
    shape = len(images), *given.places, window[0] * window[1] * given.channels
    if math.prod(shape) > MOST:
        return NotImplemented
    patches = modules.xp.empty(shape, images.dtype)
    kernel = modules.kernel("convolution", "im2col", AGOG_NUMBER=kind)
    numbers = given.table(len(images)), np.int32(1), True
    modules.launch(kernel, patches.size, contiguous(modules, images), patches, *numbers)
    return patches


def add_image_patches(
    modules: Modules,
    patches: Array,
    *,
    images_shape: Sizes,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Any:
    """See `agog_kernels_xp.conv.patches`; that of half precision is in float32."""
    given, kind = windows(images_shape, window, strides, paddings, dilations), number(patches.dtype)
    if given is None or kind is None or patches.size > MOST:
        return NotImplemented
    images = modules.xp.empty(images_shape, patches.dtype)
    wide = "float32" if patches.dtype.itemsize == 2 else patches.dtype
    columns = contiguous(modules, patches).astype(wide, copy=False)
    kernel = modules.kernel("convolution", "col2im", AGOG_NUMBER=kind)
    modules.launch(kernel, images.size, columns, images, given.table(len(images)), np.int32(1))
    return images
