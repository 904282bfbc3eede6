"""Hooks: the op, its kernel for the CPU, and its facts."""

from collections.abc import Iterator

from agog_core.plugin import Conformance, Kernel, Op, hookimpl, registry, requires

requires(2)


@hookimpl
def agog_ops() -> Iterator[Op]:
    """The op, which importing its module has registered."""
    import stranger_op.ops  # noqa: F401

    yield registry["softcap"]


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """One kernel, for every dtype of the op."""
    yield Kernel(op="softcap", device="cpu", fn="stranger_op.kernels:softcap")


@hookimpl
def agog_conformance() -> Conformance:
    """Samples and reference, which only the kit imports."""
    return Conformance(infos="stranger_op.facts:INFOS")
