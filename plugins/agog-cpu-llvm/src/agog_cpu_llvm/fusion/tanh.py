"""Tanh: NumPy's hyperbolic tangent of float32, by the table of polynomials in its library.

NumPy looks up a polynomial by the exponent and two more bits of an operand. The table is read from the library's file,
and is taken only where it gives what the ufunc gives.
"""

from __future__ import annotations

import hashlib
import math
import mmap
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir

from agog_cpu_llvm.fusion.loops import INDEX, POINTER, counting, index

LEAST = 1 << 15
"""Elements from which on it saves more than the milliseconds that it takes to compile."""

_SYMBOL = "tanh_float32"
_LANES, _SEVERAL = 16, 3  # of a vector, and how many vectors are computed side by side
_FIRST, _LAST, _SHIFT = 0x3D400000, 0x3E00000, 21  # what an index begins with, its limit, the bits that it leaves out
_CENTRES = np.arange(0x3D700000, 0x41200000, 0x200000, dtype=np.int32)
_BYTES = 8 * 32 * 4
_HUGE = float(np.float32(2.0**100))  # infinity times zero would be no number
_NUMBER = ir.FloatType()
_VECTOR, _WHOLE = ir.VectorType(_NUMBER, _LANES), ir.VectorType(ir.IntType(32), _LANES)


@cache
def table() -> Any:
    """The polynomials: centres, and coefficients from the lowest on, of 32 intervals; None where they are not found."""
    from llvmlite import binding as llvm  # here, because functions without it that are on disk need none

    if not llvm.get_host_cpu_features().get("avx512f"):  # only there a whole vector is looked up at once
        return None
    try:
        with (
            open(str(import_module("numpy._core._multiarray_umath").__file__), "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library,
        ):
            begin = library.find(_CENTRES.tobytes())
            while begin >= 4:
                rows = np.frombuffer(library[begin - 4 : begin - 4 + _BYTES], np.float32).reshape(8, 32)
                if _agrees(rows):
                    return rows
                begin = library.find(_CENTRES.tobytes(), begin + 1)
    except (ImportError, OSError, TypeError, ValueError):  # a library that is no file, or one that ends too soon
        pass
    return None


def is_for(shape: Sequence[int]) -> bool:
    """Whether it is for elements of a shape: there are many, and NumPy's table is found."""
    return math.prod(shape) >= LEAST and table() is not None


def identity() -> str:
    """What machine code depends on."""
    return "" if table() is None else hashlib.sha256(table().tobytes()).hexdigest()


def _agrees(rows: Any) -> bool:
    """Whether the polynomials give what NumPy gives, at some hundred points of each interval."""
    numbers = np.arange(0x3D000000, 0x41800000, 0x4357, dtype=np.int32).view(np.float32)
    numbers = np.concatenate([numbers, np.array([0, 1e-42, 1e-30, 1e30], np.float32)])
    index = (np.clip(numbers.view(np.int32) - _FIRST, 0, _LAST) >> _SHIFT).astype(np.intp)
    with np.errstate(all="ignore"):
        centre, *coefficients = rows[:, index]
        distance = (numbers - centre).astype(np.float64)
        result = coefficients.pop()
        while coefficients:  # products of two float32 are exact in float64
            result = (result * distance + coefficients.pop()).astype(np.float32)
        return bool((result == np.tanh(numbers)).all())


def define(module: ir.Module) -> ir.Function:
    """The function ``(source, target, count)`` of numbers that follow each other, which the module gets."""
    if (known := module.globals.get(_SYMBOL)) is not None:
        return known
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER, POINTER, INDEX]), _SYMBOL)
    function.linkage = "internal"
    function.attributes.add("noinline")  # each copy would take long to compile
    source, target, count = function.args
    b = ir.IRBuilder(function.append_basic_block())
    few = b.alloca(ir.ArrayType(_NUMBER, _LANES))
    few.type = POINTER
    several = _SEVERAL * _LANES
    whole = b.sub(count, b.srem(count, index(several)))
    with b.if_then(b.icmp_signed(">", whole, index(0))), counting(b, index(0), whole, several) as start:
        _write(b, source, target, [b.add(start, index(number * _LANES)) for number in range(_SEVERAL)])
    with b.if_else(b.icmp_signed(">=", count, index(_LANES))) as (many, not_many):
        with many, b.if_then(b.icmp_signed(">", count, whole)), counting(b, whole, count, _LANES) as start:
            last = b.sub(count, index(_LANES))  # the last ones are computed twice where they fill no vector
            _write(b, source, target, [b.select(b.icmp_signed("<", start, last), start, last)])
        with not_many:
            _copy(b, source, few, count)
            _write(b, few, few, [index(0)])
            _copy(b, few, target, count)
    b.ret_void()
    return function


