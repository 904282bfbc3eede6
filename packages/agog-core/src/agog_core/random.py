"""Random: seeds and counters, which make random ops the same on every backend and in every run.

Random bits are those of Philox4x64-10 (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
keyed by (graph seed, op seed). A counter per key advances with each call, so no two calls share bits: calls with the
same op seed share one stream. Its numbers are the same in every run and on every backend, regardless of other draws.
`set_random_seed` starts all streams from the beginning. Two calls give the same numbers with the stateless ops.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from agog_core.checkpointable import Checkpointable
from agog_core.locks import hold_while_forking
from agog_core.tracers import late, present_tracer, tracing

__all__ = ["Generator", "generator", "set_generator", "set_random_seed"]

DEFAULT_GRAPH_SEED = 87654321  # TensorFlow's, for op seeds without a graph seed
_INITIAL_VALUES = 0x9E3779B97F4A7C15  # any number; it keeps spared initial values apart from all others
_MASK = 2**64 - 1
# Held while a generator advances a counter.
_lock = hold_while_forking(threading.Lock())


T = TypeVar("T")
# Takes how many 64-bit values a call needs, and returns the key's two words and the counter to start from.
Source = Callable[[int], tuple[int, int, int]]


def random_bits(key: tuple[int, int, int], count: int) -> np.ndarray[Any, Any]:
    """Random bits on the host, for kernels of libraries that do not make them: those that every device draws.

    Args:
        key: the two words of a key, and the counter to start from.
        count: how many.

    Returns:
        Values of 64 bits, as uint64.

    >>> random_bits((1, 2, 3), 2).tolist() == random_bits((1, 2, 3), 5)[:2].tolist()
    True
    """
    first, second, counter = key
    generator = np.random.Philox(
        key=np.array([first, second], np.uint64), counter=np.array([counter, 0, 0, 0], np.uint64)
    )
    return generator.random_raw(count)


class Generator(Checkpointable):
    """The random state of a program: a graph seed, and a counter for each op seed. A checkpoint can hold it.

    Args:
        seed: the graph seed; None for one that differs from run to run.
    """

    is_read_late = True
    gives_again = False  # whether another one has given its numbers before
    keys: Mapping[Any, Any] = MappingProxyType({})  # of one that does, in a trace: tensors of the keys
    _mix = 0  # what keeps it apart from others of the same seed
    _of_process: _OfProcess | None = None
    _counters_of_process: Mapping[tuple[int, int], int] = MappingProxyType({})  # that wait for it

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed
        self._entropy = int.from_bytes(os.urandom(8), "little")
        self._counters: dict[tuple[int, int], int] = {}
        self._for_initial_values: Generator | None = None

    def reserve(self, op_seed: int | None, values: int) -> tuple[int, int, int]:
        """Reserve bits for a call.

        Args:
            op_seed: the op's own seed, or None.
            values: how many 64-bit values the call takes.

        Returns:
            The two words of the key and the counter (in blocks of four values) to start from.
        """
        key = self._key(op_seed)
        with _lock:  # threads that were started with a copy of the context share the generator
            counter = self._counters.get(key, 0)
            self._counters[key] = counter + math.ceil(values / 4)
        return key[0] ^ self._mix, key[1], counter

    def put_back(self, op_seed: int | None, values: int) -> None:
        """Take back what `reserve` has handed out last, because nothing has come of it.

        Args:
            op_seed: the op's own seed, or None.
            values: how many 64-bit values the call took.
        """
        key = self._key(op_seed)
        with _lock:
            counter = self._counters.pop(key, 0) - math.ceil(values / 4)
            if counter > 0:
                self._counters[key] = counter

    def mark(self) -> dict[tuple[int, int], int]:
        """Say where the streams are, to go back there.

        Returns:
            The counters of all keys.
        """
        with _lock:
            return dict(self._counters)

    def go_back(self, mark: dict[tuple[int, int], int]) -> None:
        """Reset the streams to an earlier state, because later draws were discarded.

        Args:
            mark: what `mark` returned.
        """
        with _lock:
            self._counters = dict(mark)

    def _key(self, op_seed: int | None) -> tuple[int, int]:
        if op_seed is None:
            return (self._entropy if self.seed is None else self.seed) & _MASK, 0
        # No op seed has the key of calls without one, which is 0.
        return (DEFAULT_GRAPH_SEED if self.seed is None else self.seed) & _MASK, (int(op_seed) + 1) & _MASK or _MASK

    def of_process(self, number: int) -> Generator:
        """The generator of one of several processes that compute together.

        Its numbers differ from those of the others, and its initial values are this one's, which all processes share.
        It is a part of this one's state, so that a checkpoint of one process fits any other.

        Args:
            number: the rank of the process.

        Returns:
            A generator, always the same.

        >>> first, second = Generator(1).of_process(0), Generator(1).of_process(1)
        >>> first.reserve(None, 1) == second.reserve(None, 1)
        False
        """
        if self._of_process is None:
            self._of_process = _OfProcess(self, number, self._counters_of_process)
        return self._of_process

    def of_all(self) -> Generator:
        """The generator that the processes share, of which this one may be that of a process.

        Returns:
            A generator; by default this one.
        """
        return self

    def spare_initial_values(self, spare: bool) -> None:
        """Say whether initial values should take their bits from elsewhere, so that they do not advance this generator.

        A restored generator continues the saved run, which already had values for its variables. Those that wait to be
        restored are created once more all the same; what that draws must not count.

        Args:
            spare: whether they should.
        """
        seed = None if self.seed is None else self.seed ^ _INITIAL_VALUES
        self._for_initial_values = Generator(seed) if spare else None

    def get_state(self) -> dict[str, object]:
        """The seed and all counters.

        Returns:
            A dict that JSON can hold, for `set_state`.
        """
        counters = [[*key, counter] for key, counter in sorted(self._counters.items()) if counter]
        # With a seed no number depends on the entropy, and programs that did the same have the same state.
        entropy = self._entropy if self.seed is None else None
        state: dict[str, object] = {"seed": self.seed, "entropy": entropy, "counters": counters}
        if self._mix:
            state["mix"] = self._mix
        if self._of_process is not None:
            state["of_process"] = self._of_process.get_state()["counters"]
        elif self._counters_of_process:
            state["of_process"] = [[*key, counter] for key, counter in sorted(self._counters_of_process.items())]
        return state

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """No parts: all state is in `checkpoint_state`.

        Returns:
            An empty dict.
        """
        return {}

    def checkpoint_dependency(self, name: str) -> None:
        """No part has a name; see `checkpoint_dependencies`."""
        return None

    def checkpoint_state(self) -> dict[str, Any]:
        """The result of `get_state`, for checkpoints.

        Returns:
            The seed and all counters.
        """
        return self.get_state()

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Go back to the state that a checkpoint holds.

        Args:
            state: what `checkpoint_state` returned.
        """
        self.set_state(dict(state))

    def set_state(self, state: dict[str, object]) -> None:
        """Go back to a state, so that the same calls give the same numbers.

        Args:
            state: what `get_state` returned.
        """
        self.seed = state["seed"]  # type: ignore[assignment]  # get_state wrote it
        if state["entropy"] is not None:
            self._entropy = state["entropy"]  # type: ignore[assignment]
        self._counters = {(a, b): counter for a, b, counter in state["counters"]}  # type: ignore[attr-defined]
        self._mix = state.get("mix", 0)  # type: ignore[assignment]
        saved: Any = state.get("of_process", ())
        self._counters_of_process = {(a, b): counter for a, b, counter in saved}
        if self._of_process is not None:
            self._of_process.follow(self._counters_of_process)


