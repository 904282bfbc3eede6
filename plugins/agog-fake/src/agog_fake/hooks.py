"""Hooks: the plugin brings the device type "fake" with two devices, and a kernel for each op that is not of strings."""

from __future__ import annotations

from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Kernel, hookimpl, requires
from agog_fake import backend

requires(2)

# A device need not hold all: strings, bfloat16 and float8 stay on the host, and ops on them run there.
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """Two devices with memories of their own."""
    yield Backend(
        device="fake",
        array_type="agog_fake.array:FakeArray",
        device_count=backend.device_count,
        dtypes=DTYPES,
        bind=backend.bind,
        from_host=backend.from_host,
        to_host=backend.to_host,
        host_copy=True,
        copy=backend.copy,
        copy_from=backend.copy_from,
        base=backend.base,
        synchronize=backend.synchronize,
        pending_error=backend.pending_error,
        timer=backend.timer,
        memory_stats=backend.memory_stats,
        set_memory_limit=backend.set_memory_limit,
        translate=backend.translate,
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """One kernel for each op that agog-kernels-xp has; a kernel's name is imported when it is first chosen."""
    of_strings = {op for ops in agog_kernels_xp.strings.KERNELS.values() for op in ops}
    for op in agog_kernels_xp.NAMES:
        if op not in of_strings:
            yield Kernel(op=op, device="fake", fn=f"agog_fake.kernels:{op}", dtypes=DTYPES)
