"""CTC (connectionist temporal classification): forward and backward variables of all examples, in logarithms."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.nn.softmax import log_softmax
from agog_kernels_xp.parts.rows import maximum, wide


def ctc_loss(xp: Any, labels: Array, logits: Array, sequence_length: Array, *, merge_repeated: bool) -> Array:
    """Minus the logarithm of the probability of all alignments."""
    states = _States(xp, labels, logits, sequence_length, merge_repeated)
    losses = xp.zeros(logits.shape[1], states.emissions.dtype)
    if logits.size:
        losses = xp.where(sequence_length > 0, -states.total(states.forward()[-1]), losses)
    return losses.astype(logits.dtype, copy=False)


def ctc_loss_grad(
    xp: Any, gradients: Array, labels: Array, logits: Array, sequence_length: Array, *, merge_repeated: bool
) -> Array:
    """Its gradient: what softmax gives less what the alignments have."""
    states = _States(xp, labels, logits, sequence_length, merge_repeated)
    if not logits.size:
        return xp.zeros_like(logits)
    alphas, betas = states.forward(), states.backward()
    total = states.total(alphas[-1])
    is_possible = xp.isfinite(total)
    shares = xp.exp(alphas + betas - xp.where(is_possible, total, 0)[:, None])  # (time, batch, states)
    classes = xp.arange(logits.shape[2])
    is_class = (states.classes[:, :, None] == classes).astype(shares.dtype)  # (batch, states, classes)
    values = xp.exp(states.logarithms) - xp.matmul(shares.swapaxes(0, 1), is_class).swapaxes(0, 1)
    counts = is_possible & (xp.arange(logits.shape[0])[:, None] < sequence_length)
    values = xp.where(counts[:, :, None], values * wide(gradients)[:, None], values.dtype.type(0))
    return values.astype(logits.dtype, copy=False)


class _States:
    """The states of the alignments of a batch, and the ways between them."""

    def __init__(self, xp: Any, labels: Array, logits: Array, lengths: Array, merge_repeated: bool) -> None:
        batch, size = labels.shape
        blank = logits.shape[2] - 1
        self.xp, self.lengths = xp, lengths
        self.logarithms = log_softmax(xp, wide(logits), axis=2)
        self.classes = xp.full((batch, 2 * size + 1), blank, "int64")
        self.classes[:, 1::2] = xp.where(labels < 0, blank, labels)
        self.emissions = xp.take_along_axis(self.logarithms, self.classes[None], 2)
        is_label = xp.arange(2 * size + 1) % 2 == 1
        self.may_stay = xp.ones_like(is_label) if merge_repeated else ~is_label
        self.may_skip = xp.broadcast_to(is_label, self.classes.shape)[:, 2:]
        if merge_repeated:  # a label is not left out between equal ones: they would be one
            self.may_skip = self.may_skip & (self.classes[:, 2:] != self.classes[:, :-2])
        count = (labels >= 0).sum(1)[:, None]
        position = xp.arange(2 * size + 1)
        self.is_end = (position == 2 * count) | (position == 2 * count - 1)

    def forward(self) -> Array:
        """For each time and state: the logarithm of the probability to come there. It stays after the end."""
        xp, impossible = self.xp, -self.xp.inf
        alphas = xp.full(self.emissions.shape, impossible, self.emissions.dtype)
        alphas[0, :, :2] = self.emissions[0, :, :2]
        for time in range(1, len(alphas)):
            before, now = alphas[time - 1], alphas[time]
            now[...] = xp.where(self.may_stay, before, impossible)
            now[:, 1:] = xp.logaddexp(now[:, 1:], before[:, :-1])
            now[:, 2:] = xp.logaddexp(now[:, 2:], xp.where(self.may_skip, before[:, :-2], impossible))
            now += self.emissions[time]
            now[...] = xp.where((time < self.lengths)[:, None], now, before)
        return alphas

    def backward(self) -> Array:
        """For each time and state: the logarithm of the probability to come from there to the end."""
        xp, impossible = self.xp, -self.xp.inf
        betas = xp.full(self.emissions.shape, impossible, self.emissions.dtype)
        for time in range(len(betas) - 1, -1, -1):
            now = betas[time]
            if time + 1 < len(betas):
                after = betas[time + 1] + self.emissions[time + 1]
                now[...] = xp.where(self.may_stay, after, impossible)
                now[:, :-1] = xp.logaddexp(now[:, :-1], after[:, 1:])
                now[:, :-2] = xp.logaddexp(now[:, :-2], xp.where(self.may_skip, after[:, 2:], impossible))
            is_last = (time == self.lengths - 1)[:, None]
            now[...] = xp.where(is_last, xp.where(self.is_end, now.dtype.type(0), impossible), now)
        return betas

    def total(self, alpha: Array) -> Array:
        """The logarithm of the probability to come to the end."""
        xp = self.xp
        ends = xp.where(self.is_end, alpha, -xp.inf)
        highest = maximum(xp, ends, 1)
        offset = xp.where(xp.isfinite(highest), highest, alpha.dtype.type(0))
        return xp.log(xp.exp(ends - offset).sum(axis=1)) + offset[:, 0]
