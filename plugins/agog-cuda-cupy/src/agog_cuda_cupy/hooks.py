"""Hooks: the plugin brings the device "gpu", and a kernel for each op that is not of strings."""

from __future__ import annotations

from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Collective, Conformance, Kernel, hookimpl, requires
from agog_cuda_cupy import cudnn, launchers, memory, nccl, streams, transfers, value_checks
from agog_cuda_cupy.presence import device_count, unavailable

requires(3)

# What CuPy has no type for, strings and float8, stays on the host, and ops on them run there.
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """All GPUs that CUDA shows."""
    yield Backend(
        device="gpu",
        array_type="cupy:ndarray",
        device_count=device_count,
        dtypes=DTYPES,
        bind=streams.bind,
        from_host=transfers.from_host,
        to_host=transfers.to_host,
        host_copy=True,
        copy=transfers.copy,
        copy_from=transfers.copy_from,
        base=transfers.base,
        prefetch=streams.prefetch,
        allocate_host=memory.allocate_host,
        synchronize=value_checks.synchronize,
        pending_error=value_checks.pending_error,
        timer=streams.timer,
        memory_stats=memory.memory_stats,
        set_memory_limit=memory.set_memory_limit,
        free_cached=memory.free_cached,
        translate=memory.translate,
        dlpack_type=2,
        to_dlpack=transfers.to_dlpack,
        from_dlpack=transfers.from_dlpack,
        unavailable=unavailable,
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """Our own kernels, one for each op of agog-kernels-xp, and cuDNN's; CuPy is imported when the first is chosen."""
    yield from launchers.kernels()
    of_strings = {op for ops in agog_kernels_xp.strings.KERNELS.values() for op in ops}
    for op in agog_kernels_xp.NAMES:
        if op not in of_strings:
            yield Kernel(op=op, device="gpu", fn=f"agog_cuda_cupy.kernels:{op}", dtypes=DTYPES, unavailable=unavailable)
    yield from cudnn.kernels()
    for name in ("all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter"):
        yield Kernel(
            op=f"distribute_{name}",
            device="gpu",
            make="agog_distribute.collectives.kernels:make",  # which brings the op too
            dtypes=DTYPES,
            unavailable=unavailable,
        )


@hookimpl
def agog_collectives() -> Iterator[Collective]:
    """NCCL, for processes that have a GPU each."""
    yield Collective(name="nccl", devices=("gpu",), connect="agog_cuda_cupy.nccl:connect", unavailable=nccl.unavailable)


@hookimpl
def agog_conformance() -> Conformance:
    """What is known not to be as the kit wants it."""
    from agog_cuda_cupy.conformance import EXPECTED_FAILURES  # here: the kit alone asks

    return Conformance(expected_failures=EXPECTED_FAILURES)
