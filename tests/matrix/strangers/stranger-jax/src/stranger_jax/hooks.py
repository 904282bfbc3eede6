"""Hooks: the device type, and a kernel for each op that JAX can run."""

from __future__ import annotations

from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Kernel, hookimpl, requires
from agog_kernels_xp.standard import MISSING

requires(3)

STRINGS = {op for ops in agog_kernels_xp.strings.KERNELS.values() for op in ops}
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """One device. A program that does not use it imports nothing of JAX."""
    of = "stranger_jax.backend"
    yield Backend(
        device="jax",
        array_type=f"{of}:Array",
        device_count=lambda: 1,
        dtypes=DTYPES,
        from_host=f"{of}:from_host",
        to_host=f"{of}:to_host",
        copy=f"{of}:copy",
        synchronize=f"{of}:synchronize",
        writable=False,
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """The kernels of agog-kernels-xp; what the adapter cannot do for JAX is left to the host."""
    for op in agog_kernels_xp.NAMES:
        if op not in MISSING:
            yield Kernel(op=op, device="jax", fn=f"stranger_jax.kernels:{op}", dtypes=DTYPES)
        elif op not in STRINGS:
            yield Kernel(op=op, device="jax", on="host", dtypes=DTYPES)
