"""Sequences: recurrences and connectionist temporal classification in ``tf.keras.backend``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import agog_core as ag
from agog_core import SparseTensor, Tensor, TensorLike, convert_to_tensor
from agog_core.ops import nn

__all__ = ["ctc_batch_cost", "ctc_decode", "ctc_label_dense_to_sparse", "rnn"]

# What is added to probabilities before their logarithm is taken.
_EPSILON = 1e-7


def rnn(
    step_function: Callable[[Tensor, list[Tensor]], tuple[Tensor, Sequence[Tensor]]],
    inputs: TensorLike,
    initial_states: Sequence[TensorLike],
    go_backwards: bool = False,
    mask: TensorLike | None = None,
    constants: Sequence[Any] | None = None,
    unroll: bool = False,
    input_length: int | None = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Run a function over the steps of sequences.

    Args:
        step_function: a function of a step's inputs, of shape (batch, ...), and of the states and constants, in a list,
            that returns the step's output and the new states.
        inputs: a tensor of shape (batch, time, ...).
        initial_states: the first states.
        go_backwards: whether the last step comes first.
        mask: which steps count, of shape (batch, time); where one does not, the output is that before, or zeros at the
            first step, and the states stay.
        constants: what the function gets behind the states.
        unroll: changes nothing.
        input_length: changes nothing.

    Returns:
        The last output, all outputs of shape (batch, time, ...), and the last states.

    Raises:
        ValueError: the inputs have no time axis, or no steps.

    >>> def step(x, states):
    ...     total = states[0] + x
    ...     return total, [total]
    >>> last, outputs, _ = rnn(step, [[[1.0], [2.0], [4.0]]], [[[0.0]]])
    >>> last.numpy().tolist(), outputs.numpy().tolist()
    ([[7.0]], [[[1.0], [3.0], [7.0]]])
    """
    x = convert_to_tensor(inputs)
    if x.ndim < 3 or not x.shape[1]:
        raise ValueError(f"rnn: inputs must have the shape (batch, time, ...), with a step at least; got {x.shape}.")
    states = [convert_to_tensor(state) for state in initial_states]
    steps = ag.unstack(x, axis=1)
    counts = None if mask is None else ag.unstack(ag.cast(ag.reshape(mask, [x.shape[0], x.shape[1]]), "bool"), axis=1)
    outputs: list[Tensor] = []
    for number in reversed(range(len(steps))) if go_backwards else range(len(steps)):
        output, new = step_function(steps[number], [*states, *(constants or ())])
        if counts is not None:
            before = outputs[-1] if outputs else ag.zeros_like(output)
            output = _where(counts[number], output, before)
            new = [_where(counts[number], *pair) for pair in zip(new, states, strict=True)]
        outputs.append(output)
        states = list(new)
    return outputs[-1], ag.stack(outputs, axis=1), states


def _where(counts: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """The new values of those examples that count, and the old ones of the others."""
    shape = [counts.shape[0], *[1] * (new.ndim - 1)]
    return ag.where(ag.logical_and(ag.reshape(counts, shape), ag.ones_like(new, "bool")), new, old)


def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> SparseTensor:
    """Make a `tf.SparseTensor` of labels that are padded.

    Args:
        labels: classes, of shape (batch, length).
        label_lengths: how many of them count, of shape (batch,).

    Returns:
        The sparse tensor, of the same shape.

    >>> ctc_label_dense_to_sparse([[5, 6], [7, 0]], [2, 1]).values.numpy().tolist()
    [5, 6, 7]
    """
    dense = convert_to_tensor(labels)
    counts = ag.range(dense.shape[1]) < ag.reshape(ag.cast(label_lengths, "int32"), [-1, 1])
    places = ag.where(counts)
    return SparseTensor(places, ag.gather_nd(dense, places), dense.shape.as_list())


def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> Tensor:
    """The loss of connectionist temporal classification, of each example.

    Args:
        y_true: classes, of shape (batch, length).
        y_pred: probabilities, of shape (batch, time, classes + 1); the last one is that of the blank.
        input_length: how many steps of each example count, of shape (batch, 1).
        label_length: how many of its labels count, of shape (batch, 1).

    Returns:
        A tensor of shape (batch, 1).

    >>> print(f"{ctc_batch_cost([[0]], [[[0.5, 0.5]]], [[1]], [[1]]).numpy()[0, 0]:.4f}")
    0.6931
    """
    labels = ctc_label_dense_to_sparse(ag.cast(y_true, "int32"), ag.reshape(label_length, [-1]))
    logits = ag.log(ag.transpose(convert_to_tensor(y_pred), [1, 0, 2]) + _EPSILON)
    losses = nn.ctc_loss(labels, logits, ag.cast(ag.reshape(input_length, [-1]), "int32"))
    return ag.expand_dims(losses, 1)


def ctc_decode(
    y_pred: TensorLike, input_length: TensorLike, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Tensor], Tensor]:
    """The likeliest labels, by connectionist temporal classification.

    Args:
        y_pred: probabilities, of shape (batch, time, classes + 1); the last one is that of the blank.
        input_length: how many steps of each example count, of shape (batch,).
        greedy: whether to take the likeliest class of each step; else a beam search is made.
        beam_width: how many beginnings the search keeps.
        top_paths: how many answers the search gives.

    Returns:
        The answers, of shape (batch, length) with -1 behind their ends, and their scores.

    >>> answers, _ = ctc_decode([[[0.9, 0.1], [0.2, 0.8]]], [2])
    >>> answers[0].numpy().tolist()
    [[0]]
    """
    logits = ag.log(ag.transpose(convert_to_tensor(y_pred), [1, 0, 2]) + _EPSILON)
    lengths = ag.cast(input_length, "int32")
    if greedy:
        decoded, scores = nn.ctc_greedy_decoder(logits, lengths)
    else:
        decoded, scores = nn.ctc_beam_search_decoder(logits, lengths, beam_width, top_paths)
    return [ag.sparse_tensor_to_dense(answer, default_value=-1) for answer in decoded], scores
