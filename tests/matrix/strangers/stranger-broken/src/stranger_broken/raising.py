"""A kernel whose ``unavailable`` raises."""

from collections.abc import Iterator

from agog_core.plugin import Kernel, hookimpl, requires

requires(2)


def _unavailable() -> str | None:
    raise OSError("libfast.so: cannot open shared object file")


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """A kernel that cannot say whether it can be used."""
    yield Kernel(op="square", device="cpu", fn="operator:pos", priority=400, unavailable=_unavailable)
