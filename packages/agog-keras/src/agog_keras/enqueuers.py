"""Enqueuers: batches of a sequence or a generator, made ahead by threads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice, repeat
from typing import Any

import numpy as np

from agog_training.sequence import Sequence

__all__ = ["GeneratorEnqueuer", "OrderedEnqueuer", "SequenceEnqueuer"]

_END = object()


class SequenceEnqueuer:
    """Base of what makes batches ahead; subclasses say which. Threads make them, also where processes are asked for."""

    _executor: Any = None

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begin.

        Args:
            workers: how many threads make batches.
            max_queue_size: how many batches are made ahead.
        """
        from concurrent.futures import ThreadPoolExecutor  # here, because few programs need it

        self._ahead = max_queue_size
        self._executor = ThreadPoolExecutor(max(1, workers))

    def is_running(self) -> bool:
        """Whether it makes batches.

        Returns:
            True from `start` to `stop`.
        """
        return self._executor is not None

    def stop(self, timeout: float | None = None) -> None:
        """End: batches that are being made are waited for, and nothing else is made.

        Args:
            timeout: not used.
        """
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(cancel_futures=True)

    def get(self) -> Iterator[Any]:
        """The batches, in their order, until `stop` is called or there are no more.

        Returns:
            An iterator. What making a batch raises is raised in its place.
        """
        for tasks in self._rounds():
            if self._executor is None:
                return
            waiting = deque(self._executor.submit(task) for task in islice(tasks, self._ahead))
            while waiting:
                batch = waiting.popleft().result()
                if batch is _END or self._executor is None:
                    return
                waiting.extend(self._executor.submit(task) for task in islice(tasks, 1))
                yield batch

    def _rounds(self) -> Iterable[Iterator[Callable[[], Any]]]:
        """The source of the batches of each epoch."""
        raise NotImplementedError(f"{type(self).__name__}._rounds is not implemented; it says how batches are made.")


class OrderedEnqueuer(SequenceEnqueuer):
    """The batches of a `Sequence`, epoch after epoch; ``on_epoch_end`` is called between them.

    Args:
        sequence: the sequence.
        use_multiprocessing: not used.
        shuffle: whether each epoch has its own order, from NumPy's random numbers.

    >>> class Squares(Sequence):
    ...     def __len__(self):
    ...         return 2
    ...
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> enqueuer = OrderedEnqueuer(Squares())
    >>> enqueuer.start(workers=2)
    >>> batches = enqueuer.get()
    >>> [next(batches) for _ in range(5)]
    [0, 1, 0, 1, 0]
    >>> enqueuer.stop()
    """

    def __init__(self, sequence: Sequence, use_multiprocessing: bool = False, shuffle: bool = False) -> None:
        self.sequence, self.use_multiprocessing, self.shuffle = sequence, use_multiprocessing, shuffle

    def _rounds(self) -> Iterable[Iterator[Callable[[], Any]]]:
        while True:
            order = np.arange(len(self.sequence))
            if self.shuffle:
                np.random.shuffle(order)
            yield (partial(self.sequence.__getitem__, number) for number in order.tolist())
            self.sequence.on_epoch_end()


class GeneratorEnqueuer(SequenceEnqueuer):
    """The batches of a generator, which one thread at a time asks for the next.

    Args:
        generator: the generator.
        use_multiprocessing: not used.
        wait_time: not used.
        seed: not used.

    >>> enqueuer = GeneratorEnqueuer(iter([1, 2, 3]))
    >>> enqueuer.start()
    >>> list(enqueuer.get())
    [1, 2, 3]
    >>> enqueuer.stop()
    """

    def __init__(
        self, generator: Iterator[Any], use_multiprocessing: bool = False, wait_time: float = 0.05, seed: Any = None
    ) -> None:
        self._generator, self._lock = generator, threading.Lock()

    def _rounds(self) -> Iterable[Iterator[Callable[[], Any]]]:
        yield repeat(self._next)

    def _next(self) -> Any:
        with self._lock:
            return next(self._generator, _END)
