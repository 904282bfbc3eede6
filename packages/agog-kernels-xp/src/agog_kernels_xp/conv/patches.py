"""Patches: windows of images as rows of channels, and back."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array, Pairs, Sizes
from agog_kernels_xp.conv.arguments import inside, padded, padded_shape, places, sliding, taps


def extract_image_patches(
    xp: Any, images: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Array:
    """The elements of each window side by side."""
    windows = sliding(xp, padded(xp, images, paddings, 0), window, strides, dilations)
    return windows.copy().reshape(*windows.shape[:3], window[0] * window[1] * images.shape[-1])


def add_image_patches(
    xp: Any,
    patches: Array,
    *,
    images_shape: Sizes,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Array:
    """The sum of all patches, each where it comes from; that of half precision is in float32."""
    is_half = patches.dtype.itemsize == 2 and patches.dtype.kind not in "iu"
    whole = xp.zeros(padded_shape(images_shape, paddings), "float32" if is_half else patches.dtype)
    parts = patches.reshape(*patches.shape[:3], *window, images_shape[-1])
    for place in places(window):
        whole[(slice(None), *taps(place, patches.shape[1:3], strides, dilations))] += parts[:, :, :, place[0], place[1]]
    return whole[inside(images_shape, paddings)].astype(patches.dtype)
