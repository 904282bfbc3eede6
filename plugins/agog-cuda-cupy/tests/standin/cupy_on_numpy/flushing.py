"""Flushing: CuPy compiles its kernels with ``-ftz=true``, so that float32 numbers below 2**-126 are zero in arithmetic.

bfloat16 is computed in float32 there. What only moves numbers keeps them, and so do cuBLAS and kernels of others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cupy_on_numpy.arrays import BFLOAT16

_LEAST = np.float32(2.0**-126)
MOVING = {
    *("copysign", "signbit", "repeat", "concatenate", "stack", "tile", "roll", "pad", "full_like", "tril", "triu"),
    *(
        "isnan",
        "isinf",
        "isfinite",
        "zeros",
        "ones",
        "zeros_like",
        "ones_like",
        "arange",
        "eye",
        "meshgrid",
        "compress",
    ),
    *("einsum", "inner", "tensordot", "lexsort", "searchsorted", "nonzero", "flatnonzero"),
    "cumprod",  # whose first element is only moved
}
"""Functions without arithmetic, and the products of cuBLAS."""


def flushed(value: Any) -> Any:
    """Numbers as such arithmetic takes and gives them."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype not in (np.float32, BFLOAT16):
        return value
    is_tiny = np.abs(value) < value.dtype.type(_LEAST)
    return np.where(is_tiny, np.copysign(value.dtype.type(0), value), value) if is_tiny.any() else value
