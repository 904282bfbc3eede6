"""Dropout: random zeros; see `agog_kernels_xp.random.uniform_and_normal` for the bits."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array, Key
from agog_kernels_xp.random.uniform_and_normal import Bits, random_uniform


def dropout(xp: Any, bits: Bits, x: Array, *, key: Key, keep: float) -> tuple[Array, Array]:
    """The share ``keep`` of the elements, divided by it, and 0 for the others; and which are kept."""
    noise, share = random_uniform(xp, bits, shape=x.shape, key=key, dtype=x.dtype, index=0), x.dtype.type(keep)
    kept = xp.floor(noise + share)
    return xp.asarray(x / share * kept), xp.asarray(kept.astype("bool"))


def dropout_grad(xp: Any, gradients: Array, mask: Array, *, keep: float) -> Array:
    """The gradients of what was kept, divided by the share of it."""
    return xp.asarray(gradients / gradients.dtype.type(keep) * mask.astype(gradients.dtype))
