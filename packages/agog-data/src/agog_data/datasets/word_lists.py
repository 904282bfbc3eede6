"""Word lists: texts as lists of word numbers, with Keras's marks, limits and orders."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agog_core import errors
from agog_data.arguments import integer
from agog_data.datasets.npz import Array
from agog_data.files import opened

Texts = list[list[int]]


def check_texts(function: str, file: Path, texts: Array, labels: Array) -> None:
    """Raise a DataLossError if these are no lists of integers, with an integer each for their labels."""
    if texts.ndim != 1 or not texts.dtype.hasobject or labels.shape != texts.shape or labels.dtype.kind not in "iu":
        raise errors.DataLossError(
            f"{function}: {file}: n lists and n labels, which are integers, are expected; they are {texts.dtype.name} "
            f"of shape {texts.shape} and {labels.dtype.name} of shape {labels.shape}."
        )
    for number, text in enumerate(texts):
        if type(text) is not list or not {int}.issuperset(map(type, text)):
            raise errors.DataLossError(
                f"{function}: {file}: the text {number} (the first is 0) is no list of integers."
            )


def older_name(function: str, num_words: int | None, ignored: dict[str, Any]) -> int | None:
    """The ``num_words``, by this name or by its older one."""
    if "nb_words" in ignored:
        warnings.warn(f"{function}: nb_words has been renamed to num_words.", DeprecationWarning, stacklevel=3)
        num_words = ignored.pop("nb_words")
    if ignored:
        raise TypeError(f"{function}: there is no argument {next(iter(ignored))!r}.")
    return num_words


def shuffled(random: np.random.RandomState, texts: Array, labels: Array) -> tuple[Array, Array]:
    """Texts and labels in the next order of a stream of random numbers."""
    order = np.arange(len(texts))
    random.shuffle(order)
    return texts[order], labels[order]


def marked(function: str, texts: Array, start_char: int | None, index_from: int) -> Texts:
    """Texts with a start mark and shifted numbers, so that the first numbers are for marks."""
    first = integer(function, "index_from", index_from)
    start = [] if start_char is None else [start_char]
    return [start + [word + first for word in text] for text in texts]


def shorter(function: str, maxlen: int | None, texts: Texts, labels: Array) -> tuple[Texts, Array]:
    """The texts that are shorter than ``maxlen``, as in Keras: those of that length are left out too."""
    if not maxlen:
        return texts, labels
    most = integer(function, "maxlen", maxlen)
    kept = [number for number, text in enumerate(texts) if len(text) < most]
    if not kept:
        raise ValueError(f"{function}: no text is shorter than maxlen={most}; give a larger one.")
    return [texts[number] for number in kept], labels[kept]


def limited(function: str, texts: Texts, num_words: int | None, skip_top: int, oov_char: int | None) -> Texts:
    """Texts with ``oov_char`` for all words but those from ``skip_top`` to ``num_words``, or without these words."""
    top = integer(function, "skip_top", skip_top)
    # As in Keras, the very last word counts as one too many where no number is given.
    end = (
        integer(function, "num_words", num_words)
        if num_words
        else max((max(text, default=0) for text in texts), default=0)
    )
    if oov_char is None:
        return [[word for word in text if top <= word < end] for text in texts]
    return [[word if top <= word < end else oov_char for word in text] for text in texts]


def as_array(texts: Sequence[list[int]]) -> Array:
    """An array of lists, also where all are of one length."""
    return np.fromiter(texts, object, len(texts))


def read_word_index(function: str, file: Path) -> dict[str, int]:
    """The numbers of words in a JSON file. Raises DataLossError if it is something else."""
    with opened(str(file)) as stream:
        data = stream.read()
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        problem = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise errors.DataLossError(f"{function}: {file}: it is no whole JSON file: {problem}.") from error
    if type(found) is not dict or not {int}.issuperset(map(type, found.values())):
        raise errors.DataLossError(f"{function}: {file}: an object of words and their numbers is expected.")
    return found
