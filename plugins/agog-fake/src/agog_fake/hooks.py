"""Hooks: the plugin brings the device type "fake" with two devices, and a kernel for each op."""

from __future__ import annotations

from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Kernel, hookimpl, requires
from agog_fake import backend

requires(2)


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """Two devices with memories of their own."""
    yield Backend(
        device="fake",
        array_type="agog_fake.array:FakeArray",
        device_count=lambda: backend.DEVICE_COUNT,
        from_host=backend.from_host,
        to_host=backend.to_host,
        allocate=backend.allocate,
        copy=backend.copy,
        synchronize=backend.synchronize,
        memory_in_use=backend.memory_in_use,
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """One kernel for each op that agog-kernels-xp has; the strings are imported when a kernel is first chosen."""
    for op in agog_kernels_xp.NAMES:
        yield Kernel(op=op, device="fake", fn=f"agog_fake.kernels:{op}")
