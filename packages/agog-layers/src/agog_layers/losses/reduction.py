"""Reduction: from the losses of a batch to one number."""

from __future__ import annotations

import agog_core as ag
from agog_core import Tensor
from agog_layers.losses.arguments import floats, given
from agog_layers.losses.sample_weights import repeats

__all__ = ["Reduction", "compute_weighted_loss"]


class Reduction:
    """The reduction of a batch's losses to one number.

    ``NONE`` leaves them as they are; ``SUM`` adds them up; ``MEAN`` divides the sum by that of the weights,
    ``SUM_OVER_BATCH_SIZE`` by the number of losses, and ``SUM_BY_NONZERO_WEIGHTS`` by the number of nonzero weights. A
    division by 0 gives 0.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """List the reductions.

        Returns:
            The names that losses take.
        """
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def validate(cls, key: str) -> None:
        """Check the name of a reduction.

        Args:
            key: the name.

        Raises:
            ValueError: it is none.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key!r}; use one of {', '.join(cls.all())}.")


DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS
COLLECTION = "losses"
_MEANS = (Reduction.MEAN, Reduction.SUM_OVER_BATCH_SIZE, Reduction.SUM_BY_NONZERO_WEIGHTS)


def compute_weighted_loss(
    losses: ag.TensorLike,
    weights: ag.TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = COLLECTION,
    reduction: str = DEFAULT,
) -> Tensor:
    """Weigh losses and reduce them to one number.

    Args:
        losses: a tensor of shape (batch, ...).
        weights: a scalar, or a tensor of the losses' rank whose sizes are theirs or 1.
        reduction: one of `Reduction`.

    Returns:
        A scalar of the losses' dtype; for ``Reduction.NONE`` a tensor of their shape.

    Raises:
        ValueError: the weights' shape does not fit, or the reduction is unknown.

    >>> print(compute_weighted_loss([1.0, 2.0, 6.0], weights=[1.0, 1.0, 0.0]))
    tf.Tensor(1.5, shape=(), dtype=float32)
    """
    return reduce_losses("compute_weighted_loss", ag.convert_to_tensor(losses), weights, reduction)


def reduce_losses(what: str, losses: Tensor, weights: ag.TensorLike, reduction: str) -> Tensor:
    """Weigh losses and reduce them, in the name of a loss. See `compute_weighted_loss`.

    >>> import agog_core as ag
    >>> print(reduce_losses("mine", ag.constant([1.0, 2.0]), 1.0, Reduction.SUM))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    Reduction.validate(reduction)
    values = floats(losses)
    count = values.shape.num_elements() or 0
    if type(weights) in (int, float) and weights == 1:  # the common case in one op
        if reduction in _MEANS:
            return ag.cast(ag.reduce_mean(values) if count else ag.zeros((), values.dtype), losses.dtype)
        return losses if reduction == Reduction.NONE else ag.reduce_sum(losses)
    factors = ag.cast(given(what, "weights", weights), values.dtype)
    each = repeats(what, factors, values)
    weighted = values * factors
    if reduction == Reduction.NONE:
        return ag.cast(weighted, losses.dtype)
    total = ag.reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        total = safe_ratio(total, ag.reduce_sum(factors) * each)
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        total = total / count if count else ag.zeros((), values.dtype)
    elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        total = safe_ratio(total, ag.reduce_sum(ag.cast(ag.not_equal(factors, 0.0), values.dtype)) * each)
    return ag.cast(total, losses.dtype)


def safe_ratio(total: Tensor, divisor: Tensor) -> Tensor:
    """Divide floats; where the divisor is 0, the ratio is 0, and its gradient finite.

    >>> import agog_core as ag
    >>> print(safe_ratio(ag.constant([1.0, 3.0]), ag.constant([0.0, 2.0])))
    tf.Tensor([0.  1.5], shape=(2,), dtype=float32)
    """
    none = ag.equal(divisor, 0.0)
    return ag.where(none, ag.zeros_like(total), total / ag.where(none, ag.ones_like(divisor), divisor))
