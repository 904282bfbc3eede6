"""Hooks: the device type, a kernel for each op that PyTorch can run, and how exact its sums are."""

from __future__ import annotations

from collections.abc import Iterator

import agog_kernels_xp
from agog_core.plugin import Backend, Conformance, Kernel, hookimpl, requires
from agog_kernels_xp.standard import MISSING

requires(3)

# PyTorch has hardly any function of larger unsigned integers; these and strings stay on the host.
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8"),
    *("float32", "float64", "complex64", "complex128"),
)


# These compute with unsigned integers of 64 bits, for which PyTorch has hardly any function.
ON_HOST = ("bincount", "dropout", "random_integers", "random_permutation", "random_uniform")
LACKING = {
    **MISSING,
    "assign_slice": "it writes to slices that go backwards, and PyTorch has no such views",
    "eigvals": "PyTorch ends the process where a matrix has NaN or infinite elements",
    "unique_with_counts": "PyTorch does not say where the different elements are first",
}
"""Op name to the reason why there is no kernel for it."""

# PyTorch has errors of its own for matrices that these cannot take.
OUTSPOKEN = ("cholesky", "matrix_inverse", "matrix_solve", "matrix_square_root")


@hookimpl
def agog_backends() -> Iterator[Backend]:
    """One device. A program that does not use it imports nothing of PyTorch."""
    of = "stranger_torch.backend"
    yield Backend(
        device="torch",
        array_type="stranger_torch.array:Array",
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
    """The kernels of agog-kernels-xp, and one of the device's own; some ops are left to the host."""
    for op in agog_kernels_xp.NAMES:
        if op in ON_HOST:
            yield Kernel(op=op, device="torch", on="host", dtypes=DTYPES)
        elif op not in LACKING:
            yield Kernel(op=op, device="torch", fn=f"stranger_torch.kernels:{op}", dtypes=DTYPES)


@hookimpl
def agog_conformance() -> Conformance:
    """What PyTorch does in its own way: it adds the rows of a matrix one after the other, which is less exact."""
    words = "PyTorch says it in its own words"
    return Conformance(
        tolerances={"sum_to/float32": (2e-5, 1e-5)},
        expected_failures={f"{op}/*/errors": words for op in OUTSPOKEN},
    )
