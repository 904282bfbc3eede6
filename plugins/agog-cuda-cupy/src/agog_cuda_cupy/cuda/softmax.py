"""Softmax, cross entropies and their gradients: the kernels of softmax.cu, for the last axis."""

from __future__ import annotations

from typing import Any

from agog_cuda_cupy.cuda.modules import Modules, element, index_type
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

_ROWS = 4  # of a block; each is one warp's


def softmax(modules: Modules, logits: Array, *, axis: int) -> Any:
    return _rows(modules, "softmax", axis, logits)


def softmax_grad(modules: Modules, gradients: Array, softmax: Array, *, axis: int) -> Any:
    return _rows(modules, "softmax_grad", axis, gradients, softmax)


def log_softmax(modules: Modules, logits: Array, *, axis: int) -> Any:
    return _rows(modules, "log_softmax", axis, logits)


def log_softmax_grad(modules: Modules, gradients: Array, log_softmax: Array, *, axis: int) -> Any:
    return _rows(modules, "log_softmax_grad", axis, gradients, log_softmax)


def softmax_cross_entropy(modules: Modules, labels: Array, logits: Array, *, axis: int) -> Any:
    if not _is_served(logits, axis) or labels.dtype != logits.dtype or labels.shape != logits.shape:
        return NotImplemented
    losses = modules.xp.empty(logits.shape[:-1], logits.dtype)
    _launch(modules, "softmax_cross_entropy", logits, {}, labels, logits, losses)
    return losses


def softmax_cross_entropy_grad(modules: Modules, gradients: Array, labels: Array, logits: Array, *, axis: int) -> Any:
    return _rows(modules, "softmax_cross_entropy_grad", axis, gradients, labels, logits)


def sparse_softmax_cross_entropy(modules: Modules, labels: Array, logits: Array) -> Any:
    """See `agog_kernels_xp.nn.losses`; a wrong label is told in an error word, and its loss is NaN."""
    index = index_type(labels.dtype)
    if index is None or not _is_served(logits, logits.ndim - 1):
        return NotImplemented
    losses = modules.xp.empty(labels.shape, logits.dtype)
    classes = logits.shape[-1]

    def describe(position: int, value: int) -> str:
        return (
            f"sparse_softmax_cross_entropy: Received a label value of {value} which is outside the valid range of [0, "
            f"{classes})."
        )

    word = modules.error_word()
    _launch(modules, "sparse_softmax_cross_entropy", logits, {"AGOG_INDEX": index}, labels, logits, losses, behind=word)
    modules.check(describe)
    return losses


def sparse_softmax_cross_entropy_grad(modules: Modules, gradients: Array, labels: Array, logits: Array) -> Any:
    index = index_type(labels.dtype)
    if index is None or not _is_served(logits, logits.ndim - 1) or gradients.dtype != logits.dtype:
        return NotImplemented
    y = modules.xp.empty(logits.shape, logits.dtype)
    given = gradients, labels, logits, y
    _launch(modules, "sparse_softmax_cross_entropy_grad", logits, {"AGOG_INDEX": index}, *given)
    return y


def _rows(modules: Modules, name: str, axis: int, *arrays: Array) -> Any:
    """A result of the last array's shape, of arrays of one dtype."""
    last = arrays[-1]
    if not _is_served(last, axis) or any(array.dtype != last.dtype for array in arrays):
        return NotImplemented
    y = modules.xp.empty(last.shape, last.dtype)
    _launch(modules, name, last, {}, *arrays, y)
    return y


def _is_served(x: Array, axis: int) -> bool:
    return element(x.dtype) is not None and x.ndim > 0 and axis == x.ndim - 1 and x.shape[-1] > 0


def _launch(
    modules: Modules, name: str, like: Array, definitions: dict[str, str], *arrays: Array, behind: Array | None = None
) -> None:
    """Launch a kernel with one warp for each row of an array."""
    width = like.shape[-1]
    rows = like.size // width
    if rows:
        kernel = modules.kernel("softmax", name, AGOG_NUMBER=element(like.dtype) or "", **definitions)
        given = [contiguous(modules, array) for array in arrays[:-1]]
        more = () if behind is None else (behind,)
        kernel((-(-rows // _ROWS),), (32, _ROWS), (*given, arrays[-1], rows, width, *more))
