"""Products: of two matrices, with a bias and an activation or without. Transposed views are read as they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stranger_onednn.api import ENGINE, NULL, Arg, described, lib, strided
from stranger_onednn.convolution import FUSED, fused
from stranger_onednn.plans import Plan, Plans, contiguous

LEAST = 1 << 15
"""The multiplications of a product below which NumPy is as fast."""


def _plan(stream: Any, n: int, k: int, m: int, transpose_a: bool, transpose_b: bool, activation: str | None) -> Plan:
    a = strided((n, k), (1, n) if transpose_a else (k, 1))
    b = strided((k, m), (1, k) if transpose_b else (m, 1))
    out = strided((n, m), (m, 1))
    if activation is None:
        description = described(lib.dnnl_matmul_primitive_desc_create, ENGINE, a, b, NULL, out, NULL)
        return Plan(stream, description, {Arg.SOURCE: a, Arg.WEIGHTS: b, Arg.TARGET: out})
    bias, attributes = strided((1, m), (m, 1)), fused(activation)
    description = described(lib.dnnl_matmul_primitive_desc_create, ENGINE, a, b, bias, out, attributes)
    return Plan(stream, description, {Arg.SOURCE: a, Arg.WEIGHTS: b, Arg.BIAS: bias, Arg.TARGET: out})


def _as_it_lies(x: Any, is_transposed: bool) -> tuple[Any, bool]:
    """A matrix that is contiguous, and whether it is the transposed one that is meant."""
    if not x.flags.c_contiguous and x.flags.f_contiguous:
        return x.T, not is_transposed
    return contiguous(x), is_transposed


def make_matmul(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of a thread."""
    plans = Plans(_plan)

    def matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
        if a.ndim != 2 or b.ndim != 2:
            return NotImplemented
        return _product(plans, a, b, transpose_a, transpose_b)

    return matmul


def make_matmul_bias(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of a thread for a product, a bias and an activation."""
    plans = Plans(_plan)

    def matmul_bias(a: Any, b: Any, bias: Any, *, activation: str) -> Any:
        return (
            _product(plans, a, b, False, False, activation, contiguous(bias)) if activation in FUSED else NotImplemented
        )

    return matmul_bias


def _product(plans: Plans, a: Any, b: Any, ta: bool, tb: bool, activation: str | None = None, *bias: Any) -> Any:
    n, k = a.shape[::-1] if ta else a.shape
    m = b.shape[0] if tb else b.shape[1]
    if n * k * m < LEAST:
        return NotImplemented
    (a, ta), (b, tb), out = _as_it_lies(a, ta), _as_it_lies(b, tb), np.empty((n, m), np.float32)
    plans(n, k, m, ta, tb, activation)(a, b, *bias, out)
    return out
