"""Clock: the time of day."""

from __future__ import annotations

import time

from agog_core.dtypes import float64
from agog_core.tensors import Tensor, constant

__all__ = ["timestamp"]


def timestamp(name: str | None = None) -> Tensor:
    """The time.

    Returns:
        Seconds since the beginning of 1970 in UTC, a scalar float64.

    >>> timestamp().dtype
    tf.float64
    """
    return constant(time.time(), float64)
