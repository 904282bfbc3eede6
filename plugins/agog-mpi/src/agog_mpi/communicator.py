"""Communicator: MPI's collectives on arrays in host memory, which are sent from where they lie."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from agog_core.plugin import HostCommunicator
from agog_mpi.exceptions import abort_on_exceptions

# How often a thread beside the program's looks at first, and then how many seconds it waits between two looks.
_LOOKS, _PAUSE = 20, 50e-6


def connect() -> HostCommunicator:
    """The communicator of all processes; an exception that nobody catches ends them all from now on."""
    from mpi4py import MPI

    # One of its own, so that the program's own messages never meet those of agog.
    everybody = MPICommunicator(MPI.COMM_WORLD.Dup())
    if everybody.size > 1:
        abort_on_exceptions(everybody)
    return everybody


class MPICommunicator:
    """Processes that MPI connects.

    Args:
        comm: MPI's communicator.
        is_patient: whether a process that waits in `agree` leaves its processor to others; MPI's own waits do not.
    """

    def __init__(self, comm: Any, is_patient: bool = False) -> None:
        from mpi4py import MPI

        self._is_patient = is_patient
        self._comm, self._mpi = comm, MPI
        self.rank: int = comm.rank
        self.size: int = comm.size
        near = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self.local_rank: int = near.rank
        self.local_size: int = near.size
        near.Free()
        self._own, self._most = np.empty(2, np.int64), np.empty(2, np.int64)  # numbers of `agree`

    def all_reduce(self, array: Any, reduction: str) -> Any:
        given = _computed(array)
        result = np.empty(given.shape, given.dtype)
        operation = self._mpi.SUM if reduction in ("sum", "mean") else _extreme(reduction, given.dtype)
        self._comm.Allreduce(given, result, operation)
        return self._finished(result, reduction, array.dtype)

    def all_gather(self, array: Any) -> Any:
        result = np.empty((self.size * array.shape[0], *array.shape[1:]), array.dtype)
        self._comm.Allgather(_bytes(array), _bytes(result))
        return result

    def reduce_scatter(self, array: Any, reduction: str) -> Any:
        given = _computed(array)
        result = np.empty((given.shape[0] // self.size, *given.shape[1:]), given.dtype)
        self._comm.Reduce_scatter_block(given, result, self._mpi.SUM)
        return self._finished(result, reduction, array.dtype)

    def broadcast(self, array: Any, root: int) -> Any:
        result = array.copy()
        self._comm.Bcast(_bytes(result), root)
        return result

    def all_to_all(self, array: Any) -> Any:
        result = np.empty_like(array)
        self._comm.Alltoall(_bytes(array), _bytes(result))
        return result

    def barrier(self) -> None:
        self._comm.Barrier()

    def exchange(self, message: bytes) -> list[bytes]:
        found: list[bytes] = self._comm.allgather(message)
        return found

    def agree(self, number: int) -> bool:
        own, most = self._own, self._most
        own[0], own[1] = number, -number
        if self._is_patient:
            request = self._comm.Iallreduce(own, most, self._mpi.MAX)
            looks = 0
            while not request.Test():
                looks += 1
                if looks > _LOOKS:
                    time.sleep(_PAUSE)
        else:
            self._comm.Allreduce(own, most, self._mpi.MAX)
        return bool(most[0] == -most[1])

    def split(self, ranks: Sequence[int]) -> HostCommunicator:
        group = self._comm.Get_group().Incl(list(ranks))
        return MPICommunicator(self._comm.Create_group(group))

    def duplicate(self) -> HostCommunicator | None:
        serves_threads = self._mpi.Query_thread() == self._mpi.THREAD_MULTIPLE
        return MPICommunicator(self._comm.Dup(), is_patient=True) if serves_threads else None

    def sum_in_place(self, array: Any) -> None:
        if _computed(array) is array:
            self._comm.Allreduce(self._mpi.IN_PLACE, array, self._mpi.SUM)
        else:
            array[...] = self.all_reduce(array, "sum")

    def abort(self, message: str) -> None:
        print(message, file=sys.stderr, flush=True)
        self._comm.Abort(1)

    def _finished(self, result: Any, reduction: str, dtype: Any) -> Any:
        if reduction == "mean":
            result *= result.dtype.type(1 / self.size)
        return result.astype(dtype, copy=False)


def _computed(array: Any) -> Any:
    """An array of numbers that MPI knows: those of half precision are added in single precision."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind not in "iu" else array


def _bytes(array: Any) -> Any:
    """The memory of an array, whatever its dtype."""
    return array.reshape(-1).view(np.uint8)


@cache
def _extreme(reduction: str, dtype: np.dtype[Any]) -> Any:
    """The maximum or the minimum, with NaN where one is NaN; MPI's own leave open what they do with NaN."""
    from mpi4py import MPI

    function = np.maximum if reduction == "max" else np.minimum
    if dtype.kind != "f":
        return MPI.MAX if reduction == "max" else MPI.MIN

    def combine(given: Any, result: Any, kind: Any) -> None:
        there = np.frombuffer(result, dtype)
        function(np.frombuffer(given, dtype), there, out=there)

    return MPI.Op.Create(combine, commute=True)
