"""Operations: NumPy's elementwise functions in the terms of LLVM, each rounded as NumPy rounds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

import numpy as np
from llvmlite import ir

TYPES: dict[str, ir.Type] = {
    "bool": ir.IntType(8),
    "int32": ir.IntType(32),
    "int64": ir.IntType(64),
    "float16": ir.HalfType(),
    "bfloat16": ir.IntType(16),  # the upper half of a float32
    "float32": ir.FloatType(),
    "float64": ir.DoubleType(),
}
"""The dtypes that are computed in, and what holds one element."""


def _converts_halves() -> bool:
    """Whether the processor converts float16 to float32 and back; else LLVM would call functions that are not there."""
    try:
        features = import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):
        return False
    return bool(features.get("F16C") or features.get("ASIMDHP"))


if not _converts_halves():
    del TYPES["float16"]

_COMPARISONS = {
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "equal": "==",
    "not_equal": "!=",
}
_ROUNDINGS = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "absolute": "fabs", "sqrt": "sqrt"}
_ARITHMETIC = {"add", "subtract", "multiply"}
_BITWISE = {"bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor"}
_LOGICAL = {"logical_and": "and_", "logical_or": "or_", "logical_xor": "xor"}
# What functions of booleans are called where they have another name.
_OF_BOOLEANS = {
    "add": "logical_or",
    "multiply": "logical_and",
    "maximum": "logical_or",
    "minimum": "logical_and",
    "absolute": "positive",
    "square": "positive",
    "invert": "logical_not",
}
_NARROW = ("float16", "bfloat16")  # which are computed in float32 and rounded
_FLOATING = {"divide", "reciprocal", "copysign", "isnan", "isinf", "isfinite", "signbit", *_ROUNDINGS} - {"absolute"}
_INTEGRAL = {"invert", *_BITWISE}
_ANY = {"negative", "positive", "square", "sign", "maximum", "minimum", "logical_not", "absolute"}
_ANY |= _ARITHMETIC | _COMPARISONS.keys() | _LOGICAL.keys()
_NOT_OF_BOOLEANS = {"negative", "subtract", "sign"}


def is_known(name: str, dtype: str) -> bool:
    """Whether a function is written out here for operands of a dtype."""
    if dtype == "bool":
        return name in (_ANY | _INTEGRAL) - _NOT_OF_BOOLEANS
    return name in _ANY or name in (_FLOATING if is_floating(dtype) else _INTEGRAL)


def is_floating(dtype: str) -> bool:
    """Whether a dtype has infinities and fractions."""
    return dtype.startswith(("float", "bfloat"))


@lru_cache(maxsize=1024)
def resolve(name: str, dtypes: tuple[str, ...]) -> tuple[tuple[str, ...], str] | None:
    """The dtypes that a ufunc casts its operands to, and that of its result; None where it is no such ufunc."""
    function = getattr(np, name, None)
    if not isinstance(function, np.ufunc) or function.nin != len(dtypes) or function.nout != 1 or function.signature:
        return None
    try:
        resolved = function.resolve_dtypes((*map(np.dtype, dtypes), None))
    except TypeError:
        return None
    *operands, result = [dtype.name for dtype in resolved]
    return tuple(operands), result


def build(b: ir.IRBuilder, name: str, dtype: str, operands: list[ir.Value]) -> ir.Value:
    """A function of operands of one dtype."""
    if dtype in _NARROW:
        return _of_narrow(b, name, dtype, operands)
    x = operands[0]
    if dtype == "bool":
        return _of_booleans(b, _OF_BOOLEANS.get(name, name), operands)
    if name in _COMPARISONS:
        return b.zext(_compare(b, _COMPARISONS[name], dtype, *operands), TYPES["bool"])
    if name in _LOGICAL:
        return b.zext(getattr(b, _LOGICAL[name])(*[is_true(b, dtype, y) for y in operands]), TYPES["bool"])
    if name == "logical_not":
        return b.zext(b.not_(is_true(b, dtype, x)), TYPES["bool"])
    if name == "positive":
        return x
    if name == "square":
        name, operands = "multiply", [x, x]
    return (_of_floats if dtype.startswith("float") else _of_integers)(b, name, dtype, operands)


def _of_narrow(b: ir.IRBuilder, name: str, dtype: str, operands: list[ir.Value]) -> ir.Value:
    """A function of numbers of 16 bits, which is computed in float32 and rounded."""
    x, y = wide = [cast(b, operand, dtype, "float32") for operand in (operands[0], operands[-1])]
    if dtype == "float16" and name in ("maximum", "minimum"):  # of equal zeros the first, other than for float32
        first = b.fcmp_ordered(">=" if name == "maximum" else "<=", x, y)
        return b.select(b.or_(first, b.fcmp_unordered("uno", x, x)), operands[0], operands[-1])
    result = build(b, name, "float32", wide[: len(operands)])
    if dtype == "bfloat16" and name == "sign":  # that of a zero is the zero itself
        result = b.select(b.fcmp_ordered("==", x, ir.Constant(TYPES["float32"], 0.0)), x, result)
    return cast(b, result, "float32", dtype) if result.type == TYPES["float32"] else result


def _of_booleans(b: ir.IRBuilder, name: str, operands: list[ir.Value]) -> ir.Value:
    if name in _COMPARISONS:
        return b.zext(b.icmp_unsigned(_COMPARISONS[name], *operands), TYPES["bool"])
    if name == "logical_not":
        return b.xor(operands[0], ir.Constant(TYPES["bool"], 1))
    if name == "positive":
        return operands[0]
    function: Callable[..., ir.Value] = getattr(b, {**_LOGICAL, **_BITWISE}[name])
    return function(*operands)


def _of_floats(b: ir.IRBuilder, name: str, dtype: str, operands: list[ir.Value]) -> ir.Value:
    kind = TYPES[dtype]
    x, y = operands[0], operands[-1]
    zero, one, infinity = (ir.Constant(kind, value) for value in (0.0, 1.0, float("inf")))
    match name:
        case "add":
            return b.fadd(x, y)
        case "subtract":
            return b.fsub(x, y)
        case "multiply":
            return b.fmul(x, y)
        case "divide":
            return b.fdiv(x, y)
        case "reciprocal":
            return b.fdiv(one, x)
        case "negative":
            return b.fneg(x)
        case "maximum" | "minimum":
            first = b.fcmp_ordered(">" if name == "maximum" else "<", x, y)
            return b.select(b.or_(first, b.fcmp_unordered("uno", x, x)), x, y)
        case "sign":
            below = b.select(b.fcmp_ordered("<", x, zero), ir.Constant(kind, -1.0), x)
            return b.select(b.fcmp_ordered(">", x, zero), one, b.select(b.fcmp_ordered("==", x, zero), zero, below))
        case "isnan":
            return b.zext(b.fcmp_unordered("uno", x, x), TYPES["bool"])
        case "isinf":
            return b.zext(b.fcmp_ordered("==", _intrinsic(b, "fabs", kind, x), infinity), TYPES["bool"])
        case "isfinite":
            return b.zext(b.fcmp_ordered("<", _intrinsic(b, "fabs", kind, x), infinity), TYPES["bool"])
        case "signbit":
            bits = ir.IntType(32 if dtype == "float32" else 64)
            return b.zext(b.icmp_signed("<", b.bitcast(x, bits), ir.Constant(bits, 0)), TYPES["bool"])
        case "copysign":
            return _intrinsic(b, "copysign", kind, x, y)
    return _intrinsic(b, _ROUNDINGS[name], kind, x)


def _of_integers(b: ir.IRBuilder, name: str, dtype: str, operands: list[ir.Value]) -> ir.Value:
    kind = TYPES[dtype]
    x, y = operands[0], operands[-1]
    zero = ir.Constant(kind, 0)
    match name:
        case "add":
            return b.add(x, y)
        case "subtract":
            return b.sub(x, y)
        case "multiply":
            return b.mul(x, y)
        case "negative":
            return b.neg(x)
        case "invert":
            return b.not_(x)
        case "absolute":
            return b.select(b.icmp_signed("<", x, zero), b.neg(x), x)
        case "maximum" | "minimum":
            return b.select(b.icmp_signed(">" if name == "maximum" else "<", x, y), x, y)
        case "sign":
            below = b.select(b.icmp_signed("<", x, zero), ir.Constant(kind, -1), zero)
            return b.select(b.icmp_signed(">", x, zero), ir.Constant(kind, 1), below)
    function: Callable[..., ir.Value] = getattr(b, _BITWISE[name])
    return function(x, y)


def is_true(b: ir.IRBuilder, dtype: str, x: ir.Value) -> ir.Value:
    """Whether a number is not zero, as a bit."""
    if dtype == "bfloat16":
        x, dtype = cast(b, x, dtype, "float32"), "float32"
    if dtype.startswith("float"):
        return b.fcmp_unordered("!=", x, ir.Constant(TYPES[dtype], 0.0))
    return b.icmp_unsigned("!=", x, ir.Constant(TYPES[dtype], 0))


def width(dtype: str) -> int:
    """The bytes of an element."""
    return np.dtype(dtype).itemsize


def can_cast(source: str, target: str) -> bool:
    """Whether `cast` gives the bits of NumPy; from floats to integers what is out of range depends on the processor."""
    if target in _NARROW and source not in (*_NARROW, "float32", "bool"):  # which NumPy rounds once
        return False
    return source in TYPES and target in TYPES and not (is_floating(source) and target.startswith("int"))


def cast(b: ir.IRBuilder, x: ir.Value, source: str, target: str) -> ir.Value:
    """A number in another dtype."""
    kind = TYPES[target]
    if source == target:
        return x
    if target == "bool":
        return b.zext(is_true(b, source, x), kind)
    if source in _NARROW and target != "float32":
        return cast(b, cast(b, x, source, "float32"), "float32", target)
    if target in _NARROW and source != "float32":
        return cast(b, cast(b, x, source, "float32"), "float32", target)
    if source == "bfloat16":
        bits = ir.IntType(32)
        return b.bitcast(b.shl(b.zext(x, bits), bits(16)), kind)
    if target == "bfloat16":
        return _rounded(b, x)
    if source == "bool":
        return b.uitofp(x, kind) if target.startswith("float") else b.zext(x, kind)
    if source.startswith("int"):
        if target.startswith("float"):
            return b.sitofp(x, kind)
        return b.sext(x, kind) if target == "int64" else b.trunc(x, kind)
    return b.fpext(x, kind) if width(target) > width(source) else b.fptrunc(x, kind)


def _rounded(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """A float32 as the nearest bfloat16, of two the even one."""
    kind = ir.IntType(32)
    bits = b.bitcast(x, kind)
    upper = b.lshr(bits, kind(16))
    nearest = b.lshr(b.add(bits, b.add(b.and_(upper, kind(1)), kind(0x7FFF))), kind(16))
    none = b.or_(upper, kind(0x40))  # a NaN, also where all bits that say so are among the lower ones
    return b.trunc(b.select(b.fcmp_unordered("uno", x, x), none, nearest), TYPES["bfloat16"])


def _compare(b: ir.IRBuilder, sign: str, dtype: str, x: ir.Value, y: ir.Value) -> ir.Value:
    if not dtype.startswith("float"):
        return b.icmp_signed(sign, x, y)
    return b.fcmp_unordered(sign, x, y) if sign == "!=" else b.fcmp_ordered(sign, x, y)


def _intrinsic(b: ir.IRBuilder, name: str, kind: ir.Type, *operands: ir.Value) -> ir.Value:
    function = b.module.declare_intrinsic(f"llvm.{name}", [kind], ir.FunctionType(kind, [kind] * len(operands)))
    return b.call(function, operands)


def _second_of_equals() -> bool:
    """Whether NumPy's maximum and minimum give the second of two zeros, as is written here, wherever they stand."""
    for function in (np.maximum, np.minimum):
        for dtype in ("float32", "float64"):
            plus = np.zeros(67, dtype)
            for length in (1, 3, 16, 67):
                first, second = plus[:length], -plus[:length]
                if not np.signbit(function(first, second)).all() or np.signbit(function(second, first)).any():
                    return False
    return True


if not _second_of_equals():  # some processors order the zeros
    _ANY -= {"maximum", "minimum"}
