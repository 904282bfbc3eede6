"""Image shapes: which shapes of images a network takes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

__all__ = ["checked_shape", "image_shape"]

Sizes = tuple[int | None, ...]


def image_shape(network: str, given: Any, size: int, least: int, include_top: bool, imagenet: bool) -> Sizes:
    """The shape of one image, (height, width, channels): the given one, or the network's own.

    Args:
        network: the network's name, for errors.
        given: what the program says; None for nothing.
        size: the height and width that the network was made for.
        least: the least height and width.
        include_top: whether the network ends in classes.
        imagenet: whether it gets the published weights.

    Raises:
        ValueError: the network cannot take such images.
    """
    own = (size, size, 3)
    if given is None:
        return own if include_top else (None, None, 3)
    shape = checked_shape(network, given)
    if imagenet and include_top and shape != own:
        raise ValueError(
            f"{network}: with weights='imagenet' and include_top=True input_shape must be {own}; got {shape}. Pass "
            "include_top=False, or weights=None."
        )
    if imagenet and shape[-1] != 3:
        raise ValueError(f"{network}: weights='imagenet' is for images of 3 channels; got input_shape={shape}.")
    if any(length is not None and length < least for length in shape[:2]):
        raise ValueError(f"{network}: images must have at least {least} x {least} pixels; got input_shape={shape}.")
    if include_top and None in shape:
        raise ValueError(
            f"{network}: with include_top=True all sizes must be known; got input_shape={shape}. Pass "
            f"include_top=False, or sizes such as {own}."
        )
    if shape[-1] not in (1, 3):
        warnings.warn(
            f"{network}: images mostly have 1 or 3 channels, in the last axis; got input_shape={shape}.", stacklevel=4
        )
    return shape


def checked_shape(network: str, given: Sequence[int | None]) -> Sizes:
    """A shape as a tuple of a height, a width and channels; a ValueError says that it is none."""
    shape = tuple(None if length is None else int(length) for length in given)
    if len(shape) != 3:
        raise ValueError(f"{network}: input_shape must be (height, width, channels), without the batch; got {shape}.")
    return shape
