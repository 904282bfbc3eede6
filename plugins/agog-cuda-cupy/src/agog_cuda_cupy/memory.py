"""Memory: CuPy's pools, and what is said when a GPU has none left.

CuPy keeps what arrays let go of for later arrays. Where the driver or the limit refuses more, its pool first gives all
of that back and lets Python collect garbage, and tries again; only then it raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.plugin import MemoryStats, ResourceExhaustedError
from agog_cuda_cupy.streams import on


def memory_stats(index: int) -> MemoryStats:
    """What arrays hold, what the pool has taken for them and others to come, and the limit; nobody keeps the peak."""
    with on(index):
        pool = _pool()
        limit = pool.get_limit()
        return MemoryStats(in_use=pool.used_bytes(), reserved=pool.total_bytes(), limit=limit or None)


def set_memory_limit(index: int, size: int | None) -> None:
    """Limit what the pool takes of a GPU; CuPy says "no limit" with 0, so that a limit of 0 is one of a byte here."""
    with on(index):
        _pool().set_limit(size=0 if size is None else max(size, 1))


def free_cached(index: int) -> None:
    """Give back what the pools keep, of the GPU's memory and of pinned host memory."""
    import cupy

    with on(index):
        _pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def allocate_host(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Pinned memory, which a GPU reads by itself."""
    import cupyx

    host: np.ndarray[Any, Any] = cupyx.empty_pinned(shape, dtype)
    return host


def translate(error: Exception) -> Exception | None:
    """Agog's error for memory that is short, and a sentence for faults after which CUDA refuses everything."""
    import cupy

    if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
        return ResourceExhaustedError(
            f"The GPU is out of memory: {error} Use smaller batches, delete tensors, or raise the limit that "
            "set_memory_limit has set."
        )
    if isinstance(error, cupy.cuda.runtime.CUDARuntimeError) and any(name in str(error) for name in _STICKY):
        return RuntimeError(
            f"{error}. A kernel that ran before has failed, and CUDA refuses all work of this process from now on. To "
            "learn which op it was, start the program anew with AGOG_CHECK=1 in the environment, which waits after "
            "each op."
        )
    return None


# CUDA's names of the faults that last until the process ends.
_STICKY = (
    *("cudaErrorAssert", "cudaErrorECCUncorrectable", "cudaErrorHardwareStackError", "cudaErrorIllegalAddress"),
    *("cudaErrorIllegalInstruction", "cudaErrorInvalidAddressSpace", "cudaErrorInvalidPc", "cudaErrorLaunchFailure"),
    *("cudaErrorLaunchTimeout", "cudaErrorMisalignedAddress"),
)


def _pool() -> Any:
    import cupy

    return cupy.get_default_memory_pool()
