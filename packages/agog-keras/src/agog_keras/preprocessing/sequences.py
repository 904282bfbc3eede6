"""Sequences: lists of different lengths as one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_layers.arguments.checks import choice

__all__ = ["pad_sequences"]


def pad_sequences(
    sequences: Sequence[Any],
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray[Any, Any]:
    """Make one array of sequences: shorter ones are filled up, longer ones are cut.

    Args:
        sequences: lists of numbers, or of vectors of one size.
        maxlen: the length of all; None for that of the longest.
        dtype: the dtype of the array.
        padding: ``"pre"`` to fill up at the front, ``"post"`` at the end.
        truncating: ``"pre"`` to cut off the front, ``"post"`` the end.
        value: what they are filled up with.

    Returns:
        An array of shape (sequences, maxlen, ...).

    Raises:
        ValueError: an argument is unknown, or vectors have different sizes.

    >>> pad_sequences([[1], [2, 3, 4]], maxlen=2).tolist()
    [[0, 1], [3, 4]]
    """
    padding = choice("pad_sequences", "padding", padding, ("pre", "post"))
    truncating = choice("pad_sequences", "truncating", truncating, ("pre", "post"))
    rows = [np.asarray(each) for each in sequences]
    length = max(map(len, rows), default=0) if maxlen is None else maxlen
    sizes = {row.shape[1:] for row in rows if len(row)} or {()}
    if len(sizes) > 1:
        raise ValueError(f"pad_sequences: all sequences must hold numbers or vectors of one size; got {sorted(sizes)}.")
    padded = np.full((len(rows), length, *sizes.pop()), value, dtype)
    for row, target in zip(rows, padded, strict=True):
        kept = row[len(row) - min(length, len(row)) :] if truncating == "pre" else row[:length]
        if len(kept):
            target[slice(length - len(kept), None) if padding == "pre" else slice(len(kept))] = kept
    return padded


def _remove_long_seq(maxlen: int, seq: Sequence[Any], label: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Leave out sequences of ``maxlen`` elements or more, and their labels; programs import it under this name.

    >>> _remove_long_seq(3, [[1], [2, 3, 4], [5, 6]], ["a", "b", "c"])
    ([[1], [5, 6]], ['a', 'c'])
    """
    kept = [(each, its) for each, its in zip(seq, label, strict=True) if len(each) < maxlen]
    return [each for each, _ in kept], [its for _, its in kept]
