"""The kernel: NumPy arrays in, NumPy arrays out."""

from typing import Any

import numpy as np


def softcap(x: np.ndarray[Any, Any], *, cap: float) -> Any:
    """The cap takes the dtype of x, so that the result does."""
    number = x.dtype.type(cap)
    return np.multiply(np.tanh(np.divide(x, number)), number)