class _OfProcess(Generator):
    """See `Generator.of_process`. Checkpoints hold the generator of all, with counters that fit any process."""

    def __init__(self, of_all: Generator, number: int, counters: Mapping[tuple[int, int], int]) -> None:
        super().__init__()
        self._of_all, self._for_initial_values = of_all, of_all
        self._mix = (number + 1) * _INITIAL_VALUES & _MASK
        self.follow(counters)

    def follow(self, counters: Mapping[tuple[int, int], int]) -> None:
        """Take over the seed of all, and counters that a process had."""
        self.seed, self._entropy, self._counters = self._of_all.seed, self._of_all._entropy, dict(counters)

    def of_process(self, number: int) -> Generator:
        return self

    def of_all(self) -> Generator:
        return self._of_all

    def spare_initial_values(self, spare: bool) -> None:
        self._of_all.spare_initial_values(spare)

    def checkpoint_state(self) -> dict[str, Any]:
        return self._of_all.checkpoint_state()

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        self._of_all.restore_checkpoint_state(state)


# The generator of this thread or task; `set_random_seed` makes a new one.
_generator: ContextVar[Generator] = ContextVar("agog_generator")


def generator() -> Generator:
    """The generator of this thread or task.

    Returns:
        The `Generator` that random ops take their bits from; a thread that has none gets one of its own.
    """
    try:
        return _generator.get()
    except LookupError:
        fresh = Generator()
        _generator.set(fresh)
        return fresh


