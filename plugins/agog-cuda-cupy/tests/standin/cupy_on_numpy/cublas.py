"""cuBLAS: the math mode of a handle, with which products of float32 matrices round their factors to TF32's 11 bits."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

import numpy as np
from cupy_on_numpy.cuda_devices import current

TF32 = 3  # CUBLAS_TF32_TENSOR_OP_MATH

_thread = threading.local()


def get_handle() -> int:
    """This thread's handle of the current device."""
    return current()


def _modes() -> defaultdict[int, int]:
    if not hasattr(_thread, "modes"):
        _thread.modes = defaultdict(int)
    return _thread.modes  # type: ignore[no-any-return]


def get_math_mode(handle: int) -> int:
    """The mode of this thread's handle; 0 is the usual one."""
    return _modes()[handle]


def set_math_mode(handle: int, mode: int) -> None:
    """Set it."""
    _modes()[handle] = mode


def factor(value: Any) -> Any:
    """A factor of a product as cuBLAS takes it."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float32 or get_math_mode(get_handle()) != TF32:
        return value
    bits = np.ascontiguousarray(value).view(np.uint32)
    return ((bits + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32).reshape(value.shape)
