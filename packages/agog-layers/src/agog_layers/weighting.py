"""Weights of losses and metrics: how they spread over the values."""

from __future__ import annotations

from agog_core import Tensor


def repeats(what: str, weights: Tensor, values: Tensor) -> int:
    """How many values each weight stands for.

    Args:
        what: the loss or metric, for the error.
        weights: a scalar, or a tensor of the values' rank whose sizes are theirs or 1.
        values: the values.

    Returns:
        The number of values divided by the number of weights.

    Raises:
        ValueError: the weights are of another shape.

    >>> import agog_core as ag
    >>> repeats("mean_squared_error", ag.ones([4, 1]), ag.ones([4, 3]))
    3
    """
    sizes, wanted = weights.shape.as_list(), values.shape.as_list()
    fits = not sizes or (len(sizes) == len(wanted) and all(a in (1, b) for a, b in zip(sizes, wanted, strict=True)))
    if not fits:
        raise ValueError(
            f"{what}: weights of shape {weights.shape} can not be broadcast to values of shape {values.shape}; they "
            "must be a scalar, or "
            "have the same rank and in each axis the same size or 1."
        )
    return (values.shape.num_elements() or 0) // max(1, weights.shape.num_elements() or 0)
