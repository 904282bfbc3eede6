"""CTC: its loss and the gradient of it, by the kernels of ctc.cu behind the logarithm of softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import THREADS, Modules, element
from agog_cuda_cupy.cuda.softmax import log_softmax

Array = Any

_ALIGNMENTS = np.dtype(
    [
        *((name, "u8") for name in ("labels", "lengths", "logarithms")),
        *((name, "i8") for name in ("times", "batch", "classes", "most_labels")),
        ("merges_repeated", "i4"),
    ],
    align=True,
)


def ctc_loss(modules: Modules, labels: Array, logits: Array, sequence_length: Array, *, merge_repeated: bool) -> Any:
    if not _is_served(labels, logits, sequence_length):
        return NotImplemented
    given = _Given(modules, labels, logits, sequence_length, merge_repeated)
    _, losses = given.forward()
    return losses.astype(logits.dtype, copy=False)


def ctc_loss_grad(
    modules: Modules, gradients: Array, labels: Array, logits: Array, sequence_length: Array, *, merge_repeated: bool
) -> Any:
    if not _is_served(labels, logits, sequence_length) or gradients.dtype != logits.dtype:
        return NotImplemented
    given = _Given(modules, labels, logits, sequence_length, merge_repeated)
    return given.backward(gradients).astype(logits.dtype, copy=False)


def _is_served(labels: Array, logits: Array, lengths: Array) -> bool:
    return element(logits.dtype) is not None and logits.size > 0 and labels.dtype == lengths.dtype == np.int32


class _Given:
    """The arrays of a call in one piece, and half precision as float32."""

    def __init__(self, modules: Modules, labels: Array, logits: Array, lengths: Array, merge_repeated: bool) -> None:
        xp = modules.xp
        times, batch, classes = logits.shape
        self.modules, self.batch = modules, batch
        self.dtype = np.dtype("float32") if logits.dtype.itemsize == 2 else logits.dtype
        self.logarithms = log_softmax(modules, logits.astype(self.dtype, copy=False), axis=2)
        self.held = xp.ascontiguousarray(labels), xp.ascontiguousarray(lengths), self.logarithms
        addresses = [modules.address(array) if array.size else 0 for array in self.held]
        numbers = times, batch, classes, labels.shape[1], merge_repeated
        self.alignments = np.array((*addresses, *numbers), _ALIGNMENTS)[()]
        self.shape = times, batch, 2 * labels.shape[1] + 1

    def forward(self) -> tuple[Array, Array]:
        """The logarithms of the probabilities to come to each state, and the losses."""
        alphas, losses = (self.modules.xp.empty(shape, self.dtype) for shape in (self.shape, self.batch))
        self._kernel("ctc_forward")((self.batch,), (THREADS,), (alphas, losses, self.alignments))
        return alphas, losses

    def backward(self, gradients: Array) -> Array:
        """The gradient of the logits."""
        xp = self.modules.xp
        alphas, _ = self.forward()
        betas, y = xp.empty(self.shape, self.dtype), xp.empty(self.logarithms.shape, self.dtype)
        self._kernel("ctc_backward")((self.batch,), (THREADS,), (betas, self.alignments))
        g = xp.ascontiguousarray(gradients.astype(self.dtype, copy=False))
        self.modules.launch(self._kernel("ctc_grad"), y.size, g, alphas, betas, y, self.alignments)
        return y

    def _kernel(self, name: str) -> Any:
        return self.modules.kernel("ctc", name, AGOG_NUMBER=element(self.dtype) or "")
