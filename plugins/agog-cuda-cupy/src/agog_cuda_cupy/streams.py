"""Streams: each GPU's compute stream, the stream for prefetched elements of datasets, and clocks.

The compute stream is CUDA's default one. So work that a program gives to CuPy itself, outside of any stream of its own,
keeps its order with agog's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from agog_cuda_cupy.precision import rounding

Kernel = Callable[..., Any]

# Host memory that copies to a GPU may be reading still, each with the event after its copy.
_read: deque[tuple[Any, Any]] = deque()
# Held while that is looked through.
_lock = Lock()


@contextmanager
def on(index: int) -> Iterator[Any]:
    """Set a GPU and its compute stream for this thread inside."""
    import cupy

    with cupy.cuda.Device(index), cupy.cuda.Stream.null as compute:
        yield compute


def bind(kernel: Kernel, op: str, dtype: str, index: int) -> Kernel:
    """The kernel, on its GPU and on the compute stream, whatever the thread has set."""
    import cupy

    device, compute = cupy.cuda.Device, cupy.cuda.Stream.null
    set_device, set_stream = cupy.cuda.runtime.getDevice, cupy.cuda.get_current_stream
    launch, default = rounding(kernel, op, dtype), compute.ptr

    def run(*arrays: Any, **attributes: Any) -> Any:
        if set_device() == index and set_stream().ptr == default:  # to ask takes a fraction of what setting them takes
            return launch(*arrays, **attributes)
        with device(index), compute:  # a Device of its own at each call: its stack is no thread's
            return launch(*arrays, **attributes)

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
    return run


def prefetch(host: np.ndarray[Any, Any], index: int) -> Any:
    """An array whose values are copied while the GPU computes.

    Its memory comes from the compute stream, which may have used it until now: so the copy waits for that work. Later
    work on the compute stream waits for the copy, and the host for nothing.
    """
    import cupy

    with on(index) as compute:
        copying = _copying(index)
        array = cupy.empty(host.shape, host.dtype)
        copying.wait_event(compute.record())
        array.set(host, stream=copying)
        done = copying.record()
        compute.wait_event(done)
    _keep(host, done)
    return array


@cache
def _copying(index: int) -> Any:
    """The stream of a GPU for copies ahead; the default stream does not wait for it unless it is told to."""
    import cupy

    with cupy.cuda.Device(index):
        return cupy.cuda.Stream(non_blocking=True)


def _keep(host: np.ndarray[Any, Any], done: Any) -> None:
    """Keep host memory until an event has come, and let go of what no copy reads any more."""
    with _lock:
        _read.append((done, host))
        while _read[0][0].done:
            _read.popleft()
            if not _read:
                break


def timer(index: int) -> Callable[[], float]:
    """A clock on the compute stream."""
    import cupy

    with on(index) as compute:
        start = compute.record(cupy.cuda.Event())

    def stop() -> float:
        with on(index) as compute:
            end = compute.record(cupy.cuda.Event())
            end.synchronize()
            milliseconds: float = cupy.cuda.get_elapsed_time(start, end)
        return milliseconds / 1000

    return stop
