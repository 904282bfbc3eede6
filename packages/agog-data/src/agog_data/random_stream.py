"""Random streams: the random bits of pipeline stages, a pure function of seed, iteration, epoch and position.

Stages draw raw 64-bit words of Philox4x64-10 on the host, keyed like the random ops by (graph seed, op seed): the same
on every backend, with any number of threads, and in every release of NumPy. Ops count in the first of Philox's four
counter words and leave the others zero; a stage's last word is not zero, so the two never share bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agog_core import random

Array = np.ndarray[Any, Any]
_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15  # 2**64 / the golden ratio, odd: its multiples run through all 64-bit numbers


class Stream:
    """The random stream of one stage of a dataset. Two stages with one seed have the same stream, as in TensorFlow; a
    stage without a seed has a stream that no other has."""

    def __init__(self, seed: int | None) -> None:
        *self.key, number = random.generator().reserve(seed, 4 if seed is None else 0)
        self.number = 1 + (number if seed is None else 0)
        self.iterations = 0
        self._seeded = seed is not None

    def iterate(self) -> StreamIteration:
        """Begin one iteration over the dataset; each has other bits.

        Those in a user's function, or over a dataset it returned, are not counted. Their bits, unless the stream has a
        seed, depend only on the element that the function was called with; so their time, thread and process do not
        matter.
        """
        generator = random.generator()
        if isinstance(generator, ElementGenerator):
            stream = self
            if not self._seeded:
                stream = Stream(0)
                stream.key = [generator.word, 0]
            return StreamIteration(stream, generator.next_iteration(), counted=False)
        self.iterations += 1
        return StreamIteration(self, self.iterations - 1)


class StreamIteration:
    """The bits that one iterator takes from a stage's stream.

    ``iteration`` says how many iterators were made before, or is a word of the element that this one is made for;
    ``counted``, whether the iterators that follow in another process have to know of it.
    """

    def __init__(self, stream: Stream, iteration: int, counted: bool = True) -> None:
        self._stream = stream
        self._iteration = iteration
        self._counted = counted

    def words(self, epoch: int) -> np.random.Philox:
        """A source of 64-bit words, at the beginning of those of one epoch."""
        return _philox(self._stream, epoch, self._iteration)

    def state_dict(self) -> dict[str, Any]:
        """The state that repeats the bits in another process."""
        stream = self._stream
        return {"key": list(stream.key), "number": stream.number, "iteration": self._iteration}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over an iteration; the iterators that follow it continue as they would have continued there."""
        self._stream.key = list(state["key"])
        self._stream.number = state["number"]
        if self._counted:
            self._stream.iterations = state["iteration"] + 1
        self._iteration = state["iteration"]


def _philox(stream: Stream, epoch: int, iteration: int) -> np.random.Philox:
    key = np.array(stream.key, np.uint64)
    return np.random.Philox(key=key, counter=np.array([0, epoch & _MASK, iteration, stream.number & _MASK], np.uint64))


class Order:
    """Where a shuffle takes its random words from; ``iteration`` is None for an order that is the same in each
    epoch."""

    def __init__(self, stream: Stream, iteration: StreamIteration | None) -> None:
        self._stream = stream
        self._iteration = iteration

    def words(self, epoch: int) -> np.random.Philox:
        """The words of an epoch."""
        return _philox(self._stream, 0, 0) if self._iteration is None else self._iteration.words(epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state that repeats the order in another process."""
        return (self._iteration or StreamIteration(self._stream, 0)).state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over an order."""
        (self._iteration or StreamIteration(self._stream, 0)).load_state_dict(state)


class Draws:
    """The words of a stage in one iterator, drawn one by one, and how many they were."""

    _BLOCK = 256

    def __init__(self, stream: Stream) -> None:
        self._iteration = stream.iterate()
        self.start(0)

    def start(self, epoch: int) -> None:
        """Begin with the words of an epoch."""
        self._epoch = epoch
        self._go_to(0)

    def _go_to(self, drawn: int) -> None:
        self._drawn = drawn
        self._source = self._iteration.words(self._epoch)
        self._source.advance(drawn // 4)
        self._source.random_raw(drawn % 4)
        self._ready: list[int] = []  # the first one last

    def word(self) -> int:
        """The next word, in [0, 2**64)."""
        if not self._ready:
            self._ready = self._source.random_raw(self._BLOCK)[::-1].tolist()
        self._drawn += 1
        return self._ready.pop()

    def uniform(self) -> float:
        """The next word as a fraction in [0, 1)."""
        return (self.word() >> 11) * 2.0**-53

    def state_dict(self) -> dict[str, Any]:
        """Which word is the next."""
        return {"epoch": self._epoch, "drawn": self._drawn, "random": self._iteration.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a position."""
        self._iteration.load_state_dict(state["random"])
        self._epoch = state["epoch"]
        self._go_to(state["drawn"])


def places(words: Array, size: int) -> Array:
    """Places in [0, size), int64, in a buffer of less than 2**32: one for each random word, uint64 of shape (n,)."""
    return ((words >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(np.int64)


def permutation(size: int, words: np.random.Philox) -> Array:
    """A random permutation of [0, size), int64: the order of as many random words."""
    bits = np.uint64(max(size - 1, 0).bit_length())
    keys = words.random_raw(size) >> bits << bits
    keys |= np.arange(size, dtype=np.uint64)  # sorting keys that hold their index is faster than argsort
    keys.sort()
    return (keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)


class ElementGenerator(random.Generator):
    """The random state of a function for one element: the same whichever thread computes the element, and when."""

    # No checkpoint follows its attributes, which are set for each element.
    __setattr__ = object.__setattr__  # type: ignore[assignment]
    _for_initial_values = None

    def __init__(self) -> None:
        self._base = self._element = self._iterations = 0
        self._counters = {}

    @property
    def word(self) -> int:
        """A word that belongs to the element."""
        return (self._base + self._element * _GOLDEN) & _MASK

    @property
    def seed(self) -> int:  # type: ignore[override]  # computed when it is asked for: few functions are random
        """The seed for the element."""
        return self.word

    def use(self, base: int, element: int) -> None:
        """Let the random ops of this context take their bits from here, for one element, by its number and by a word
        that belongs to the stage and the epoch."""
        self._base = base
        self._element = element
        self._iterations = 0
        if self._counters:
            self._counters = {}
        if random.generator() is not self:
            random.set_generator(self)

    def next_iteration(self) -> int:
        """Begin an iteration over a dataset, for the element: a word that no other iteration has."""
        self._iterations += 1
        return (self.word + self._iterations) & _MASK
