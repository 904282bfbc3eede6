"""Sequences: losses of sequences shorter than their predictions, such as CTC."""

from __future__ import annotations

import agog_core as ag
from agog_core import Tensor
from agog_layers.layer.function_layer import take_symbols
from agog_layers.losses.arguments import floats

__all__ = ["ctc"]


def ctc(y_true: ag.TensorLike, y_pred: ag.TensorLike) -> Tensor:
    """Minus the logarithm of the probability of labels, over all their alignments with the predictions.

    A. Graves et al., "Connectionist temporal classification", ICML 2006; see `ctc_loss`, whose blank is the last class.

    Args:
        y_true: class numbers of shape (batch, most labels); 0 stands for the blank, and fills up behind the labels.
        y_pred: logits of shape (batch, time, classes).

    Returns:
        A tensor of shape (batch,).

    Raises:
        ValueError: the shapes are others.

    >>> import agog_core as ag
    >>> print(ctc([[1]], ag.zeros([1, 1, 2])))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    labels, logits = ag.cast(ag.convert_to_tensor(y_true), "int64"), floats(y_pred)
    if len(labels._shape) != 2 or len(logits._shape) != 3:
        raise ValueError(
            "ctc: y_true must be of shape (batch, labels) and y_pred of shape (batch, time, classes); got "
            f"{labels.shape} and {logits.shape}."
        )
    places = ag.where(ag.not_equal(labels, 0))
    sparse = ag.SparseTensor(
        places, ag.cast(ag.gather_nd(labels, places) - 1, "int32"), ag.shape(labels, out_type="int64")
    )
    blank_last = ag.concat([logits[:, :, 1:], logits[:, :, :1]], -1)
    steps = ag.fill([logits._shape[0]], logits._shape[1])
    return ag.nn.ctc_loss(sparse, blank_last, steps, time_major=False)


take_symbols(globals(), room="losses")
