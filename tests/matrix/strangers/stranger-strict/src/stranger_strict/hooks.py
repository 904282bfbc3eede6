"""Hooks: the device type, and a kernel for each op that the array API standard is enough for."""

from __future__ import annotations

from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Kernel, hookimpl, requires
from agog_kernels_xp.standard import MISSING

requires(3)

# The standard's; float16, bfloat16 and strings stay on the host.
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """One device. A program that does not use it imports nothing of the library."""
    of = "stranger_strict.backend"
    yield Backend(
        device="strict",
        array_type="stranger_strict.array:Array",
        device_count=lambda: 1,
        dtypes=DTYPES,
        from_host=f"{of}:from_host",
        to_host=f"{of}:to_host",
        host_copy=True,
        copy=f"{of}:copy",
        base=f"{of}:base",
        synchronize=f"{of}:synchronize",
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """The kernels of agog-kernels-xp, but for those of which it says that the standard lacks something."""
    for op in agog_kernels_xp.NAMES:
        if op not in MISSING:
            # Of two parts the standard makes a complex number by arithmetic only, which loses some signs of zero.
            is_exact = op != "complex"
            yield Kernel(
                op=op, device="strict", fn=f"stranger_strict.kernels:{op}", dtypes=DTYPES, deterministic=is_exact
            )
