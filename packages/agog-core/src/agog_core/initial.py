"""Initial values of variables that functions make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def drawn(make: Callable[[], T]) -> T:
    """Make an initial value, with random numbers for initial values; see `agog_core.random.initializing`.

    Args:
        make: makes the value.

    Returns:
        The value.

    >>> drawn(lambda: 1.0)
    1.0
    """
    from agog_core.random import initializing  # here, because the random state is saved as variables are

    with initializing():
        return make()
