"""Kernels: those of agog-kernels-xp, bound to PyTorch; ``kernels.matmul`` is made when it is asked for.

Where PyTorch can do more than the array API standard, as with complex numbers, a kernel stands here under its op's
name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat.torch as xp
import torch

import agog_kernels_xp
from agog_core.plugin import registry
from stranger_torch.array import Array


def _wrap(op: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel for the library's arrays as one for the device's."""
    is_view = registry[op].views

    def run(*arrays: Array, **attributes: Any) -> Any:
        result = kernel(*[array.native for array in arrays], **attributes)
        if result is None:
            return None
        source = arrays[0] if is_view else None
        if isinstance(result, tuple):
            return tuple([Array(native, source) for native in result])
        return Array(result, source)

    return run


__getattr__ = agog_kernels_xp.bind(xp, wrap=_wrap)


def complex(real: Array, imag: Array) -> Array:
    """Complex numbers of their parts."""
    return Array(torch.complex(*torch.broadcast_tensors(real.native, imag.native)))
