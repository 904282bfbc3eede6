"""Skip-grams: examples for embeddings of words, as ``tf.keras.preprocessing.sequence``."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["make_sampling_table", "skipgrams"]

# Euler's constant, for the approximate sum of 1 / n.
_GAMMA = 0.577


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> np.ndarray[Any, Any]:
    """The probability with which each word of a vocabulary is kept, by its rank, if words are as frequent as Zipf says.

    T. Mikolov et al., "Distributed representations of words and phrases and their compositionality", NIPS 2013.

    Args:
        size: how many words there are.
        sampling_factor: how much more often rare words are kept.

    Returns:
        An array of shape (size,): ``min(1, sqrt(factor / frequency))``, roughly.

    >>> table = make_sampling_table(1000)
    >>> bool(table[1] < table[999])
    True
    """
    rank = np.arange(size)
    rank[:1] = 1
    inverse = rank * (np.log(rank) + _GAMMA) + 0.5 - 1.0 / (12.0 * rank)  # about 1 / frequency
    share = sampling_factor * inverse
    return np.minimum(1.0, share / np.sqrt(share))


def skipgrams(
    sequence: Sequence[int],
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Pairs of words that are near one another, and pairs at random.

    Args:
        sequence: words by their numbers; 0 stands for none.
        vocabulary_size: what the numbers are less than.
        window_size: how far the words of a pair are from one another at most.
        negative_samples: how many pairs at random there are for each that is near.
        shuffle: whether the pairs are shuffled.
        categorical: whether labels are ``[0, 1]`` and ``[1, 0]`` in place of 1 and 0.
        sampling_table: the probability with which each word is kept; see `make_sampling_table`. None for 1.
        seed: what seeds the order; the numbers come from Python's `random`. None for no seed.

    Returns:
        The pairs, and the labels: 1 for near ones.

    >>> pairs, labels = skipgrams([1, 2], 3, negative_samples=0.0, shuffle=False)
    >>> pairs, labels
    ([[1, 2], [2, 1]], [1, 1])
    """
    pairs: list[list[int]] = []
    for place, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        around = range(max(0, place - window_size), min(len(sequence), place + window_size + 1))
        pairs += [[word, sequence[other]] for other in around if other != place and sequence[other]]
    near = len(pairs)
    first = [pair[0] for pair in pairs]
    random.shuffle(first)
    for number in range(int(near * negative_samples)):
        pairs.append([first[number % near], random.randint(1, vocabulary_size - 1)])
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    labels: list[Any] = [yes] * near + [no] * (len(pairs) - near)
    if shuffle:
        order = list(range(len(pairs)))
        random.Random(random.randint(0, 10**6) if seed is None else seed).shuffle(order)
        pairs, labels = [pairs[each] for each in order], [labels[each] for each in order]
    return pairs, labels
