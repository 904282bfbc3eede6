"""Loops: counting loops in LLVM, with the promise of independent iterations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

INDEX, BYTE, POINTER = ir.IntType(64), ir.IntType(8), ir.PointerType()
_LANES = 8


def index(value: int) -> ir.Constant:
    """A number of elements or bytes."""
    return ir.Constant(INDEX, value)


@contextmanager
def counting(b: ir.IRBuilder, first: ir.Value, end: ir.Value, step: int = 1) -> Iterator[ir.Value]:
    """A loop over ``range(first, end, step)``, which is never empty; gives the counter."""
    before, body, after = b.block, b.append_basic_block("turn"), b.append_basic_block("done")
    b.branch(body)
    b.position_at_end(body)
    counter = b.phi(INDEX)
    counter.add_incoming(first, before)
    yield counter
    following = b.add(counter, index(step), flags=["nsw"])
    counter.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, end), body, after)
    b.position_at_end(after)


class Independent:
    """Loops whose turns touch no element of each other, so that they may run side by side whatever shares memory.

    An output may lie where an input lies. LLVM would have to suppose that they overlap in some other way. Where one
    is read ``backwards`` the number of lanes is told: its ways to count costs may differ there, at which LLVM aborts.
    """

    def __init__(self, module: ir.Module, backwards: bool) -> None:
        self.group = _Distinct(module, [], str(len(module.metadata)))
        self.loop = _Distinct(module, [], str(len(module.metadata)))
        parallel = module.add_metadata([ir.MetaDataString(module, "llvm.loop.parallel_accesses"), self.group])
        self.loop.operands = [self.loop, parallel]
        if backwards:
            name = ir.MetaDataString(module, "llvm.loop.vectorize.width")
            self.loop.operands.append(module.add_metadata([name, ir.Constant(ir.IntType(32), _LANES)]))

    @contextmanager
    def counting(self, b: ir.IRBuilder, end: ir.Value) -> Iterator[ir.Value]:
        """A loop over ``range(end)`` in one block; gives the counter."""
        with counting(b, index(0), end) as counter:
            body = b.block
            yield counter
        for instruction in body.instructions:
            if isinstance(instruction, (ir.LoadInstr, ir.StoreInstr)):
                instruction.set_metadata("llvm.access.group", self.group)
        body.terminator.set_metadata("llvm.loop", self.loop)


class _Distinct(ir.MDValue):  # type: ignore[misc]  # llvmlite has no types
    def descr(self, buf: list[str]) -> None:
        buf += ["distinct !{ ", ", ".join([operand.get_reference() for operand in self.operands]), " }\n"]

    __hash__ = object.__hash__  # one that names itself has no hash of its parts
