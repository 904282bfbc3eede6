"""Leaks: decorators of tests that fail when a test leaves objects behind."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from typing import Any

from agog_core import Tensor, TensorShape, Variable
from agog_core.dispatch.devices.lookup import tables

__all__ = ["assert_no_garbage_created", "assert_no_new_pyobjects_executing_eagerly", "assert_no_new_tensors"]


def assert_no_new_tensors(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a test fail when tensors, variables or shapes that it has made are there after it.

    Args:
        f: the test method.

    Returns:
        The decorated method.

    >>> assert_no_new_tensors(lambda self: None)(None)
    """

    @wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
        before = {id(found) for found in _tensors()}
        f(self, *args, **kwargs)
        for table in tables():
            table.scalars.clear()  # tensors of Python numbers that operators share
        gc.collect()
        after = [found for found in _tensors() if id(found) not in before]
        if after:
            raise AssertionError(f"{len(after)} Tensors not deallocated after test: {after}")

    return decorated


def assert_no_garbage_created(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a test fail when it leaves objects in reference cycles, which only the garbage collector frees.

    Args:
        f: the test method.

    Returns:
        The decorated method.

    >>> assert_no_garbage_created(lambda self: None)(None)
    """

    @wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
        gc.collect()
        flags, before = gc.get_debug(), len(gc.garbage)
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            f(self, *args, **kwargs)
            gc.collect()
            types = sorted({type(found).__name__ for found in gc.garbage[before:]})
            count = len(gc.garbage) - before
        finally:
            gc.set_debug(flags)
            del gc.garbage[before:]
            gc.enable()
        if count:
            raise AssertionError(f"The test leaves {count} objects in reference cycles, of types {', '.join(types)}.")

    return decorated


def assert_no_new_pyobjects_executing_eagerly(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a test fail when each run leaves more objects behind; it runs five times, two of them to fill caches.

    Where there are more objects, it runs three times more, twice at most: other threads make objects too, a leak does
    each time.

    Args:
        f: the test method.

    Returns:
        The decorated method.

    >>> assert_no_new_pyobjects_executing_eagerly(lambda self: None)(None)
    """

    @wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
        def count_after(runs: int) -> int:
            for _ in range(runs):
                f(self, *args, **kwargs)
            gc.collect()
            return len(gc.get_objects())

        gc.disable()
        try:
            counts = [count_after(2)]
            while len(counts) < 4:
                counts.append(count_after(3))
                if counts[-1] <= counts[-2]:
                    return
        finally:
            gc.enable()
        more = min(after - before for before, after in pairwise(counts))
        raise AssertionError(f"There are {more} more objects after three further runs of the test.")

    return decorated


def _tensors() -> list[Any]:
    return [found for found in gc.get_objects() if isinstance(found, (Tensor, Variable, TensorShape))]
