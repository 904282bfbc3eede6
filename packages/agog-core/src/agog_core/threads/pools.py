"""Pools: the pools of threads of libraries and plugins, and which one of them computes with several threads.

The threads of a pool spin for a while after their work, in wait for more. Two pools that take turns, such as those of
OpenBLAS and OpenMP, so take each other's processors: steps take up to twice as long as with one pool.
"""

from __future__ import annotations

from collections.abc import Callable

from agog_core.named_tuple import Named
from agog_core.threads.number import count, listen, lock
from agog_core.threads.watch import watch_processors

__all__ = ["owner", "register", "unregister"]


class _Pool(Named):
    """A pool: how its number of threads is set and read, and the number that it had when it was last set."""

    name: str
    set: Callable[[int], object]
    get: Callable[[], int] | None
    priority: int
    spins: bool
    last: list[int]

    def take(self, threads: int) -> None:
        """Compute with so many threads, unless the program has set a number past agog."""
        if self.get is None:
            self.set(threads)
            return
        now = self.get()
        if self.last and now != self.last[0]:
            return
        if now != threads:
            self.set(threads)
        self.last[:] = [self.get()]


# The pools by their names: `register` brings one, `unregister` takes it away.
_pools: dict[str, _Pool] = {}


def register(
    name: str,
    set: Callable[[int], object],
    *,
    get: Callable[[], int] | None = None,
    priority: int = 100,
    spins: bool = True,
) -> None:
    """Let agog say how many threads a pool computes with: at once, at changes, and in processes that are forked.

    Of the pools whose threads spin, the one with the highest priority (the first of equal ones) owns the threads: it
    gets `count` of them. Each other one gets 1.

    Args:
        name: the pool's name, such as ``"OpenMP of oneDNN"``; a pool of this name is replaced.
        set: what sets its number of threads, the calling one among them.
        get: what reads it. A number that the program has set in another way then stays.
        priority: 0 for the BLAS of NumPy, 100 for a library that brings most of the work, products among it.
        spins: whether its threads keep processors busy while they wait; of those that sleep each gets `count`.

    >>> numbers = []
    >>> register("mine", numbers.append)
    >>> owner(), numbers == [count()]
    ('mine', True)
    >>> unregister("mine")
    """
    with lock:
        _pools[name] = _Pool(name, set, get, priority, spins, [])
        _share(count())
        if spins:
            watch_processors()


def unregister(name: str) -> None:
    """Forget a pool, such as that of a plugin that leaves; another one may own the threads from now on.

    Args:
        name: the pool's name; one that is not registered is passed over.
    """
    with lock:
        if _pools.pop(name, None) is not None:
            _share(count())


def owner() -> str | None:
    """Who owns the threads.

    Returns:
        The name of the pool of spinning threads that computes with several; None where no such pool is registered.
    """
    with lock:
        spinning = [pool for pool in _pools.values() if pool.spins]
        return max(spinning, key=lambda pool: pool.priority).name if spinning else None


def _share(threads: int) -> None:
    first = owner()
    for pool in tuple(_pools.values()):
        pool.take(threads if pool.name == first or not pool.spins else 1)


listen(_share)
