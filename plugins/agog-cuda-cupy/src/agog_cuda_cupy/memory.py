"""Memory: CuPy's pools, and errors for exhausted GPUs.

CuPy keeps what arrays let go of for later arrays. Where the driver refuses more, its pool first gives all of that back
and lets Python collect garbage, and tries again; only then it raises. Where the limit does, that is done here.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from typing import Any

import numpy as np

from agog_core.plugin import MemoryStats, ResourceExhaustedError
from agog_cuda_cupy.streams import on

# For each GPU the most that the pool has been seen to hold.
_most: Counter[int] = Counter()


def memory_stats(index: int) -> MemoryStats:
    """What arrays hold, what the pool has taken for them and others to come, the limit, and all that the GPU has.

    CuPy does not count the most that arrays have held; the most that the pool has taken is no less than that.
    """
    import cupy

    with on(index):
        pool = _pool()
        _, total = cupy.cuda.Device(index).mem_info
        return MemoryStats(
            in_use=pool.used_bytes(),
            peak=_seen(index),
            reserved=pool.total_bytes(),
            limit=pool.get_limit() or None,
            total=total,
        )


def set_memory_limit(index: int, size: int | None) -> None:
    """Limit what the pool takes of a GPU; CuPy says "no limit" with 0, so that a limit of 0 is one of a byte here."""
    import cupy

    with on(index):
        _pool().set_limit(size=0 if size is None else max(size, 1))
    cupy.cuda.set_allocator(_allocate)


def _allocate(size: int) -> Any:
    """Memory of the pool; where the limit refuses it, once more after the pool has given back what it keeps."""
    import cupy

    try:
        return _pool().malloc(size)
    except cupy.cuda.memory.OutOfMemoryError:
        gc.collect()
        _seen(cupy.cuda.Device().id)
        _pool().free_all_blocks()
        return _pool().malloc(size)


def _seen(index: int) -> int:
    """The most that the pool of the GPU that is set has held, up to now; asked before it gives anything back."""
    _most[index] = max(_most[index], _pool().total_bytes())
    return _most[index]


def free_cached(index: int) -> None:
    """Give back what the pools keep, of the GPU's memory and of pinned host memory."""
    import cupy

    with on(index):
        _seen(index)
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

    if isinstance(error, cupy.cuda.memory.OutOfMemoryError) or _is_one_of(error, _SHORT):
        return ResourceExhaustedError(
            f"The GPU is out of memory: {str(error).rstrip('.')}. Use smaller batches, delete tensors, or raise the "
            "limit that set_memory_limit has set."
        )
    if not _is_one_of(error, _STICKY):
        return None
    if os.environ.get("AGOG_CHECK", "") not in ("", "0"):
        return RuntimeError(f"{error}. The kernel has failed, and CUDA refuses all work of this process from now on.")
    return RuntimeError(
        f"{error}. A kernel that ran before has failed, and CUDA refuses all work of this process from now on. To "
        "learn which op it was, start the program anew with AGOG_CHECK=1 in the environment, which waits after "
        "each op."
    )


def _is_one_of(error: Exception, names: tuple[str, ...]) -> bool:
    """Whether an error begins with a name; CuPy has a class of them for each of CUDA's libraries, all RuntimeErrors."""
    return isinstance(error, RuntimeError) and str(error).partition(":")[0] in names


# The names of the faults that last until the process ends: those of CUDA's runtime, and of its driver, which launches.
_STICKY = (
    *("cudaErrorAssert", "cudaErrorECCUncorrectable", "cudaErrorHardwareStackError", "cudaErrorIllegalAddress"),
    *("cudaErrorIllegalInstruction", "cudaErrorInvalidAddressSpace", "cudaErrorInvalidPc", "cudaErrorLaunchFailure"),
    *("cudaErrorLaunchTimeout", "cudaErrorMisalignedAddress"),
    *("CUDA_ERROR_ASSERT", "CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_HARDWARE_STACK_ERROR"),
    *("CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_ILLEGAL_INSTRUCTION", "CUDA_ERROR_INVALID_ADDRESS_SPACE"),
    *(
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
    ),
)
# Those of memory that is short where it is not the pool's: of modules, of handles, and pinned on the host.
_SHORT = (
    *("cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY"),
    *("CUBLAS_STATUS_ALLOC_FAILED", "CUSOLVER_STATUS_ALLOC_FAILED"),
)


def _pool() -> Any:
    import cupy

    return cupy.get_default_memory_pool()
