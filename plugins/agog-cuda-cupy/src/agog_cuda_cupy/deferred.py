"""Deferred: checks of values, such as the range of indices, without a wait for the GPU.

The numbers that tell are copied to pinned host memory behind the kernel that needs them. They are looked at when they
are there: when the next ones are on their way, or when somebody waits anyway.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import InvalidArgumentError
from agog_cuda_cupy.streams import on

Check = Callable[..., None]


class _Waiting(NamedTuple):
    """Numbers on their way to the host, the event behind them, and who looks at them."""

    numbers: list[np.ndarray[Any, Any]]
    arrived: Any
    check: Check


# For each GPU what was not looked at yet, in the order of the program.
_waiting: defaultdict[int, deque[_Waiting]] = defaultdict(deque)
# For each GPU the first that was found wrong and not told yet.
_wrong: dict[int, str] = {}
# Held while either changes.
_lock = Lock()


def defer(values: tuple[Any, ...], check: Check) -> None:
    """Have arrays of rank 0 looked at later; called in a kernel, so that GPU and compute stream are set."""
    import cupy
    import cupyx

    compute = cupy.cuda.Stream.null
    numbers = [cupyx.empty_pinned((), value.dtype) for value in values]
    for value, number in zip(values, numbers, strict=True):
        # Not by `get`, which CuPy counts as a wait also where it does not block.
        value.data.copy_to_host_async(number.ctypes.data, number.nbytes, compute)
    arrived = compute.record()
    index = values[0].device.id
    with _lock:
        _look(index)
        _waiting[index].append(_Waiting(numbers, arrived, check))


def pending_error(index: int) -> str | None:
    """The first thing that was found wrong since somebody asked last; it waits for all that is under way.

    What a fault of an earlier kernel makes CUDA raise comes from here too, right behind that kernel where agog asks
    after each op.
    """
    with on(index) as compute:
        compute.synchronize()
        with _lock:  # what other threads have deferred since is on its way still, and copies write to its memory
            _look(index)
            return _wrong.pop(index, None)


def _look(index: int) -> None:
    """Look at the numbers that are there. After something is wrong, later numbers may be wrong because of it."""
    waiting = _waiting[index]
    while waiting and waiting[0].arrived.done:
        numbers, _, check = waiting.popleft()
        try:
            check(*[number[()] for number in numbers])
        except InvalidArgumentError as error:
            _wrong.setdefault(index, str(error))
