"""Sums: NumPy's pairwise order of summation, part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from agog_cpu_llvm.fusion import operations
from agog_cpu_llvm.fusion.loops import BYTE, INDEX, counting, index

_SMALL = ir.IntType(32)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a row: its elements, and how often the two last sums are added to each other after it."""

    size: int
    additions: int


def parts(count: int, longest: int) -> list[Part]:
    """The parts of a row, each of which NumPy sums before it adds it to another one.

    It halves what is longer than 128, the first half being a multiple of 8; all parts here are the halves of halves.
    """
    if count <= longest:
        return [Part(count, 0)]
    half = count // 2
    half -= half % 8
    *rest, last = parts(count - half, longest)
    return [*parts(half, longest), *rest, Part(last.size, last.additions + 1)]


class PairwiseSums:
    """Sums of one long row, written part by part.

    Args:
        b: stands in the first block of the function, where scratch memory is reserved.
        memory_for: reserves memory for a count of elements of a dtype.
        row: the parts.
        dtypes: of each sum.
    """

    def __init__(
        self, b: ir.IRBuilder, memory_for: Callable[[str, int], ir.Value], row: list[Part], dtypes: list[str]
    ) -> None:
        self.b, self.row, self.dtypes = b, row, dtypes
        self.depth = _deepest(row)
        self.sums = [memory_for(dtype, self.depth) for dtype in dtypes]
        self.position, self.height = memory_for("int64", 1), memory_for("int64", 1)
        self.sizes = self._table("sizes", [part.size for part in row])
        self.additions = self._table("additions", [part.additions for part in row])

    def _table(self, name: str, numbers: list[int]) -> ir.Value:
        kind = ir.ArrayType(_SMALL, len(numbers))
        table = ir.GlobalVariable(self.b.module, kind, self.b.module.get_unique_name(name))
        table.linkage, table.global_constant = "internal", True
        table.initializer = ir.Constant(kind, numbers)
        return table

    def write(self, summed: Callable[[ir.Value, ir.Value], list[ir.Value]]) -> list[ir.Value]:
        """The sums; ``summed`` writes how those of one part are computed, by its first element and its size."""
        b = self.b
        b.store(index(0), self.position)
        b.store(index(0), self.height)
        with counting(b, index(0), index(len(self.row))) as turn:
            start = b.load(self.position, typ=INDEX)
            size = self._entry(self.sizes, turn)
            height = b.load(self.height, typ=INDEX)
            for memory, dtype, value in zip(self.sums, self.dtypes, summed(start, size), strict=True):
                b.store(value, self._at(memory, dtype, height))
            b.store(b.add(height, index(1)), self.height)
            b.store(b.add(start, size), self.position)
            additions = self._entry(self.additions, turn)
            with b.if_then(b.icmp_signed(">", additions, index(0))), counting(b, index(0), additions):
                self._add()
        return [
            b.load(memory, typ=operations.TYPES[dtype]) for memory, dtype in zip(self.sums, self.dtypes, strict=True)
        ]

    def _add(self) -> None:
        """Put the sum of the last two in their place."""
        b = self.b
        last = b.sub(b.load(self.height, typ=INDEX), index(1))
        b.store(last, self.height)
        for memory, dtype in zip(self.sums, self.dtypes, strict=True):
            first, second = self._at(memory, dtype, b.sub(last, index(1))), self._at(memory, dtype, last)
            values = [b.load(each, typ=operations.TYPES[dtype]) for each in (first, second)]
            b.store(b.fadd(*values), first)

    def _entry(self, table: ir.Value, turn: ir.Value) -> ir.Value:
        pointer = _element(self.b, table, turn, _SMALL)
        return self.b.sext(self.b.load(pointer, typ=_SMALL), INDEX)

    def _at(self, memory: ir.Value, dtype: str, place: ir.Value) -> ir.Value:
        return _element(self.b, memory, place, operations.TYPES[dtype])


SHORT = range(8, 129)
"""How many elements NumPy adds up in eight sums side by side, without dividing them into parts."""


def short_sum(b: ir.IRBuilder, pointer: ir.Value, dtype: str, count: int) -> ir.Value:
    """The sum of a few elements that follow each other, as NumPy adds them up."""
    kind, width = operations.TYPES[dtype], operations.width(dtype)
    eight = ir.VectorType(kind, 8)

    def after(number: int, of: ir.Type) -> ir.Value:
        place = b.gep(pointer, [index(number * width)], inbounds=True, source_etype=BYTE)
        return b.load(place, typ=of, align=width)

    sums = after(0, eight)
    for number in range(8, count - count % 8, 8):
        sums = b.fadd(sums, after(number, eight))
    totals = [b.extract_element(sums, _SMALL(number)) for number in range(8)]
    while len(totals) > 1:
        totals = [b.fadd(one, other) for one, other in zip(totals[::2], totals[1::2], strict=True)]
    (total,) = totals
    for number in range(count - count % 8, count):
        total = b.fadd(total, after(number, kind))
    return total


def _element(b: ir.IRBuilder, pointer: ir.Value, place: ir.Value, kind: ir.Type) -> ir.Value:
    """The address of an element."""
    return b.gep(pointer, [place], inbounds=True, source_etype=kind)


def _deepest(row: list[Part]) -> int:
    """How many sums wait at most."""
    height = deepest = 0
    for part in row:
        height += 1
        deepest = max(deepest, height)
        height -= part.additions
    return deepest
