"""Seeds: one seed for all random numbers of a program."""

from __future__ import annotations

import random

import numpy as np

from agog_core import set_random_seed as set_graph_seed

__all__ = ["set_random_seed"]


def set_random_seed(seed: int) -> None:
    """Let the random numbers of Python, NumPy and agog begin anew.

    Args:
        seed: an integer from 0 to 2**32 - 1.

    >>> set_random_seed(7)
    """
    random.seed(seed)
    np.random.seed(seed)
    set_graph_seed(seed)
