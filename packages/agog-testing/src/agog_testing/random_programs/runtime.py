"""Runtime: what random programs import: data drawn from a number, and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import cache
from typing import Any

import numpy as np

import agog_core as ag

_EDGES = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-40, 1e30, -88.0, 0.5)

_MANY = 1 << 13


@cache
def _values() -> Any:
    return np.random.RandomState(0).standard_normal(1 << 18)


def data(number: int, shape: Sequence[int], dtype: str = "float32", scale: float = 1.0, edges: bool = False) -> Any:
    """A tensor of random values, the same for a number, whatever else is drawn."""
    random = np.random.RandomState(number)
    count = int(np.prod(shape))
    if count > _MANY:  # to draw them takes longer than to compute with them
        start = random.randint(0, _MANY)
        values = np.resize(_values()[start:], count).reshape(tuple(shape)) * scale
    else:
        values = random.standard_normal(tuple(shape)) * scale
    if edges and values.size:
        flat = values.reshape(-1)
        places = random.randint(0, flat.size, 1 + flat.size // 7)
        flat[places] = random.choice(_EDGES, len(places))
    if dtype == "bool":
        return ag.constant(values > 0)
    if dtype.startswith("int"):
        return ag.constant(np.asarray(np.rint(np.nan_to_num(values) * 3).clip(-99, 99), dtype))
    with np.errstate(all="ignore"):
        return ag.constant(np.array(values, dtype))


def indices(number: int, count: int, limit: int, outside: bool = False) -> Any:
    """A tensor of places below a limit; of which the last may be outside."""
    found = np.random.RandomState(number).randint(0, max(limit, 1), count).astype("int32")
    if outside and count:
        found[-1] = limit + 3
    return ag.constant(found)


def symmetric(x: Any) -> Any:
    """A matrix with the dtype of a tensor, positive definite where the tensor's first values are small."""
    corner = ag.reshape(x, [-1])[:4]
    corner = ag.tanh(ag.pad(corner, [[0, 4 - min(4, x.shape.num_elements())]]))
    half = ag.reshape(corner, [2, 2])
    return ag.matmul(half, half, transpose_b=True) + ag.diag(ag.ones([2], x.dtype)) * (0.3 - corner[0])


def in_threads(*works: Callable[[], Any]) -> list[Any]:
    """The results of functions, run in threads that start together; an error in one is raised.

    The threads draw from the program's generator, so that their weights are the same in every run.
    """
    start, found = threading.Barrier(len(works)), [None] * len(works)
    errors: list[Exception] = []

    def begin(place: int) -> None:
        start.wait()
        try:
            found[place] = works[place]()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=copy_context().run, args=(begin, place)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=str)
    return found
