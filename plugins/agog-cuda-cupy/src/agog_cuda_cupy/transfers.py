"""Transfers: how arrays come to a GPU, leave it, and go from one to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_cuda_cupy.streams import on


def from_host(host: np.ndarray[Any, Any], index: int) -> Any:
    """A copy on a GPU. CuPy puts the values into pinned memory of its own first, and the copy is made from there.

    What is pinned already it would copy later from where it is, and its owner may write it meanwhile.
    """
    import cupy

    with on(index):
        is_pinned = cupy.cuda.pinned_memory.is_memory_pinned(host.ctypes.data)
        return cupy.array(host.copy() if is_pinned else host, order="C")


def to_host(array: Any) -> np.ndarray[Any, Any]:
    """A copy on the host, once all earlier work is done."""
    with on(array.device.id):
        host: np.ndarray[Any, Any] = array.get()
    return host


def copy(array: Any) -> Any:
    """A C-contiguous copy on the same GPU."""
    with on(array.device.id):
        return array.copy(order="C")


def copy_from(array: Any, source_index: int, index: int) -> Any:
    """A copy on another GPU, over the link between the two where they have one.

    The target's compute stream makes it, after what the source's has to do until now; and the source waits for it,
    because it may use the memory again as soon as Python has let go of the array.
    """
    import cupy

    with on(source_index) as giving:
        contiguous = array if array.flags.c_contiguous else array.copy(order="C")
        written = giving.record()
    with on(index) as taking:
        copied = cupy.empty(contiguous.shape, contiguous.dtype)
        taking.wait_event(written)
        copied.data.copy_from_device_async(contiguous.data, contiguous.nbytes, taking)
        read = taking.record()
    with on(source_index) as giving:
        giving.wait_event(read)
    return copied


def base(array: Any) -> Any:
    """The array that owns the memory of a view."""
    return array if array.base is None else array.base


def to_dlpack(array: Any, stream: Any, max_version: tuple[int, int] | None, shared: bool) -> Any:
    """CuPy's capsule of a copy; the consumer's stream waits for it."""
    if shared:
        raise BufferError("CuPy cannot mark memory as read-only; allow a copy")
    with on(array.device.id):
        return array.copy(order="C").__dlpack__(stream=stream, max_version=max_version)


def from_dlpack(external: Any) -> Any:
    """A copy of another library's array, on the GPU where that is."""
    import cupy

    _, index = external.__dlpack_device__()
    with on(int(index)):
        return cupy.array(cupy.from_dlpack(external), order="C")
