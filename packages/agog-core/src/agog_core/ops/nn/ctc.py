"""CTC, connectionist temporal classification: the loss of sequences with unknown alignment to the labels.

A. Graves et al., "Connectionist temporal classification: labelling unsegmented sequence data with recurrent neural
networks", ICML 2006. The last class is the blank. The states of an alignment are the labels of an example with blanks
before, between and behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.calls.call import call, call_with
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING, float32, int32
from agog_core.errors import InvalidArgumentError
from agog_core.gradients.tape import GradientTape
from agog_core.ops.array import cast, concat, expand_dims, fill, one_hot, ones_like, reshape, stack, transpose, unstack
from agog_core.ops.linalg.matmul import matmul
from agog_core.ops.math.logic import not_equal, where
from agog_core.ops.nn.softmax import log_softmax
from agog_core.ops.reduce.reduction import reduce_logsumexp, reduce_sum
from agog_core.shapes import Shape
from agog_core.tensors import SparseTensor, Tensor, TensorLike, constant
from agog_core.tensors.convert import computed, convert_to_tensor

__all__ = ["ctc_loss"]

_IMPOSSIBLE = -1e30  # stands for the logarithm of 0, and takes part in differences without becoming NaN


def ctc_loss(
    labels: SparseTensor,
    inputs: TensorLike,
    sequence_length: TensorLike,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
) -> Tensor:
    """Minus the logarithm of the probability of the labels, over all their alignments with the inputs.

    Args:
        labels: a `SparseTensor` of integers of shape (batch, most labels); each row's labels come without gaps.
        inputs: logits of shape (time, batch, classes); the last class is the blank.
        sequence_length: integers of shape (batch,): how many of the time steps of each example count.
        preprocess_collapse_repeated: whether equal labels that follow each other count as one.
        ctc_merge_repeated: whether equal classes that follow each other in an alignment stand for one label; else each
            stands for one, which is not the usual form of the loss.
        ignore_longer_outputs_than_inputs: whether an example with more labels than time steps has loss 0, in place of
            an error.
        time_major: whether time is the first axis of the inputs; else it is the second one, behind the batch.

    Returns:
        The losses, of shape (batch,); infinite where no alignment is possible, and then the gradient is 0.

    Raises:
        TypeError: the labels are not a `SparseTensor`.
        InvalidArgumentError: the shapes do not fit, a label or a length is out of range, or there are more labels than
            time steps.

    >>> labels = SparseTensor([[0, 0]], constant([0]), [1, 1])
    >>> print(ctc_loss(labels, [[[0.0, 0.0]]], [1]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(f"ctc_loss: labels must be a SparseTensor; got {labels!r} of type {type(labels).__name__}.")
    logits = convert_to_tensor(inputs)
    if not time_major and len(logits._shape) == 3:
        logits = transpose(logits, (1, 0, 2))
    given = convert_to_tensor(sequence_length)
    _ctc_loss_shape((given.size, 0), logits._shape, given._shape, True)
    steps, blank = logits._shape[0], logits._shape[2] - 1

    def found(indices: Any, values: Any, sequence_length: Any) -> list[Any]:
        lengths = np.array(sequence_length)
        rows = _rows(indices, values, lengths.size, blank)
        if preprocess_collapse_repeated:
            rows = [[label for n, label in enumerate(row) if n == 0 or label != row[n - 1]] for row in rows]
        for number, row in enumerate(rows):
            if not 0 <= lengths[number] <= steps:
                raise InvalidArgumentError(
                    f"ctc_loss: sequence_length of example {number} is {lengths[number]}, but there are {steps} "
                    "time steps."
                )
            if len(row) > lengths[number]:
                if not ignore_longer_outputs_than_inputs:
                    raise InvalidArgumentError(
                        f"ctc_loss: Not enough time for target transition sequence (required: {len(row)}, available: "
                        f"{lengths[number]}) of example {number}. Give longer inputs, or "
                        "ignore_longer_outputs_than_inputs=True."
                    )
                lengths[number] = 0
        most = max(map(len, rows), default=0)
        dense = np.array([row + [-1] * (most - len(row)) for row in rows], np.int32).reshape(lengths.size, most)
        return [dense, lengths]

    inputs_of = [labels.indices, labels.values, given]
    dense, lengths = computed(found, inputs_of, [int32, int32], has_sizes=True, may_fail=True)
    return call(_ctc_loss, dense, logits, lengths, merge_repeated=bool(ctc_merge_repeated))


def _rows(indices: Any, values: Any, batch: int, blank: int) -> list[list[int]]:
    """The labels of each example."""
    rows: list[list[int]] = [[] for _ in range(batch)]
    for (row, _), value in zip(indices.tolist(), values.tolist(), strict=True):
        if not 0 <= row < batch:
            raise InvalidArgumentError(f"ctc_loss: labels are for example {row}, but there are {batch} examples.")
        if not 0 <= value < blank:
            raise InvalidArgumentError(
                f"ctc_loss: label {value} of example {row} is out of range: the labels are 0 to {blank - 1}, and class "
                f"{blank} is the blank."
            )
        rows[row].append(value)
    return rows


def dense_ctc_loss(
    labels: TensorLike, logits: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True
) -> Tensor:
    """`ctc_loss` of labels in a dense tensor, without checks of values. It is of shape (batch, most labels), with -1
    behind the last label of a row; an example of length 0 has loss 0.

    >>> print(dense_ctc_loss([[0]], [[[0.0, 0.0]]], [1]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    y, z, lengths = convert_to_tensor(labels), convert_to_tensor(logits), convert_to_tensor(sequence_length)
    return call(_ctc_loss, y, z, lengths, merge_repeated=bool(merge_repeated))


def _ctc_loss_shape(labels: Shape, logits: Shape, sequence_length: Shape, merge_repeated: bool) -> Shape:
    if len(logits) != 3 or len(labels) != 2 or labels[0] != logits[1] or sequence_length != logits[1:2]:
        raise InvalidArgumentError(
            "ctc_loss: logits must be of shape (time, batch, classes), labels of shape (batch, labels) and "
            f"sequence_length of shape (batch,); got logits {logits}, labels {labels} and sequence_length "
            f"{sequence_length}."
        )
    return sequence_length


_ctc_loss = Op(
    "ctc_loss",
    dense_ctc_loss,
    inputs=["labels", "logits", "sequence_length"],
    shape=_ctc_loss_shape,
    alike=["logits"],
    dtypes=FLOATING,
    vjp={
        "logits": lambda g, labels, logits, sequence_length, merge_repeated, reserve: call_with(
            reserve, _ctc_loss_grad, g, labels, logits, sequence_length, merge_repeated=merge_repeated
        )
    },
    may_fail=True,
)


def ctc_loss_grad(
    gradients: TensorLike,
    labels: TensorLike,
    logits: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = True,
) -> Tensor:
    """The gradient of `dense_ctc_loss` with respect to the logits. It is ``gradients * (softmax(logits) - p)``, where
    ``p`` is how probable a class is at a time; 0 beyond the sequences' ends and where no alignment is possible.

    >>> print(ctc_loss_grad([1.0], [[0]], [[[0.0, 0.0]]], [1]))
    tf.Tensor([[[-0.5  0.5]]], shape=(1, 1, 2), dtype=float32)
    """
    g, y, z = convert_to_tensor(gradients), convert_to_tensor(labels), convert_to_tensor(logits)
    lengths = convert_to_tensor(sequence_length)
    return call(_ctc_loss_grad, g, y, z, lengths, merge_repeated=bool(merge_repeated))


def _ctc_loss_grad_shape(
    gradients: Shape, labels: Shape, logits: Shape, sequence_length: Shape, merge_repeated: bool
) -> Shape:
    _ctc_loss_shape(labels, logits, sequence_length, merge_repeated)
    if gradients != sequence_length:
        raise InvalidArgumentError(
            f"ctc_loss_grad: gradients must be of shape {sequence_length}, one for each example; got {gradients}."
        )
    return logits


def _ctc_loss_grad_vjp(
    g: Tensor,
    gradients: Tensor,
    labels: Tensor,
    logits: Tensor,
    sequence_length: Tensor,
    merge_repeated: bool,
    needed: tuple[str, ...],
) -> tuple[Any, ...]:
    """Differentiate the loss twice, composed of ops that are differentiable to any order."""
    sources = {"gradients": gradients, "logits": logits}
    asked = {name: sources[name] for name in needed}
    with GradientTape() as outer:
        outer.watch(asked)
        with GradientTape() as inner:
            inner.watch(logits)
            wide = cast(logits, float32) if logits.dtype.size < float32.size else logits  # float16 ends before 1e30
            loss = cast(_composed_loss(labels, wide, sequence_length, merge_repeated), logits.dtype)
        gradient = inner.gradient(loss, logits, gradients)
    found = outer.gradient(gradient, asked, g, unconnected_gradients="zero")
    return tuple([found.get(name) for name in sources])


_ctc_loss_grad: Op = define(
    ctc_loss_grad,
    shape=_ctc_loss_grad_shape,
    alike=["gradients", "logits"],
    dtypes=FLOATING,
    vjp={("gradients", "logits"): _ctc_loss_grad_vjp},
    reserve_of="ctc_loss",
    may_fail=True,
)


def _composed_loss(labels: Tensor, logits: Tensor, sequence_length: Tensor, merge_repeated: bool) -> Tensor:
    """The loss by ops: the forward variables of the paper, in logarithms, of all states of all examples at once."""
    _, batch, classes = logits._shape
    size, dtype = labels._shape[1], logits.dtype
    states = 2 * size + 1
    is_label = constant([[state % 2 for state in range(states)]], dtype)
    state_classes = _state_classes(labels, classes - 1)
    may_skip, may_stay = is_label, ones_like(is_label)
    if merge_repeated:  # a label is not left out between equal ones: they would be one
        before = concat([state_classes[:, :2], state_classes], 1)[:, :states]
        may_skip = is_label * cast(not_equal(state_classes, before), dtype)
    else:
        may_stay = 1 - is_label
    skip, stay = _barrier(may_skip), _barrier(may_stay)
    emissions = matmul(
        transpose(log_softmax(logits), (1, 0, 2)), one_hot(state_classes, classes, dtype=dtype), transpose_b=True
    )
    wall = fill((batch, 2), cast(_IMPOSSIBLE, dtype))
    alpha: Tensor | None = None
    for time, emission in enumerate(unstack(emissions, axis=1)):
        if alpha is None:
            alpha = emission + constant([[0.0 if state < 2 else _IMPOSSIBLE for state in range(states)]], dtype)
            continue
        behind = concat([wall, alpha], 1)
        arrivals = [alpha + stay, behind[:, 1 : states + 1], behind[:, :states] + skip]
        goes_on = expand_dims(cast(constant(time, sequence_length.dtype) < sequence_length, dtype), 1)
        moved = reduce_logsumexp(stack(arrivals), 0) + emission
        alpha = moved * goes_on + alpha * (1 - goes_on)
    assert alpha is not None
    last = reduce_sum(cast(labels > -1, labels.dtype), 1) * 2
    is_end = one_hot(last, states, dtype=dtype) + one_hot(last - 1, states, dtype=dtype)
    total = reduce_logsumexp(alpha + _barrier(is_end), 1)
    counts = (sequence_length > 0) & (total > _IMPOSSIBLE / 10)
    return -(total * cast(counts, dtype))


def _state_classes(labels: Tensor, blank: int) -> Tensor:
    """The class of each state: labels with blanks around them, and blanks behind the last label."""
    batch, size = labels._shape
    blanks = fill((batch, size + 1), cast(blank, labels.dtype))
    given = where(labels > -1, labels, blanks[:, :size])
    return concat([reshape(stack([blanks[:, :size], given], 2), (batch, 2 * size)), blanks[:, :1]], 1)


def _barrier(is_open: Tensor) -> Tensor:
    """0 where something is possible, which is 1, and the logarithm of 0 elsewhere."""
    return (1 - is_open) * _IMPOSSIBLE
