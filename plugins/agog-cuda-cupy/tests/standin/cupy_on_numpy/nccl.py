"""NCCL: its communicators between threads that stand for processes, each on a device of its own.

A call does its work when all ranks have made it, and is refused where they have not made the same one. So do a group's
calls when it ends, which no rank may leave open.
"""

from __future__ import annotations

import ctypes
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from cupy_on_numpy.arrays import BFLOAT16
from cupy_on_numpy.counting import launch
from cupy_on_numpy.cuda_devices import current

_SECONDS = 10  # until the others are taken for gone
_SUM, _PROD, _MAX, _MIN, _AVG = range(5)
_DTYPES = [np.dtype(name) for name in ("i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "f8")] + [BFLOAT16]
_NAMES = ("INT8", "UINT8", "INT32", "UINT32", "INT64", "UINT64", "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16")


class NcclError(RuntimeError):
    """What NCCL refuses."""


class _Clique:
    """What the ranks of a communicator share: a table with a place for each, and a barrier before and after it."""

    def __init__(self, size: int) -> None:
        self.table: list[Any] = [None] * size
        self.barrier = threading.Barrier(size)

    def exchange(self, rank: int, value: Any) -> list[Any]:
        """What each rank has put on the table."""
        try:
            self.table[rank] = value
            self.barrier.wait(_SECONDS)
            found = list(self.table)
            self.barrier.wait(_SECONDS)
        except threading.BrokenBarrierError:
            raise NcclError("NCCL_ERROR_REMOTE_ERROR: remote process exited or there was a network error") from None
        return found


class _Call(NamedTuple):
    """What all ranks have to say alike, and where a rank's numbers are and go."""

    alike: tuple[Any, ...]
    given: Any
    result: Any


class _Group(threading.local):
    """The sends and receives of this thread's open group."""

    calls: list[tuple[NcclCommunicator, str, int, Any]] | None = None


_group = _Group()
_cliques: dict[bytes, _Clique] = {}
# Held while a communicator's clique is made or found.
_lock = threading.Lock()


class NcclCommunicator:
    """A rank of a communicator, for the device that is set."""

    def __init__(self, ndev: int, commId: bytes, rank: int) -> None:  # CuPy's names
        if type(commId) is not bytes or len(commId) != 128:
            raise ValueError("commId must be the bytes that get_unique_id gave")
        with _lock:
            self._clique = _cliques.setdefault(commId, _Clique(ndev))
        self._rank, self._size, self._device = rank, ndev, current()
        self._is_aborted = False
        devices = self._clique.exchange(rank, self._device)
        if len(set(devices)) < ndev:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: invalid usage (run with NCCL_DEBUG=WARN for details)")

    def size(self) -> int:
        """How many ranks there are."""
        return self._size

    def rank_id(self) -> int:
        """This rank."""
        return self._rank

    def check_async_error(self) -> None:
        """Raise what has gone wrong in earlier work."""
        if self._is_aborted or self._clique.barrier.broken:
            raise NcclError("NCCL_ERROR_REMOTE_ERROR: remote process exited or there was a network error")

    def abort(self) -> None:
        """Give up, on all ranks."""
        self._is_aborted = True
        self._clique.barrier.abort()

    def allReduce(self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int) -> None:
        """One number of all for each."""
        given, result = _memory(sendbuf, count, datatype), _memory(recvbuf, count, datatype)
        found = self._all("allReduce", (count, datatype, op), given, stream)
        result[...] = _reduced(found, op)

    def reduceScatter(self, sendbuf: int, recvbuf: int, recvcount: int, datatype: int, op: int, stream: int) -> None:
        """A part of the reduced numbers for each."""
        given = _memory(sendbuf, recvcount * self._size, datatype)
        result = _memory(recvbuf, recvcount, datatype)
        found = self._all("reduceScatter", (recvcount, datatype, op), given, stream)
        result[...] = np.split(_reduced(found, op), self._size)[self._rank]

    def allGather(self, sendbuf: int, recvbuf: int, count: int, datatype: int, stream: int) -> None:
        """All ranks' numbers for each."""
        given, result = _memory(sendbuf, count, datatype), _memory(recvbuf, count * self._size, datatype)
        result[...] = np.concatenate(self._all("allGather", (count, datatype), given, stream))

    def broadcast(self, sendbuff: int, recvbuff: int, count: int, datatype: int, root: int, stream: int) -> None:
        """One rank's numbers for each."""
        given, result = _memory(sendbuff, count, datatype), _memory(recvbuff, count, datatype)
        result[...] = self._all("broadcast", (count, datatype, root), given, stream)[root]

    def send(self, sendbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        """Numbers for another rank, in a group."""
        self._later("send", peer, _memory(sendbuf, count, datatype), stream)

    def recv(self, recvbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        """Numbers of another rank, in a group."""
        self._later("recv", peer, _memory(recvbuf, count, datatype), stream)

    def _all(self, verb: str, alike: tuple[Any, ...], given: Any, stream: int) -> list[Any]:
        self._check(stream)
        launch(verb)
        calls = self._clique.exchange(self._rank, _Call((verb, *alike), given.copy(), None))
        if len({call.alike for call in calls}) > 1:
            raise AssertionError(f"the ranks' calls differ: {[call.alike for call in calls]}")
        return [call.given for call in calls]

    def _later(self, verb: str, peer: int, memory: Any, stream: int) -> None:
        self._check(stream)
        if _group.calls is None:
            raise AssertionError(f"{verb} outside of a group waits for the other rank's call for ever")
        _group.calls.append((self, verb, peer, memory))

    def _check(self, stream: int) -> None:
        if current() != self._device:
            raise NcclError("NCCL_ERROR_INVALID_ARGUMENT: invalid argument (run with NCCL_DEBUG=WARN for details)")
        if stream != 0:
            raise AssertionError("NCCL's work belongs on the null stream, where the work before and after it is")


def _memory(pointer: int, count: int, datatype: int) -> Any:
    """The numbers at an address."""
    dtype = _DTYPES[datatype]
    if not pointer or not count:
        raise AssertionError("NCCL is called for no numbers")
    if pointer % dtype.itemsize:
        raise NcclError("NCCL_ERROR_INVALID_ARGUMENT: invalid argument (run with NCCL_DEBUG=WARN for details)")
    buffer = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(pointer)
    return np.frombuffer(buffer, dtype)


def _reduced(arrays: Sequence[Any], op: int) -> Any:
    """Each operation as NCCL has it: its extrema do not tell of NaN."""
    dtype = arrays[0].dtype
    if op == _AVG:
        if len(arrays) == 1:
            raise AssertionError("NCCL 2.28's mean of one rank leaves out the last numbers of some lengths")
        return (sum(each.astype("f8") for each in arrays) / len(arrays)).astype(dtype)
    function: Callable[..., Any] = {_SUM: np.add, _PROD: np.multiply, _MAX: np.fmax, _MIN: np.fmin}[op]
    total = arrays[0]
    for each in arrays[1:]:
        total = function(total, each).astype(dtype)
    return total


def get_unique_id() -> bytes:
    """What names a new communicator."""
    return uuid.uuid4().bytes * 8


def group_start() -> None:
    """Open this thread's group."""
    assert _group.calls is None, "groups inside of groups are not needed"
    _group.calls = []


def group_end() -> None:
    """Do the work of this thread's group."""
    calls, _group.calls = _group.calls, None
    assert calls, "an empty group"
    (comm,) = {call[0] for call in calls}
    launch("group")
    sent = {peer: memory.copy() for _, verb, peer, memory in calls if verb == "send"}
    found = comm._clique.exchange(comm._rank, sent)
    for _, verb, peer, memory in calls:
        if verb == "recv":
            memory[...] = found[peer][comm._rank]


FUNCTIONS = {
    "available": True,
    "NcclCommunicator": NcclCommunicator,
    "NcclError": NcclError,
    "get_unique_id": get_unique_id,
    "groupStart": group_start,
    "groupEnd": group_end,
    **{f"NCCL_{name}": number for number, name in enumerate(_NAMES)},
    **{"NCCL_SUM": _SUM, "NCCL_PROD": _PROD, "NCCL_MAX": _MAX, "NCCL_MIN": _MIN, "NCCL_AVG": _AVG},
}
"""The module's names."""
