"""Hooks: the collective ops, and their kernels for arrays in host memory."""

from __future__ import annotations

from collections.abc import Iterator

from agog_core.plugin import Conformance, Kernel, LateOps, hookimpl, requires

requires(3)

OPS = ("all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter")


@hookimpl
def agog_ops() -> Iterator[LateOps]:
    """The ops, which a program of one process does without."""
    yield LateOps(names=tuple(f"distribute_{op}" for op in OPS), ops="agog_distribute.collectives.ops:OPS")


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """A kernel for each op, which asks the collective that is connected."""
    for op in OPS:
        yield Kernel(op=f"distribute_{op}", device="cpu", fn=f"agog_distribute.collectives.kernels:{op}")


@hookimpl
def agog_conformance() -> Conformance:
    """Facts for the kit, which runs in one process."""
    return Conformance(infos="agog_distribute.collectives.facts:INFOS")
