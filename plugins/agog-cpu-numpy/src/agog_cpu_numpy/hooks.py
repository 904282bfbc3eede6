"""Hooks: the plugin brings the device "cpu", and a reference kernel for each op."""

from __future__ import annotations

import os
from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Kernel, hookimpl, requires
from agog_cpu_numpy import allocator, backend

requires(3)


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """The CPU, as one device."""
    yield Backend(
        device="cpu",
        array_type="numpy:ndarray",
        device_count=lambda: 1,
        from_host=backend.from_host,
        to_host=backend.to_host,
        copy=backend.copy,
        empty=None if os.environ.get("AGOG_MALLOPT") == "0" else backend.empty,
        free_cached=allocator.free_cached,
        synchronize=backend.synchronize,
        as_array=backend.as_array,
        bind=backend.bind,
        dlpack_type=1,
        to_dlpack=backend.to_dlpack,
        from_dlpack=backend.from_dlpack,
        host_memory=True,
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """A kernel of the lowest priority for each op that agog-kernels-xp has."""
    for name in agog_kernels_xp.NAMES:
        fn, lower = f"agog_cpu_numpy.kernels:{name}", f"agog_cpu_numpy.lowering:{name}"
        yield Kernel(op=name, device="cpu", fn=fn, lower=lower, priority=0)
