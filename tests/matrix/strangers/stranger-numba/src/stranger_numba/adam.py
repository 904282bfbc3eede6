"""Adam: the step, in one pass over memory where NumPy needs a dozen."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel for a dtype, with its loop compiled."""
    scalar = numba.from_dtype(np.dtype(dtype))
    only_read = numba.types.Array(scalar, 1, "C", readonly=True)  # as a gradient may be
    signature = (*[scalar[::1]] * 3, only_read, *[scalar] * 6, numba.boolean)
    loop = numba.njit([signature], error_model="numpy", nogil=True)(_loop)
    number = np.dtype(dtype).type

    def apply_adam(
        variable: Array,
        m: Array,
        v: Array,
        gradient: Array,
        *,
        learning_rate: float,
        beta1: float,
        beta2: float,
        epsilon: float,
        use_nesterov: bool,
        weight_decay: float,
    ) -> Any:
        arrays = (variable, m, v, gradient)
        if not all(array.flags.c_contiguous for array in arrays):
            return NotImplemented
        numbers = (learning_rate, epsilon, beta1, 1 - beta1, 1 - beta2, 1 - weight_decay)
        loop(*(array.reshape(-1) for array in arrays), *map(number, numbers), use_nesterov)
        return None

    return apply_adam


def _loop(
    w: Any,
    m: Any,
    v: Any,
    g: Any,
    rate: Any,
    small: Any,
    beta1: Any,
    rest1: Any,
    rest2: Any,
    keep: Any,
    nesterov: Any,
) -> None:
    for i in range(w.size):
        m[i] += (g[i] - m[i]) * rest1
        v[i] += (g[i] * g[i] - v[i]) * rest2
        towards = m[i] * beta1 + g[i] * rest1 if nesterov else m[i]
        w[i] = w[i] * keep - towards / (np.sqrt(v[i]) + small) * rate
