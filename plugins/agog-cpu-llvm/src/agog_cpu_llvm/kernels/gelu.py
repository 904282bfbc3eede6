"""Gelu: the Gaussian error linear unit and its gradient, in one way through memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

LEAST = 4096
"""Elements from which on calls are taken."""

BLOCK = 1 << 14
"""Elements of a turn."""


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    return partial(_gelu if op == "gelu" else _gelu_grad, dtype)


def _gelu(dtype: str, features: Any, out: Any = None, *, approximate: bool) -> Any:
    return _run(dtype, "gelu", (features,), out, approximate)


def _gelu_grad(dtype: str, gradients: Any, features: Any, outputs: Any, out: Any = None, *, approximate: bool) -> Any:
    return _run(dtype, "gelu_grad", (gradients, features), out, approximate)


def _run(dtype: str, function: str, arrays: tuple[Any, ...], out: Any, is_approximate: bool) -> Any:
    size = arrays[0].size
    if size < LEAST or not all(array.flags.c_contiguous for array in arrays):
        return NotImplemented
    filled = np.empty(arrays[0].shape, arrays[0].dtype) if out is None else out
    addresses = [array.ctypes.data for array in (*arrays, filled)]
    turns = -(-size // BLOCK)
    name = f"approximate_{function}" if is_approximate else function
    run(compiled("gelu", dtype)[name], (*addresses, size, turns), most=turns)
    return filled if out is None else None
