"""Cross entropy: with class numbers, from logits, and its gradient, a block of rows in one turn.

No probability is kept: each row is read once for its maximum and once for the sum of its exponentials.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.plugin import load_reference
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

LEAST = 8192
"""Logits from which on calls are taken; the reference runs the others at once."""

_BLOCK = 1 << 13  # elements of a turn, where rows are shorter
_NAMES = "sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    reference = load_reference(f"agog_cpu_numpy.kernels:{op}")

    def loss(labels: Any, logits: Any) -> Any:
        if logits.size < LEAST or not _is_taken(labels, logits):
            return reference(labels, logits)
        out = np.empty(labels.shape, dtype)
        _run(dtype, "loss", labels, logits, logits, out)
        return out

    def gradient(gradients: Any, labels: Any, logits: Any) -> Any:
        if logits.size < LEAST or not _is_taken(labels, logits):
            return reference(gradients, labels, logits)
        out = load_reference("agog_cpu_numpy.allocator:empty")(logits.shape, logits.dtype)
        _run(dtype, "gradient", labels, logits, np.ascontiguousarray(gradients), out)
        return out

    return gradient if op.endswith("_grad") else loss


def _is_taken(labels: Any, logits: Any) -> bool:
    """Whether rows lie side by side and all labels are right; of wrong ones the reference tells."""
    classes = logits.shape[-1]
    return logits.flags.c_contiguous and labels.size > 0 and bool(labels.min() >= 0 and labels.max() < classes)


def _run(dtype: str, function: str, labels: Any, logits: Any, gradients: Any, out: Any) -> None:
    classes = logits.shape[-1]
    numbers = np.ascontiguousarray(labels, np.int64)
    block = max(1, _BLOCK // classes)
    blocks = -(-labels.size // block)
    addresses = [array.ctypes.data for array in (numbers, logits, gradients, out)]
    run(
        compiled("cross_entropy", dtype)[function],
        (*addresses, labels.size, classes, block, blocks),
        most=blocks,
    )


def lower_sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The steps of small calls, as the reference has them."""
    return _lowered(_NAMES[0], logits)(labels, logits)


def lower_sparse_softmax_cross_entropy_grad(gradients: Any, labels: Any, logits: Any) -> Any:
    """The steps of small calls, as the reference has them."""
    return _lowered(_NAMES[1], logits)(gradients, labels, logits)


def _lowered(op: str, logits: Any) -> Callable[..., Any]:
    if logits.size >= LEAST:
        raise NotImplementedError("a call of this size has no steps")
    lower: Callable[..., Any] = load_reference(f"agog_cpu_numpy.lowering:{op}")
    return lower