def _write(b: ir.IRBuilder, source: ir.Value, target: ir.Value, places: list[ir.Value]) -> None:
    """Vectors side by side, step by step: one after the other they would wait for their own steps."""
    numbers = [b.load(_element(b, source, place), typ=_VECTOR, align=4) for place in places]
    bits = [b.and_(b.bitcast(x, _WHOLE), _splat(_WHOLE, 0x7FFFFFFF)) for x in numbers]
    indices = [_limited(b, b.sub(x, _splat(_WHOLE, _FIRST)), 0, _LAST) for x in bits]
    indices = [b.lshr(x, _splat(_WHOLE, _SHIFT)) for x in indices]

    def looked_up(row: list[float]) -> list[ir.Value]:
        low, high = [ir.Constant(_VECTOR, part) for part in (row[:_LANES], row[_LANES:])]
        lookup = _intrinsic(b, "llvm.x86.avx512.vpermi2var.ps.512", _VECTOR, _WHOLE, _VECTOR)
        return [b.call(lookup, [low, x, high]) for x in indices]

    centres, *coefficients = table().tolist()
    distances = []
    for x, centre in zip(bits, looked_up(centres), strict=True):
        magnitude, most = b.bitcast(x, _VECTOR), _splat(_VECTOR, _HUGE)
        distances.append(b.fsub(b.select(b.fcmp_ordered(">", magnitude, most), most, magnitude), centre))
    results = looked_up(coefficients.pop())
    add = _intrinsic(b, f"llvm.fma.v{_LANES}f32", _VECTOR, _VECTOR, _VECTOR)
    while coefficients:
        triples = zip(results, distances, looked_up(coefficients.pop()), strict=True)
        results = [b.call(add, triple) for triple in triples]
    with_sign = _intrinsic(b, f"llvm.copysign.v{_LANES}f32", _VECTOR, _VECTOR)
    for x, result, place in zip(numbers, results, places, strict=True):
        b.store(b.call(with_sign, [result, x]), _element(b, target, place), align=4)


def _copy(b: ir.IRBuilder, source: ir.Value, target: ir.Value, count: ir.Value) -> None:
    with counting(b, index(0), count) as place:
        b.store(b.load(_element(b, source, place), typ=_NUMBER, align=4), _element(b, target, place), align=4)


def _limited(b: ir.IRBuilder, x: ir.Value, least: int, most: int) -> ir.Value:
    x = b.select(b.icmp_signed(">", x, _splat(_WHOLE, least)), x, _splat(_WHOLE, least))
    return b.select(b.icmp_signed("<", x, _splat(_WHOLE, most)), x, _splat(_WHOLE, most))


def _splat(kind: ir.VectorType, value: float) -> ir.Constant:
    return ir.Constant(kind, [value] * _LANES)


def _element(b: ir.IRBuilder, pointer: ir.Value, place: ir.Value) -> ir.Value:
    return b.gep(pointer, [place], inbounds=True, source_etype=_NUMBER)


def _intrinsic(b: ir.IRBuilder, name: str, *kinds: ir.Type) -> ir.Function:
    """A function of LLVM's that gives vectors of numbers."""
    return b.module.globals.get(name) or ir.Function(b.module, ir.FunctionType(_VECTOR, kinds), name)
