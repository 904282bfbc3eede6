"""Prices of houses: examples in rows of numbers, with one number each to predict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agog_core import errors
from agog_data.datasets.npz import Array, read_npz

Split = tuple[Array, Array]


def read_prices(function: str, file: Path, most: int) -> Split:
    """The arrays ``x`` and ``y`` of a file. Raises DataLossError if they do not fit each other."""
    x, y = read_npz(file, ("x", "y"), most)
    if x.ndim != 2 or y.shape != (len(x),) or x.dtype.kind not in "fiu" or y.dtype.kind not in "fiu":
        raise errors.DataLossError(
            f"{function}: {file}: numbers x of shape (n, features) and y of shape (n,) are expected; they are "
            f"{x.dtype.name} of shape {x.shape} and {y.dtype.name} of shape {y.shape}."
        )
    return x, y


def divided(x: Array, y: Array, test_split: float, seed: Any) -> tuple[Split, Split]:
    """Examples in Keras's order for a seed, the last of them for the test."""
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    count = int(len(x) * (1 - test_split))
    return (x[:count], y[:count]), (x[count:], y[count:])


def check_split(function: str, test_split: float) -> None:
    """Raise a ValueError if it is no part of the examples."""
    if not 0 <= test_split < 1:
        raise ValueError(f"{function}: test_split must be at least 0 and less than 1; got {test_split!r}.")
