"""Masks: the valid steps of sequences, attached to tensors from layer to layer."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, logical_and, nest
from agog_core.tensors.masks import known, own_mask, with_mask

__all__ = ["all_of", "known", "mask_of", "pass_on", "with_mask"]


def mask_of(inputs: Any, leaves: list[Any] | None = None) -> Any:
    """The mask that goes along with a tensor, or None; for a structure a list of those, or None if there is no mask.

    The structure's leaves are found again unless they are given.

    >>> import agog_core as ag
    >>> print(mask_of([ag.zeros([1]), ag.zeros([1])]))
    None
    """
    if isinstance(inputs, Tensor):
        return own_mask(inputs)
    masks = [own_mask(leaf) for leaf in (nest.flatten(inputs) if leaves is None else leaves)]
    return None if all(mask is None for mask in masks) else masks


def all_of(masks: Any) -> Any:
    """The intersection of a list of masks; None if there are none. Anything but a list is returned unchanged.

    >>> import agog_core as ag
    >>> print(all_of([None, ag.constant([True, False]), ag.constant([True, True])]))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """
    if not isinstance(masks, list):
        return masks
    common = None
    for mask in masks:
        common = mask if common is None else common if mask is None else logical_and(common, mask)
    return common


def pass_on(outputs: Any, masks: Any) -> None:
    """Let a mask go along with a layer's output, or a list of masks and None with its outputs."""
    for output, mask in zip(nest.flatten(outputs), masks if isinstance(masks, list) else [masks], strict=False):
        with_mask(output, mask)
