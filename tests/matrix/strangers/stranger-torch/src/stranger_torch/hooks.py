"""Hooks: the device type, and a kernel for each op that the array API standard is enough for."""

from __future__ import annotations

from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Kernel, hookimpl, requires
from agog_kernels_xp.standard import MISSING

requires(2)

# PyTorch has hardly any function of larger unsigned integers; these and strings stay on the host.
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8"),
    *("float32", "float64", "complex64", "complex128"),
)


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """One device. The library is imported no sooner than here."""
    from stranger_torch import backend

    yield Backend(
        device="torch",
        array_type="stranger_torch.array:Array",
        device_count=lambda: 1,
        dtypes=DTYPES,
        from_host=backend.from_host,
        to_host=backend.to_host,
        host_copy=True,
        copy=backend.copy,
        base=backend.base,
        synchronize=backend.synchronize,
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """The kernels of agog-kernels-xp, but for those of which it says that the standard lacks something."""
    for op in agog_kernels_xp.NAMES:
        if op not in MISSING:
            # Of two parts the standard makes a complex number by arithmetic only, which loses some signs of zero.
            is_exact = op != "complex"
            yield Kernel(
                op=op, device="torch", fn=f"stranger_torch.kernels:{op}", dtypes=DTYPES, deterministic=is_exact
            )
