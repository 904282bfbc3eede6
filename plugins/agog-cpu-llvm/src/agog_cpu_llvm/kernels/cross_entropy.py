"""Cross entropy: with class numbers or distributions over classes, from logits, and its gradient, by blocks of rows.

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


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    reference = load_reference(f"agog_cpu_numpy.kernels:{op}")
    if not op.startswith("sparse"):
        return _make_dense(op, dtype, reference)

    def loss(labels: Any, logits: Any) -> Any:
        if logits.size < LEAST or not _is_taken(labels, logits):
            return reference(labels, logits)
        return _loss(dtype, "loss", np.ascontiguousarray(labels, np.int64), logits)

    def gradient(gradients: Any, labels: Any, logits: Any) -> Any:
        if logits.size < LEAST or not _is_taken(labels, logits):
            return reference(gradients, labels, logits)
        return _gradient(dtype, "gradient", gradients, np.ascontiguousarray(labels, np.int64), logits)

    return gradient if op.endswith("_grad") else loss


def _make_dense(op: str, dtype: str, reference: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an op whose labels are distributions over the classes."""

    def loss(labels: Any, logits: Any, *, axis: int) -> Any:
        if logits.size < LEAST or axis != logits.ndim - 1 or not logits.flags.c_contiguous:
            return reference(labels, logits, axis=axis)
        return _loss(dtype, "dense_loss", np.ascontiguousarray(labels), logits)

    def gradient(gradients: Any, labels: Any, logits: Any, *, axis: int) -> Any:
        if logits.size < LEAST or axis != logits.ndim - 1 or not logits.flags.c_contiguous:
            return reference(gradients, labels, logits, axis=axis)
        return _gradient(dtype, "dense_gradient", gradients, np.ascontiguousarray(labels), logits)

    return gradient if op.endswith("_grad") else loss


def _is_taken(labels: Any, logits: Any) -> bool:
    """Whether rows lie side by side and all labels are right; of wrong ones the reference tells."""
    if not labels.size or not logits.flags.c_contiguous:
        return False
    flat = labels.reshape(-1)  # whose argmax takes a third of a reduction
    return bool(flat[flat.argmin()] >= 0 and flat[flat.argmax()] < logits.shape[-1])


def _loss(dtype: str, function: str, labels: Any, logits: Any) -> Any:
    out = np.empty(logits.shape[:-1], dtype)
    _run(dtype, function, labels, logits, logits, out)
    return out


def _gradient(dtype: str, function: str, gradients: Any, labels: Any, logits: Any) -> Any:
    out = load_reference("agog_cpu_numpy.allocator:empty")(logits.shape, logits.dtype)
    _run(dtype, function, labels, logits, np.ascontiguousarray(gradients), out)
    return out


def _run(dtype: str, function: str, labels: Any, logits: Any, gradients: Any, out: Any) -> None:
    classes = logits.shape[-1]
    rows = logits.size // classes
    block = max(1, _BLOCK // classes)
    blocks = -(-rows // block)
    arrays = map(id, (labels, logits, gradients, out))
    run(compiled("cross_entropy", dtype)[function], (*arrays, rows, classes, block, blocks), most=blocks)


def _lowered(op: str) -> Callable[..., Any]:
    """How traced functions take small calls apart, as the reference kernel does; large ones the kernel runs whole."""

    def lower(*arrays: Any, **attributes: Any) -> Any:
        if arrays[-1].size >= LEAST:
            raise NotImplementedError("a call of this size has no steps")
        return load_reference(f"agog_cpu_numpy.lowering:{op}")(*arrays, **attributes)

    return lower


lower_softmax_cross_entropy = _lowered("softmax_cross_entropy")
lower_softmax_cross_entropy_grad = _lowered("softmax_cross_entropy_grad")
lower_sparse_softmax_cross_entropy = _lowered("sparse_softmax_cross_entropy")
lower_sparse_softmax_cross_entropy_grad = _lowered("sparse_softmax_cross_entropy_grad")
