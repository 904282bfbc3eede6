"""A kernel for a device that nobody brings."""

from collections.abc import Iterator

from agog_core.plugin import Kernel, hookimpl, requires

requires(2)


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """The device's name is misspelled."""
    yield Kernel(op="square", device="cpuu", fn="operator:pos")
