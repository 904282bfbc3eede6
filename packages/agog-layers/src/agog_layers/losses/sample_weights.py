"""Sample weights: broadcasting of weights over the values of losses and metrics."""

from __future__ import annotations

from agog_core import Tensor, TensorLike, cast, convert_to_tensor, reduce_sum, reshape, squeeze

__all__ = ["aligned", "repeats", "weighted_sum"]


def repeats(what: str, weights: Tensor, values: Tensor) -> int:
    """The number of values per weight; a ValueError if the weights' shape does not broadcast to the values'.

    >>> import agog_core as ag
    >>> repeats("mean_squared_error", ag.ones([4, 1]), ag.ones([4, 3]))
    3
    """
    sizes, wanted = weights.shape.as_list(), values.shape.as_list()
    fits = not sizes or (len(sizes) == len(wanted) and all(a in (1, b) for a, b in zip(sizes, wanted, strict=True)))
    if not fits:
        raise ValueError(
            f"{what}: weights of shape {weights.shape} can not be broadcast to values of shape {values.shape}; they "
            "must be a scalar, or have the same rank and in each axis the same size or 1."
        )
    return (values.shape.num_elements() or 0) // max(1, weights.shape.num_elements() or 0)


def weighted_sum(what: str, values: Tensor, weights: TensorLike) -> tuple[Tensor, TensorLike]:
    """The weighted sum of values, and the sum of their weights, of which None is 1 for each."""
    if weights is None:
        return reduce_sum(values), values.shape.num_elements()
    factors = cast(weights, values.dtype)
    each = repeats(what, factors, values)
    return reduce_sum(values * factors), reduce_sum(factors) * each


def aligned(weights: TensorLike, values: Tensor) -> Tensor:
    """Give weights the values' rank, as ``tf.keras`` does: a last axis of size 1 goes, or axes of size 1 come last.

    A scalar, and what does not fit at all, stays as it is.

    >>> import agog_core as ag
    >>> aligned([1.0, 2.0], ag.ones([2, 3])).shape
    TensorShape([2, 1])
    """
    tensor = convert_to_tensor(weights)
    if tensor.ndim == values.ndim + 1 and tensor.shape[-1] == 1:
        return squeeze(tensor, -1)
    if 0 < tensor.ndim < values.ndim:
        return reshape(tensor, [*tensor.shape.as_list(), *[1] * (values.ndim - tensor.ndim)])
    return tensor