def stream(op_seed: int | Source | None) -> Source:
    """The bits of an op's seed, of which each is handed out once, as a `Source`; a source is its own."""
    if callable(op_seed):
        return op_seed

    def draw(values: int) -> Any:
        if tracing and (tracer := present_tracer()) is not None:
            return tracer.draw(op_seed, values)
        return generator().reserve(op_seed, values)

    return draw


def set_generator(chosen: Generator) -> None:
    """Let the random ops of this thread or task take their bits from a generator.

    Args:
        chosen: the generator.

    >>> before, mine = generator(), Generator(seed=1)
    >>> set_generator(mine)
    >>> generator() is mine
    True
    >>> set_generator(before)
    """
    _generator.set(chosen)


@contextmanager
def initializing() -> Iterator[None]:
    """Take random numbers for initial values inside a ``with`` block: see `Generator.spare_initial_values`.

    >>> chosen = generator()
    >>> chosen.spare_initial_values(True)
    >>> with initializing():
    ...     generator() is chosen
    False
    >>> chosen.spare_initial_values(False)
    """
    chosen = generator()
    while chosen._for_initial_values is not None:
        chosen = chosen._for_initial_values
    token = _generator.set(chosen)
    try:
        if tracing and (tracer := present_tracer()) is not None:
            with tracer.eager_scope():
                yield
        else:
            yield
    finally:
        _generator.reset(token)


@contextmanager
def drawing_apart(number: int) -> Iterator[None]:
    """Draw the random numbers of one of several processes inside a ``with`` block; in a traced function at each call.

    >>> with drawing_apart(1):
    ...     generator() is generator().of_all()
    False
    """
    late(lambda: _generator.set(generator().of_process(number)))
    try:
        yield
    finally:
        late(lambda: _generator.set(generator().of_all()))


def drawn(make: Callable[[], T]) -> T:
    """Call a function that makes an initial value, inside `initializing`.

    >>> drawn(lambda: 1.0)
    1.0
    """
    with initializing():
        return make()


def set_random_seed(seed: int | None) -> None:
    """Set the graph seed and start all random streams of this thread or task from the beginning.

    Args:
        seed: the seed; None for one that differs from run to run.

    Raises:
        TypeError: the seed is not an integer.

    >>> import agog_core as ag
    >>> ag.set_random_seed(1)
    >>> first = ag.random_uniform([2]).numpy()
    >>> ag.set_random_seed(1)
    >>> bool((ag.random_uniform([2]).numpy() == first).all())
    True
    """
    if seed is not None:
        try:
            seed = seed.__index__()
        except AttributeError:
            raise TypeError(
                f"set_random_seed: the seed must be an integer or None; got {seed!r} of type {type(seed).__name__}."
            ) from None
    late(lambda: _generator.set(Generator(seed)))  # also at each call of a traced function
