"""Values: integers, conditions and addresses of compiled code, as operands of Python's operators."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from llvmlite import ir

from agog_cpu_llvm.registers import BYTES

__all__ = ["Condition", "Index", "Pointer", "Value"]

INDEX, POINTER = ir.IntType(64), ir.PointerType()
STORED: dict[str, ir.Type] = {
    "float16": ir.HalfType(),
    "bfloat16": ir.IntType(16),  # the upper half of a float32
    "float32": ir.FloatType(),
    "float64": ir.DoubleType(),
    "uint8": ir.IntType(8),
    "int32": ir.IntType(32),
    "int64": ir.IntType(64),
}
"""What holds one element of a dtype in memory."""


_CONTENTS = 16  # where in an array's object the address of its elements is

V = TypeVar("V", bound="Value")


class Value:
    """A value that compiled code computes: ``ir``, which ``b``, the builder of its function, has made."""

    __slots__ = ("b", "ir")

    def __init__(self, b: ir.IRBuilder, value: ir.Value) -> None:
        self.b, self.ir = b, value

    def like(self, value: ir.Value) -> Self:
        """Another value of the same kind."""
        return type(self)(self.b, value)


class Condition(Value):
    """A bit: the result of a comparison."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return self.like(self.b.and_(self.ir, other.ir))

    def __or__(self, other: Condition) -> Condition:
        return self.like(self.b.or_(self.ir, other.ir))

    def __invert__(self) -> Condition:
        return self.like(self.b.not_(self.ir))

    def select(self, one: V, other: V) -> V:
        """One value where the condition holds, else the other."""
        return one.like(self.b.select(self.ir, one.ir, other.ir))


class Index(Value):
    """An integer of 64 bits: a size, a count, a number of elements."""

    __slots__ = ()

    def __add__(self, other: Index | int) -> Index:
        return self.like(self.b.add(self.ir, self._operand(other), flags=["nsw"]))

    def __sub__(self, other: Index | int) -> Index:
        return self.like(self.b.sub(self.ir, self._operand(other), flags=["nsw"]))

    def __rsub__(self, other: int) -> Index:
        return self.like(self.b.sub(self._operand(other), self.ir, flags=["nsw"]))

    def __mul__(self, other: Index | int) -> Index:
        return self.like(self.b.mul(self.ir, self._operand(other), flags=["nsw"]))

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other: Index | int) -> Index:
        """The quotient of numbers that are not negative."""
        return self.like(self.b.udiv(self.ir, self._operand(other)))

    def __mod__(self, other: Index | int) -> Index:
        """The remainder of numbers that are not negative."""
        return self.like(self.b.urem(self.ir, self._operand(other)))

    def __lt__(self, other: Index | int) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: Index | int) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: Index | int) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: Index | int) -> Condition:
        return self._compared(">=", other)

    def equals(self, other: Index | int) -> Condition:
        """Whether two numbers are the same."""
        return self._compared("==", other)

    def least(self, other: Index | int) -> Index:
        """The smaller of two numbers."""
        return (self < other).select(self, self.like(self._operand(other)))

    def most(self, other: Index | int) -> Index:
        """The larger of two numbers."""
        return (self > other).select(self, self.like(self._operand(other)))

    def _compared(self, sign: str, other: Index | int) -> Condition:
        return Condition(self.b, self.b.icmp_signed(sign, self.ir, self._operand(other)))

    def _operand(self, other: Index | int) -> ir.Value:
        return ir.Constant(INDEX, other) if isinstance(other, int) else other.ir


class Pointer(Value):
    """The address of an element of a dtype; sums with a number count elements."""

    __slots__ = ("dtype",)

    def __init__(self, b: ir.IRBuilder, value: ir.Value, dtype: str) -> None:
        super().__init__(b, value)
        self.dtype = dtype

    def like(self, value: ir.Value) -> Self:
        return type(self)(self.b, value, self.dtype)

    def __add__(self, other: Index | int) -> Self:
        if isinstance(other, int) and other == 0:
            return self
        number = ir.Constant(INDEX, other) if isinstance(other, int) else other.ir
        return self.like(self.b.gep(self.ir, [number], inbounds=True, source_etype=STORED[self.dtype]))

    def __sub__(self, other: Index) -> Self:
        return self + (0 - other)

    def address(self) -> Index:
        """The address as a number; 0 where there is none."""
        return Index(self.b, self.b.ptrtoint(self.ir, INDEX))

    def seen_as(self, dtype: str) -> Pointer:
        """The same address, of elements of another dtype."""
        return Pointer(self.b, self.ir, dtype)

    def elements(self, dtype: str) -> Pointer:
        """The elements of the array that has the object whose address is here; 0 where this is 0. NumPy itself takes a
        microsecond to tell where elements are.
        """
        array = Pointer(self.b, self.b.load(self.ir, typ=POINTER), "uint8")
        place = array.address().equals(0).select(self.seen_as("uint8"), array + _CONTENTS)
        return Pointer(self.b, self.b.load(place.ir, typ=POINTER), dtype)

    def prefetch(self) -> None:
        """Ask for its line of memory in the second cache; an address that is nobody's does no harm."""
        numbers = [ir.Constant(ir.IntType(32), number) for number in (0, 2, 1)]  # to read, near, data
        intrinsic(self.b, "llvm.prefetch.p0", ir.VoidType(), self.ir, *numbers)

    def integer(self) -> Index:
        """The element, of a dtype of integers."""
        loaded = self.b.load(self.ir, typ=STORED[self.dtype])
        loaded.align = BYTES[self.dtype]
        if self.dtype == "int64":
            return Index(self.b, loaded)
        widen = self.b.zext if self.dtype == "uint8" else self.b.sext
        return Index(self.b, widen(loaded, INDEX))

    def set_integer(self, number: Index) -> None:
        """Write the element, of a dtype of integers."""
        narrow = number.ir if self.dtype == "int64" else self.b.trunc(number.ir, STORED[self.dtype])
        self.b.store(narrow, self.ir).align = BYTES[self.dtype]


def intrinsic(b: ir.IRBuilder, name: str, result: ir.Type, *operands: Any) -> ir.Value:
    """A call of a function of LLVM's own."""
    module = b.module
    kinds = [operand.type for operand in operands]
    function = module.globals.get(name) or ir.Function(module, ir.FunctionType(result, kinds), name)
    return b.call(function, operands)
