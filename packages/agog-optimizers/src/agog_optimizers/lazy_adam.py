"""LazyAdamOptimizer: Adam for lookups, on the rows looked up alone."""

from __future__ import annotations

from agog_optimizers.adam import AdamOptimizer

__all__ = ["LazyAdamOptimizer"]


class LazyAdamOptimizer(AdamOptimizer, touches_rows_only=True):
    """Adam that changes only the rows looked up: faster than `AdamOptimizer`, and not the same.

    For gradients of other ops it is `AdamOptimizer`.

    Arguments: see `AdamOptimizer`.

    >>> from agog_core import Variable
    >>> v = Variable([[5.0], [5.0]])
    >>> optimizer = LazyAdamOptimizer(0.5)
    >>> optimizer.minimize(lambda: v[0])
    >>> v.numpy().tolist()
    [[4.5], [5.0]]
    """
