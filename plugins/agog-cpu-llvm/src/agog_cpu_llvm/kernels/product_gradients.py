"""Product gradients: those of a product with a bias and an activation, by one op.

The slope of the activation and the sums of the bias's gradient are one way through memory, with the bits of the
reference; the products are those of `products`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.plugin import load_reference
from agog_cpu_llvm.kernels import products
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

LEAST = 4096
"""Elements of the result from which on the slope and the sums are compiled."""

NARROWEST = 8
"""Columns from which on they are: fewer leave most lanes empty."""

COLUMNS = 64
"""Columns of a turn."""

_ACTIVATIONS = ("relu", "relu6", "sigmoid", "tanh")
_SHORT = 64  # columns up to which the reference adds up many rows by products, whose bits BLAS knows
_FEW = 256  # rows that are added one after the other; more are added in groups


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    matmul = products.make("matmul", dtype, device)
    sum_to = load_reference("agog_cpu_numpy.kernels:sum_to")
    slopes = {name: load_reference(f"agog_cpu_numpy.kernels:{name}_grad") for name in _ACTIVATIONS}

    def matmul_bias_grad(
        gradients: Any, a: Any, b: Any, outputs: Any, *, activation: str, sources: tuple[str, ...]
    ) -> tuple[Any, ...]:
        g, sums = gradients, None
        if _is_taken(gradients, outputs, activation):
            g, sums = _slope_and_sums(dtype, gradients, outputs, activation)
        elif activation != "linear":
            g = slopes[activation](gradients, outputs)
        found = []
        for source in sources:
            if source == "a":
                found.append(matmul(g, b, transpose_a=False, transpose_b=True))
            elif source == "b":
                found.append(matmul(a, g, transpose_a=True, transpose_b=False))
            else:
                found.append(sum_to(g, shape=g.shape[1:]) if sums is None else sums)
        return tuple(found)

    return matmul_bias_grad


def lower_matmul_bias_grad(gradients: Any, a: Any, b: Any, outputs: Any, **attributes: Any) -> Any:
    """The steps of calls whose products are the reference's; those of other products stay calls of the kernel."""
    if products.is_taken(gradients.shape, b.shape[0]) or products.is_taken(a.shape[::-1], gradients.shape[1]):
        raise NotImplementedError("a product of this size has no steps")
    return load_reference("agog_cpu_numpy.lowering:matmul_bias_grad")(gradients, a, b, outputs, **attributes)


def _is_taken(gradients: Any, outputs: Any, activation: str) -> bool:
    """Whether the slope and the sums are compiled."""
    if gradients.size < LEAST or activation not in ("linear", "relu", "relu6"):
        return False
    rows, columns = gradients.shape
    is_short = columns <= _SHORT and rows > _FEW
    return columns >= NARROWEST and not is_short and gradients.flags.c_contiguous and outputs.flags.c_contiguous


def _slope_and_sums(dtype: str, gradients: Any, outputs: Any, activation: str) -> tuple[Any, Any]:
    """The gradients before the activation, and their sums along columns."""
    rows, columns = gradients.shape
    slope = gradients
    if activation != "linear":
        slope = load_reference("agog_cpu_numpy.allocator:empty")(gradients.shape, gradients.dtype)
    sums = np.empty(columns, dtype)
    groups = math.isqrt(rows) if rows > _FEW else 1
    blocks = -(-columns // COLUMNS)
    arrays = map(id, (gradients, outputs, slope, sums))
    run(compiled("product_gradients", dtype)[activation], (*arrays, rows, columns, groups, blocks), most=blocks)
    return slope, sums
