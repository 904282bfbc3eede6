"""Replica shares: losses of which the replicas of a strategy each compute their part, to be summed."""

from __future__ import annotations

from agog_core import Tensor, TensorLike, cast, convert_to_tensor, reduce_sum
from agog_core.replicas import present_replicas
from agog_layers.losses.sample_weights import aligned

__all__ = ["compute_average_loss", "scale_regularization_loss"]


def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike = None, global_batch_size: TensorLike = None
) -> Tensor:
    """The sum of the examples' losses, divided by the number of examples of all replicas.

    Args:
        per_example_loss: a tensor of shape (examples, ...), the losses of this replica.
        sample_weight: the weights of the examples; None for 1.
        global_batch_size: how many examples all replicas have; None to ask them.

    Returns:
        A scalar tensor, whose sum over the replicas is the mean of all examples.

    Raises:
        RuntimeError: it is called in the scope of a strategy outside of `run`.

    >>> print(compute_average_loss([1.0, 3.0]))
    tf.Tensor(2.0, shape=(), dtype=float32)
    """
    values = convert_to_tensor(per_example_loss)
    if sample_weight is not None:
        values = values * cast(aligned(sample_weight, values), values.dtype)
    count = global_batch_size
    if count is None:
        count = convert_to_tensor(values.shape[0] if values.shape.ndims else 1, "int64")
        replicas = present_replicas()
        if replicas is not None and not replicas.in_step:
            raise RuntimeError(_outside("compute_average_loss", "pass global_batch_size"))
        if replicas is not None and replicas.size > 1:
            count = replicas.all_reduce(count)
    return reduce_sum(values) / cast(count, values.dtype)


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """A loss that all replicas compute alike, divided by their number.

    Args:
        regularization_loss: a tensor, whose elements are summed.

    Returns:
        A scalar tensor, whose sum over the replicas is the loss.

    Raises:
        RuntimeError: it is called in the scope of a strategy outside of `run`.

    >>> print(scale_regularization_loss([1.0, 3.0]))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """
    replicas = present_replicas()
    if replicas is not None and not replicas.in_step:
        raise RuntimeError(_outside("scale_regularization_loss", "call it in what strategy.run() runs"))
    return reduce_sum(regularization_loss) / (1 if replicas is None else replicas.size)


def _outside(what: str, advice: str) -> str:
    return f"You are calling `{what}` in cross replica context, while it belongs into a replica context: {advice}."
