"""Kernels: agog-kernels-xp bound to NumPy, on the hidden memory of fake arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import agog_kernels_xp
from agog_core.plugin import as_dtype
from agog_fake.launch import on_device


def _bits(key: tuple[int, int, int], count: int) -> np.ndarray[Any, Any]:
    """Random bits: ``count`` values of 64 bits, from the key's two words and its counter."""
    first, second, counter = key
    return np.random.Philox(key=np.array([first, second], np.uint64), counter=[counter, 0, 0, 0]).random_raw(count)


# The kernel of an op, so that "agog_fake.kernels:matmul" names one.
__getattr__ = agog_kernels_xp.bind(np, bits=_bits, wrap=on_device, dtype=lambda name: as_dtype(name).numpy_dtype)
