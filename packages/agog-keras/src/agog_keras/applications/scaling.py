"""Scaling: the widths of networks that come in several sizes, and their padding."""

from __future__ import annotations

from typing import Any

__all__ = ["padding_before_stride", "rounded"]


def rounded(channels: float) -> int:
    """The nearest multiple of 8, but no more than a tenth below.

    >>> rounded(32 * 0.35), rounded(32 * 1.1)
    (16, 32)
    """
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * channels else nearest + 8


def padding_before_stride(x: Any, size: int) -> tuple[tuple[int, int], ...]:
    """What a convolution of stride 2 over all of an image has on its sides: the larger part at the end."""
    half = size // 2
    height, width = x.shape[1:3].as_list()
    odd = (0, 0) if height is None else (height % 2, width % 2)
    return (half - 1 + odd[0], half), (half - 1 + odd[1], half)
