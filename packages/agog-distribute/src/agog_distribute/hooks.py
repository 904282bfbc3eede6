"""Hooks: the collective ops, and their kernels for arrays in host memory."""

from __future__ import annotations

from collections.abc import Iterator

from agog_core.plugin import Conformance, Kernel, Op, hookimpl, requires

requires(3)

NAMES = ("all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter")


@hookimpl
def agog_ops() -> Iterator[Op]:
    """The ops."""
    from agog_distribute.collectives.ops import OPS

    yield from OPS


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """A kernel for each op, which asks the collective that is connected."""
    for name in NAMES:
        yield Kernel(op=f"distribute_{name}", device="cpu", fn=f"agog_distribute.collectives.kernels:{name}")


@hookimpl
def agog_conformance() -> Conformance:
    """Facts for the kit, which runs in one process."""
    return Conformance(infos="agog_distribute.collectives.facts:INFOS")
