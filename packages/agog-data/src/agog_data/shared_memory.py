"""Shared memory of two processes, and elements in it."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_core import Tensor, as_dtype, string
from agog_core.dispatch.devices.device import Device
from agog_core.tensors.convert import from_host
from agog_data.elements import Element, components, map_components, packer

Array = np.ndarray[Any, Any]
_ALIGNMENT = 64
_LENGTHS = np.dtype(np.int64)


class Memory:
    """A file in memory without a name: it disappears with its last process, even after a crash.

    Made before a process is forked, it belongs to both. It grows as needed; they must take turns.
    """

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            self._file = os.memfd_create("agog-data")
        else:  # macOS: a file on disk, which mostly stays in the cache
            with tempfile.TemporaryFile() as file:
                self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)
        self._map: mmap.mmap | None = None

    def bytes(self, size: int) -> Array:
        """The first bytes, at least ``size`` of them, uint8; the memory grows where there were fewer."""
        if not size:
            return np.empty(0, np.uint8)
        if self._map is None or len(self._map) < size:
            if os.fstat(self._file).st_size < size:
                os.ftruncate(self._file, (size * 5 // 4 // mmap.PAGESIZE + 1) * mmap.PAGESIZE)
            self._map = mmap.mmap(self._file, 0)
        return np.frombuffer(self._map, np.uint8)


class Stored(NamedTuple):
    """Where elements lie in a memory."""

    forms: list[Any]  # the structures of the elements, with None for each component
    arrays: list[tuple[str, tuple[int, ...], int]]  # of each component: the dtype's name, the shape, and the place
    size: int  # in bytes


def store(elements: Sequence[Element], memory: Memory) -> Stored:
    """Write elements, of tensors on any device, into a memory; returns what `load` needs. A dataset raises
    TypeError."""
    arrays, pieces, place = [], [], 0
    for element in elements:
        for tensor in components(element):
            if type(tensor) is not Tensor:
                raise TypeError(
                    f"map: with processes=True elements hold tensors only; this one holds {tensor!r}. "
                    "Use num_parallel_calls without processes."
                )
            host = tensor._host()
            arrays.append((tensor.dtype.name, host.shape, place))
            for part in _text(host) if tensor.dtype is string else [host]:
                pieces.append((place, part))
                place += _rounded(part.nbytes)
    buffer = memory.bytes(place)
    for start, part in pieces:
        buffer[start : start + part.nbytes].view(part.dtype).reshape(part.shape)[...] = part
    return Stored([map_components(lambda component: None, element) for element in elements], arrays, place)


def _rounded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _text(host: Array) -> list[Array]:
    """An array of bytes objects as their lengths, then the bytes."""
    texts = host.reshape(-1).tolist()
    return [np.array([len(text) for text in texts], _LENGTHS), np.frombuffer(b"".join(texts), np.uint8)]


def load(stored: Stored, memory: Memory, device: Device) -> list[Element]:
    """Read elements from a memory, perhaps of another process; it may be overwritten afterwards."""
    buffer = memory.bytes(stored.size)
    tensors = iter([_tensor(buffer, *array, device) for array in stored.arrays])
    return [packer(form)([next(tensors) for _ in components(form)]) for form in stored.forms]


def _tensor(buffer: Array, dtype: str, shape: tuple[int, ...], place: int, device: Device) -> Tensor:
    kind = as_dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if kind is not string:
        part = buffer[place : place + count * kind.numpy_dtype.itemsize]
        host = part.view(kind.numpy_dtype).reshape(shape).copy()
    else:
        lengths = buffer[place : place + count * _LENGTHS.itemsize].view(_LENGTHS)
        place += _rounded(lengths.nbytes)
        ends = (place + np.cumsum(lengths)).tolist()
        host = np.empty(count, object)
        host[:] = [buffer[end - length : end].tobytes() for end, length in zip(ends, lengths.tolist(), strict=True)]
        host = host.reshape(shape)
    return from_host(host, device.table(kind))
