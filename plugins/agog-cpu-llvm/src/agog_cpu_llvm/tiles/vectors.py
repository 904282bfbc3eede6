"""Vectors: registers of several numbers, and how they are loaded from memory of a dtype and stored there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

from llvmlite import ir

from agog_cpu_llvm.registers import BYTES, Register
from agog_cpu_llvm.tiles.values import INDEX, STORED, Index, Pointer, V, Value, intrinsic

__all__ = ["Lanes", "Mask", "Vector"]

_LANE = ir.IntType(32)


class Written(Protocol):
    """What belongs to a function that is being written, such as its `Code` and each value in it."""

    b: ir.IRBuilder


class Mask(Value):
    """A bit for each lane of a vector."""

    __slots__ = ()

    def __and__(self, other: Mask) -> Mask:
        return self.like(self.b.and_(self.ir, other.ir))

    def __or__(self, other: Mask) -> Mask:
        return self.like(self.b.or_(self.ir, other.ir))

    def __invert__(self) -> Mask:
        return self.like(self.b.not_(self.ir))

    def select(self, one: V, other: V) -> V:
        """The lanes of one vector where the mask is set, else those of the other."""
        return one.like(self.b.select(self.ir, one.ir, other.ir))


class Vector(Value):
    """Numbers side by side, one in each of the lanes. Operators take another vector, or a number for all lanes."""

    __slots__ = ("lanes",)

    def __init__(self, b: ir.IRBuilder, value: ir.Value, lanes: Lanes) -> None:
        super().__init__(b, value)
        self.lanes = lanes

    def like(self, value: ir.Value) -> Self:
        return type(self)(self.b, value, self.lanes)

    def __add__(self, other: Vector | float) -> Vector:
        return self.like(self.b.fadd(self.ir, self._operand(other)))

    def __sub__(self, other: Vector | float) -> Vector:
        return self.like(self.b.fsub(self.ir, self._operand(other)))

    def __rsub__(self, other: float) -> Vector:
        return self.like(self.b.fsub(self._operand(other), self.ir))

    def __mul__(self, other: Vector | float) -> Vector:
        return self.like(self.b.fmul(self.ir, self._operand(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Vector | float) -> Vector:
        return self.like(self.b.fdiv(self.ir, self._operand(other)))

    def __rtruediv__(self, other: float) -> Vector:
        return self.like(self.b.fdiv(self._operand(other), self.ir))

    def __neg__(self) -> Vector:
        return self.like(self.b.fneg(self.ir))

    def __lt__(self, other: Vector | float) -> Mask:
        return Mask(self.b, self.b.fcmp_ordered("<", self.ir, self._operand(other)))

    def __gt__(self, other: Vector | float) -> Mask:
        return Mask(self.b, self.b.fcmp_ordered(">", self.ir, self._operand(other)))

    def equals(self, other: Vector | float) -> Mask:
        """Where two vectors have the same number."""
        return Mask(self.b, self.b.fcmp_ordered("==", self.ir, self._operand(other)))

    def is_nan(self) -> Mask:
        """Where a lane is no number."""
        return Mask(self.b, self.b.fcmp_unordered("uno", self.ir, self.ir))

    def fma(self, other: Vector | float, addend: Vector | float) -> Vector:
        """Its product with another, plus an addend, rounded once."""
        return self._function("fma", self._operand(other), self._operand(addend))

    def absolute(self) -> Vector:
        """Its numbers without their signs."""
        return self._function("fabs")

    def root(self) -> Vector:
        """Its square root."""
        return self._function("sqrt")

    def rounded(self) -> Vector:
        """The nearest whole numbers, of two the even one."""
        return self._function("rint")

    def spread(self, size: int, place: int) -> Vector:
        """In all lanes of each group of ``size`` lanes the number that one of them has."""
        lanes = [lane - lane % size + place for lane in range(self.lanes.count)]
        none = ir.Constant(self.ir.type, ir.Undefined)
        return self.like(self.b.shuffle_vector(self.ir, none, ir.Constant(ir.VectorType(_LANE, len(lanes)), lanes)))

    def total(self) -> Value:
        """The sum of all lanes, as neighbours, pairs of neighbours and so on are added."""
        values, count = self.ir, self.lanes.count
        while count > 1:
            count //= 2
            none = ir.Constant(values.type, ir.Undefined)
            halves = [
                self.b.shuffle_vector(
                    values, none, ir.Constant(ir.VectorType(_LANE, count), [2 * n + odd for n in range(count)])
                )
                for odd in (0, 1)
            ]
            values = self.b.fadd(*halves)
        return Value(self.b, self.b.extract_element(values, ir.Constant(_LANE, 0)))

    def largest(self) -> Value:
        """The largest of all lanes; one that is NaN is passed over."""
        name = f"llvm.vector.reduce.fmax.v{self.lanes.count}{self.lanes.letters}"
        return Value(self.b, intrinsic(self.b, name, self.lanes.number, self.ir))

    def _function(self, name: str, *others: ir.Value) -> Vector:
        lanes = self.lanes
        return self.like(
            intrinsic(self.b, f"llvm.{name}.v{lanes.count}{lanes.letters}", lanes.vector, self.ir, *others)
        )

    def _operand(self, other: Vector | float) -> ir.Value:
        return self.lanes.constant(other) if isinstance(other, (int, float)) else other.ir


@dataclass(frozen=True)
class Lanes(Register):
    """The lanes of a register, which load, store and convert: memory may be of any dtype of `STORED`."""

    @property
    def number(self) -> ir.Type:
        """The type of one lane."""
        return ir.DoubleType() if self.is_double else ir.FloatType()

    @property
    def vector(self) -> ir.Type:
        """The type of all lanes."""
        return ir.VectorType(self.number, self.count)

    @property
    def letters(self) -> str:
        """How LLVM abbreviates the type of a lane."""
        return "f64" if self.is_double else "f32"

    def constant(self, number: float) -> ir.Constant:
        """One number in all lanes."""
        return ir.Constant(self.vector, [float(number)] * self.count)

    def splat(self, code: Written, number: float | Value) -> Vector:
        """One number in all lanes."""
        if not isinstance(number, Value):
            return Vector(code.b, self.constant(number), self)
        return Vector(code.b, self._spread(code.b, number.ir), self)

    def broadcast(self, pointer: Pointer) -> Vector:
        """One element of memory in all lanes."""
        b = pointer.b
        loaded = b.load(pointer.ir, typ=STORED[pointer.dtype])
        loaded.align = BYTES[pointer.dtype]
        return Vector(b, self._spread(b, self._widened(b, loaded, pointer.dtype, self.number)), self)

    def scalar(self, pointer: Pointer) -> Value:
        """One element of memory, as the number of a lane."""
        b = pointer.b
        loaded = b.load(pointer.ir, typ=STORED[pointer.dtype])
        loaded.align = BYTES[pointer.dtype]
        return Value(b, self._widened(b, loaded, pointer.dtype, self.number))

    def converted(self, number: Value) -> Value:
        """A number of floating point as that of a lane."""
        kind = number.ir.type
        if kind == self.number:
            return number
        convert = number.b.fpext if self.is_double else number.b.fptrunc
        return Value(number.b, convert(number.ir, self.number))

    def whole(self, number: Index) -> Value:
        """A whole number as that of a lane."""
        return Value(number.b, number.b.sitofp(number.ir, self.number))

    def first(self, count: Index) -> Mask:
        """The mask of the first lanes; of all where the count is larger."""
        numbers = ir.VectorType(INDEX, self.count)
        return Mask(
            count.b,
            count.b.icmp_signed("<", ir.Constant(numbers, list(range(self.count))), self._spread(count.b, count.ir)),
        )

    def load(self, pointer: Pointer, mask: Mask | None = None) -> Vector:
        """Elements that lie side by side; zeros where the mask is not set."""
        b, kind = pointer.b, ir.VectorType(STORED[pointer.dtype], self.count)
        if mask is None:
            loaded = b.load(pointer.ir, typ=kind)
            loaded.align = BYTES[pointer.dtype]
        else:
            name = f"llvm.masked.load.v{self.count}{_letters(pointer.dtype)}.p0"
            align = ir.Constant(_LANE, BYTES[pointer.dtype])
            loaded = intrinsic(b, name, kind, pointer.ir, align, mask.ir, ir.Constant(kind, None))
        return Vector(b, self._widened(b, loaded, pointer.dtype, self.vector), self)

    def store(self, vector: Vector, pointer: Pointer, mask: Mask | None = None) -> None:
        """Write elements that lie side by side, where the mask is set."""
        b = pointer.b
        value = self._narrowed(b, vector.ir, pointer.dtype, ir.VectorType(STORED[pointer.dtype], self.count))
        if mask is None:
            b.store(value, pointer.ir).align = BYTES[pointer.dtype]
        else:
            name = f"llvm.masked.store.v{self.count}{_letters(pointer.dtype)}.p0"
            align = ir.Constant(_LANE, BYTES[pointer.dtype])
            intrinsic(b, name, ir.VoidType(), value, pointer.ir, align, mask.ir)

    def store_places(self, numbers: Vector, step: Index, first: Index, pointer: Pointer, mask: Mask | None) -> None:
        """Write ``first + lane + step * number`` for whole numbers of at most 24 bits as int64, and 0 where one is NaN
        or below 0.
        """
        b, kind = pointer.b, ir.VectorType(INDEX, self.count)
        is_none = b.fcmp_unordered("<", numbers.ir, self.constant(0.0))
        whole = b.fptosi(b.select(is_none, self.constant(0.0), numbers.ir), kind)
        lane = b.add(self._spread(b, first.ir), ir.Constant(kind, list(range(self.count))))
        places = b.select(is_none, ir.Constant(kind, None), b.add(b.mul(whole, self._spread(b, step.ir)), lane))
        if mask is None:
            b.store(places, pointer.ir).align = BYTES["int64"]
        else:
            align = ir.Constant(_LANE, BYTES["int64"])
            intrinsic(b, f"llvm.masked.store.v{self.count}i64.p0", ir.VoidType(), places, pointer.ir, align, mask.ir)

    def put(self, number: Value, pointer: Pointer) -> None:
        """Write one number."""
        value = self._narrowed(pointer.b, number.ir, pointer.dtype, STORED[pointer.dtype])
        pointer.b.store(value, pointer.ir).align = BYTES[pointer.dtype]

    def _spread(self, b: ir.IRBuilder, number: ir.Value) -> ir.Value:
        none = ir.Constant(ir.VectorType(number.type, self.count), ir.Undefined)
        one = b.insert_element(none, number, ir.Constant(_LANE, 0))
        return b.shuffle_vector(one, none, ir.Constant(ir.VectorType(_LANE, self.count), [0] * self.count))

    def _widened(self, b: ir.IRBuilder, value: ir.Value, dtype: str, kind: ir.Type) -> ir.Value:
        """Numbers of a dtype, of 8 to 64 bits, as numbers of lanes."""
        if dtype == self.dtype:
            return value
        if dtype == "bfloat16":
            wide = _with(value.type, ir.IntType(32))
            value = b.bitcast(b.shl(b.zext(value, wide), _bits(wide, 16)), _with(value.type, ir.FloatType()))
            return b.fpext(value, kind) if self.is_double else value
        if dtype == "float64":
            return b.fptrunc(value, kind)
        if dtype.startswith("float"):
            return b.fpext(value, kind)
        return b.uitofp(value, kind) if dtype == "uint8" else b.sitofp(value, kind)

    def _narrowed(self, b: ir.IRBuilder, value: ir.Value, dtype: str, kind: ir.Type) -> ir.Value:
        """Numbers of lanes, rounded to those of a dtype."""
        if dtype == self.dtype:
            return value
        if dtype == "bfloat16":
            value = b.fptrunc(value, _with(kind, ir.FloatType())) if self.is_double else value
            wide = _with(kind, ir.IntType(32))
            bits = b.bitcast(value, wide)
            odd = b.and_(b.lshr(bits, _bits(wide, 16)), _bits(wide, 1))
            nearest = b.lshr(b.add(b.add(bits, _bits(wide, 0x7FFF)), odd), _bits(wide, 16))
            quiet = b.or_(b.lshr(bits, _bits(wide, 16)), _bits(wide, 0x40))
            return b.trunc(b.select(b.fcmp_unordered("uno", value, value), quiet, nearest), kind)
        if dtype == "float64":
            return b.fpext(value, kind)
        if dtype.startswith("float"):
            return b.fptrunc(value, kind)
        return b.fptosi(value, kind)


def _with(kind: ir.Type, element: ir.Type) -> ir.Type:
    """The type of as many elements as another type has."""
    return ir.VectorType(element, kind.count) if isinstance(kind, ir.VectorType) else element


def _bits(kind: ir.Type, number: int) -> ir.Constant:
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)


def _letters(dtype: str) -> str:
    return {"float16": "f16", "bfloat16": "i16", "float32": "f32", "float64": "f64", "uint8": "i8"}.get(
        dtype, f"i{8 * BYTES[dtype]}"
    )
