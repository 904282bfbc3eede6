"""Denormals: numbers so small that processors compute with them a hundred times slower, taken for zeros meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from platform import machine

from llvmlite import ir

from agog_cpu_llvm.tiles.values import POINTER, intrinsic

_WORD = ir.IntType(32)
_FLUSH = 0x8040  # the bits of MXCSR for denormal results and operands
_FLUSH_ARM = 1 << 24  # the bit FZ of FPCR


@contextmanager
def flushed(b: ir.IRBuilder, processor: str = machine()) -> Iterator[None]:
    """Take denormal numbers for zeros in the code that is written meanwhile, in the thread that runs it."""
    if processor in ("x86_64", "AMD64"):
        kept, new = b.alloca(_WORD), b.alloca(_WORD)
        kept.type = new.type = POINTER
        intrinsic(b, "llvm.x86.sse.stmxcsr", ir.VoidType(), kept)
        b.store(b.or_(b.load(kept, typ=_WORD), ir.Constant(_WORD, _FLUSH)), new)
        intrinsic(b, "llvm.x86.sse.ldmxcsr", ir.VoidType(), new)
        yield
        intrinsic(b, "llvm.x86.sse.ldmxcsr", ir.VoidType(), kept)
    elif processor in ("aarch64", "arm64"):
        long = ir.IntType(64)
        before = intrinsic(b, "llvm.aarch64.get.fpcr", long)
        intrinsic(b, "llvm.aarch64.set.fpcr", ir.VoidType(), b.or_(before, ir.Constant(long, _FLUSH_ARM)))
        yield
        intrinsic(b, "llvm.aarch64.set.fpcr", ir.VoidType(), before)
    else:
        yield
