"""Hooks: one kernel for the CPU."""

from collections.abc import Iterator
from importlib.util import find_spec

from agog_core.plugin import Kernel, hookimpl, requires

requires(2)


def unavailable() -> str | None:
    """Why the kernel cannot be used here."""
    return None if find_spec("numba") else "numba is not installed: pip install numba."


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """Adam's step, compiled for a dtype when it is first chosen."""
    yield Kernel(
        op="apply_adam",
        device="cpu",
        make="stranger_numba.adam:make",
        dtypes=("float32", "float64"),
        priority=200,
        when="arrays that are C-contiguous",
        unavailable=unavailable,
    )
