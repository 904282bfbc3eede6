"""A kernel that cannot be imported."""

from collections.abc import Iterator

from agog_core.plugin import Kernel, hookimpl, requires

requires(2)


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """A kernel whose module does not exist."""
    yield Kernel(op="square", device="cpu", fn="stranger_broken.nowhere:square", priority=300)
