"""Softmax: softmax along the last axis, its logarithm, and their gradients, a block of rows in one turn.

The maximum of a row is taken off first, so no exponential overflows; those that would not be normal numbers are zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.plugin import load_reference
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

LEAST = 8192
"""Elements from which on calls are taken."""

_BLOCK = 1 << 13  # elements of a turn, where rows are shorter


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op, which runs small calls by the reference: to decline them takes longer than some take."""
    reference = load_reference(f"agog_cpu_numpy.kernels:{op}")

    def softmax(logits: Any, *, axis: int) -> Any:
        if logits.size < LEAST or axis != logits.ndim - 1 or not logits.flags.c_contiguous:
            return reference(logits, axis=axis)
        return _run(op, dtype, logits)

    def gradient(gradients: Any, outputs: Any, *, axis: int) -> Any:
        if gradients.size < LEAST or axis != gradients.ndim - 1 or not _are_rows(gradients, outputs):
            return reference(gradients, outputs, axis=axis)
        return _run(op, dtype, gradients, outputs)

    return gradient if op.endswith("_grad") else softmax


def _are_rows(*arrays: Any) -> bool:
    return all(array.flags.c_contiguous for array in arrays)


def _run(op: str, dtype: str, *arrays: Any) -> Any:
    first = arrays[0]
    out = load_reference("agog_cpu_numpy.allocator:empty")(first.shape, first.dtype)
    columns = first.shape[-1]
    rows = first.size // columns
    block = max(1, _BLOCK // columns)
    blocks = -(-rows // block)
    addresses = [array.ctypes.data for array in (*arrays, out)]
    run(compiled("softmax", dtype)[op], (*addresses, rows, columns, block, blocks), most=blocks)
    return out


def _lowered(op: str) -> Callable[..., Any]:
    """How traced functions take small calls apart, as the reference kernel does; large ones the kernel runs whole."""

    def lower(*arrays: Any, axis: int) -> Any:
        if arrays[0].size >= LEAST:
            raise NotImplementedError("a call of this size has no steps")
        return load_reference(f"agog_cpu_numpy.lowering:{op}")(*arrays, axis=axis)

    return lower


lower_softmax = _lowered("softmax")
lower_softmax_grad = _lowered("softmax_grad")
lower_log_softmax = _lowered("log_softmax")
lower_log_softmax_grad = _lowered("log_softmax_grad")
