"""NCCL: the collectives of processes that have a GPU each, by NVIDIA's library, through CuPy's binding.

Another collective connects the hosts: it hands over NCCL's identifier, and compares what the processes are about to do.
NCCL's work is work of the compute stream, so that no collective waits for the GPU.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from agog_core.plugin import AbortedError, Communicator
from agog_cuda_cupy import presence

Array = Any

# By NumPy's names. Complex numbers are pairs of floats, and integers of 16 bits are added as those of 32.
_TYPES = {
    "bool": "UINT8",
    "int8": "INT8",
    "uint8": "UINT8",
    "int32": "INT32",
    "uint32": "UINT32",
    "int64": "INT64",
    "uint64": "UINT64",
    "float16": "FLOAT16",
    "bfloat16": "BFLOAT16",
    "float32": "FLOAT32",
    "float64": "FLOAT64",
}
_OPERATIONS = {"sum": "SUM", "mean": "AVG", "max": "MAX", "min": "MIN"}


@cache
def unavailable() -> str | None:
    """Why NCCL connects nothing here, in one sentence; it stays so in a process."""
    if (missing := presence.unavailable()) is not None:
        return missing
    from cupy.cuda import nccl

    return None if nccl.available else "NCCL is not installed: pip install nvidia-nccl-cu12, or nvidia-nccl-cu13"


def connect(hosts: Communicator) -> Communicator | None:
    """The communicator of the GPUs that these processes have set; None where two of them have the same one."""
    from cupy.cuda import Device, nccl, runtime

    here = f"{platform.node()} {runtime.deviceGetPCIBusId(Device().id)}".encode()
    if len(set(hosts.exchange(here))) < hosts.size:  # which NCCL refuses
        return None
    identifier = hosts.exchange(nccl.get_unique_id() if hosts.rank == 0 else b"")[0]
    with _told("connect"):
        return NCCLCommunicator(hosts, nccl.NcclCommunicator(hosts.size, identifier, hosts.rank))


class NCCLCommunicator:
    """Processes whose GPUs NCCL connects.

    Args:
        hosts: the communicator of host arrays of the same processes.
        comm: CuPy's communicator of NCCL, made for the GPU that is set.
    """

    def __init__(self, hosts: Communicator, comm: Any) -> None:
        self._hosts, self._comm = hosts, comm
        self.rank, self.size = hosts.rank, hosts.size
        self.local_rank, self.local_size = hosts.local_rank, hosts.local_size

    def all_reduce(self, array: Array, reduction: str) -> Array:
        if reduction in ("max", "min") and array.dtype.kind not in "iu":
            return self._extreme(array, reduction)
        return self._reduced(array, reduction, array.shape, self._comm.allReduce)

    def all_gather(self, array: Array) -> Array:
        result = _empty((self.size * array.shape[0], *array.shape[1:]), array)
        self._move(self._comm.allGather, array, result)
        return result

    def reduce_scatter(self, array: Array, reduction: str) -> Array:
        shape = array.shape[0] // self.size, *array.shape[1:]
        return self._reduced(array, reduction, shape, self._comm.reduceScatter)

    def broadcast(self, array: Array, root: int) -> Array:
        result = _empty(array.shape, array)
        self._move(self._comm.broadcast, array, result, root)
        return result

    def all_to_all(self, array: Array) -> Array:
        from cupy.cuda import nccl

        result, size = _empty(array.shape, array), array.nbytes // self.size
        if not size:
            return result
        with self._checked("all_to_all"):
            nccl.groupStart()
            for peer in range(self.size):
                self._comm.send(array.data.ptr + peer * size, size, nccl.NCCL_UINT8, peer, _STREAM)
                self._comm.recv(result.data.ptr + peer * size, size, nccl.NCCL_UINT8, peer, _STREAM)
            nccl.groupEnd()
        return result

    def barrier(self) -> None:
        self._hosts.barrier()

    def exchange(self, message: bytes) -> list[bytes]:
        return self._hosts.exchange(message)

    def agree(self, number: int) -> bool:
        return self._hosts.agree(number)

    def split(self, ranks: Sequence[int]) -> Communicator:
        connected = connect(self._hosts.split(ranks))
        assert connected is not None, "processes with a GPU each have one each in a smaller group too"
        return connected

    def abort(self, message: str) -> None:
        self._comm.abort()
        self._hosts.abort(message)

    def _reduced(self, array: Array, reduction: str, shape: tuple[int, ...], verb: Callable[..., None]) -> Array:
        """A sum or the like, of a shape, by one of NCCL's verbs."""
        from cupy.cuda import nccl

        given = array.astype("int32") if array.dtype.kind in "iu" and array.dtype.itemsize == 2 else array
        result = _empty(shape, given)
        numbers = 2 if given.dtype.kind == "c" else 1
        kind = f"float{given.itemsize * 4}" if numbers == 2 else given.dtype.name
        if result.size:
            # NCCL 2.28's mean of one process leaves out the last numbers of some lengths; a sum is the same there.
            operation = "SUM" if self.size == 1 else _OPERATIONS[reduction]
            facts = getattr(nccl, f"NCCL_{_TYPES[kind]}"), getattr(nccl, f"NCCL_{operation}")
            with self._checked(verb.__name__):
                verb(given.data.ptr, result.data.ptr, numbers * result.size, *facts, _STREAM)
        return result.astype(array.dtype, copy=False)

    def _extreme(self, array: Array, reduction: str) -> Array:
        """A maximum or minimum of floats, with NaN where one is NaN; NCCL leaves open what it does with NaN."""
        found = self._reduced(array, reduction, array.shape, self._comm.allReduce)
        is_nan = self._reduced((array != array).view("uint8"), "max", array.shape, self._comm.allReduce)
        found[is_nan.view("bool")] = float("nan")
        return found

    def _move(self, verb: Callable[..., None], array: Array, result: Array, *root: int) -> None:
        """Move bytes from one array to another by one of NCCL's verbs, whatever they stand for."""
        from cupy.cuda import nccl

        if array.size:
            with self._checked(verb.__name__):
                verb(array.data.ptr, result.data.ptr, array.nbytes, nccl.NCCL_UINT8, *root, _STREAM)

    @contextmanager
    def _checked(self, verb: str) -> Iterator[None]:
        """Call NCCL; what it refuses, and what has failed in its earlier work, ends the communicator."""
        try:
            with _told(verb):
                self._comm.check_async_error()
                yield
        except AbortedError:
            self._comm.abort()
            raise


_STREAM = 0  # CUDA's default one, which is the compute stream


@contextmanager
def _told(verb: str) -> Iterator[None]:
    from cupy.cuda import nccl

    try:
        yield
    except nccl.NcclError as error:
        raise AbortedError(
            f"NCCL's {verb} has failed: {error}. A process or a link is gone, or NCCL cannot work here: run the program"
            " with NCCL_DEBUG=WARN in the environment to learn more."
        ) from error


def _empty(shape: tuple[int, ...], like: Array) -> Array:
    import cupy

    return cupy.empty(shape, like.dtype)
