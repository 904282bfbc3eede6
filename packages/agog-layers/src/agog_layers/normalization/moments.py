"""Moments: the mean and variance of the examples of all processes that train together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agog_core import Tensor, concat, constant, reduce_sum, reshape, square
from agog_core.replicas import Replicas, is_idle


def moments_of_all(x: Tensor, axes: Sequence[int], replicas: Replicas) -> tuple[Tensor, Tensor, Tensor]:
    """The mean and variance over axes, which stay with size 1, and of how many values they are, over the processes.

    Each counts by its number of examples, which may be 0. Gradients go through the sums, to all processes.
    """
    weight = 0.0 if is_idle.get() else 1.0
    sums = reduce_sum(x, axes, keepdims=True) * weight
    own = constant([weight * math.prod([x._shape[axis] for axis in axes])], x.dtype)
    whole = replicas.all_reduce(concat([reshape(sums, [-1]), own], 0))
    count = whole[-1]
    mean = reshape(whole[:-1], sums.shape) / count
    variance = replicas.all_reduce(reduce_sum(square(x - mean), axes, keepdims=True) * weight) / count
    return mean, variance, count
