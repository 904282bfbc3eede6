"""Exponentials: the logistic function and the hyperbolic tangent of vectors, to an ulp or two; NaN stays NaN."""

from __future__ import annotations

import math
from platform import machine

from llvmlite import ir

from agog_cpu_llvm.tiles.values import intrinsic
from agog_cpu_llvm.tiles.vectors import Vector

# The logarithm of two in two parts, of which the first times a whole number is exact; by whether it is float64.
_LN2 = {False: (0.693359375, -2.12194440054690583e-4), True: (0.693145751953125, 1.42860682030941723212e-6)}


def exponential(x: Vector) -> Vector:
    """The exponential function, for numbers whose result is a normal number."""
    part, scale = _parts(x)
    return part.fma(scale, scale)


def logarithm(x: Vector) -> Vector:
    """The natural logarithm of positive normal numbers."""
    b, lanes = x.b, x.lanes
    bits, bias, terms = (52, 1023, 12) if lanes.is_double else (23, 127, 6)
    integers = ir.VectorType(ir.IntType(64 if lanes.is_double else 32), lanes.count)

    def word(number: int) -> ir.Constant:
        return ir.Constant(integers, [number] * lanes.count)

    given = b.bitcast(x.ir, integers)
    fraction = b.or_(b.and_(given, word((1 << bits) - 1)), word(bias << bits))
    share = x.like(b.bitcast(fraction, lanes.vector))  # from 1 to 2, then from sqrt(1/2) to sqrt(2)
    exponent = x.like(b.sitofp(b.sub(b.lshr(given, word(bits)), word(bias)), lanes.vector))
    is_large = share > math.sqrt(2)
    share = is_large.select(share * 0.5, share)
    exponent = is_large.select(exponent + 1.0, exponent)
    ratio = (share - 1.0) / (share + 1.0)
    square = ratio * ratio
    series = _all(x, 1 / (2 * terms + 1))
    for n in range(terms - 1, 0, -1):
        series = series.fma(square, 1 / (2 * n + 1))
    series = (ratio * 2.0).fma(series * square, ratio * 2.0)
    high, low = _LN2[lanes.is_double]
    log = exponent.fma(high, exponent.fma(low, series))
    return x.is_nan().select(x, log)


def sigmoid(x: Vector) -> Vector:
    """The logistic function."""
    limit = 708.0 if x.lanes.is_double else 87.0
    part, scale = _parts(clipped(-x, -limit, limit))
    return reciprocal(part.fma(scale, scale) + 1.0)


def tanh(x: Vector) -> Vector:
    """The hyperbolic tangent, as ``m / (m + 2)`` of ``m = exp(2 * x) - 1``, which keeps the digits of small numbers."""
    part, scale = _parts(clipped(x * 2.0, -44.0, 44.0))
    less = part.fma(scale, scale - 1.0)
    return quotient(less, less + 2.0)


def clipped(x: Vector, low: float, high: float) -> Vector:
    """Numbers that are at least the one and at most the other."""
    x = (x < low).select(_all(x, low), x)
    return (x > high).select(_all(x, high), x)


def quotient(x: Vector, y: Vector) -> Vector:
    """``x / y``, for ``y`` whose reciprocal is a normal number."""
    if not _has_estimate(y):
        return x / y
    estimate = reciprocal(y)
    near = x * estimate
    return (-y).fma(near, x).fma(estimate, near)


def reciprocal(y: Vector) -> Vector:
    """``1 / y``, where that is a normal number: where the processor has an estimate, by that and a step of Newton's."""
    if not _has_estimate(y):
        return 1.0 / y
    every = ir.Constant(ir.IntType(16), 0xFFFF)
    given = y.ir, y.lanes.constant(0.0), every
    estimate = y.like(intrinsic(y.b, "llvm.x86.avx512.rcp14.ps.512", y.lanes.vector, *given))
    return (-y).fma(estimate, _all(y, 1.0)).fma(estimate, estimate)


def _all(x: Vector, number: float) -> Vector:
    return x.like(x.lanes.constant(number))


def _has_estimate(y: Vector) -> bool:
    return y.lanes.count == 16 and not y.lanes.is_double and machine() in ("x86_64", "AMD64")


def _parts(x: Vector) -> tuple[Vector, Vector]:
    """``exp(r) - 1`` and a power of two: ``exp(x)`` is their product plus the power. Both are normal numbers."""
    b, lanes = x.b, x.lanes
    bits, bias, terms = (52, 1023, 13) if lanes.is_double else (23, 127, 7)
    magic = 1.5 * 2.0**bits  # added to a number, it leaves the nearest whole one in the lowest bits
    near = x.fma(1 / math.log(2), magic)
    whole = near - magic
    high, low = _LN2[lanes.is_double]
    rest = whole.fma(-low, whole.fma(-high, x))
    series = _all(x, 1 / math.factorial(terms))
    for n in range(terms - 1, 1, -1):
        series = series.fma(rest, 1 / math.factorial(n))
    integers = ir.VectorType(ir.IntType(64 if lanes.is_double else 32), lanes.count)
    exponent = b.shl(b.bitcast(near.ir, integers), ir.Constant(integers, [bits] * lanes.count))
    power = b.add(exponent, ir.Constant(integers, [bias << bits] * lanes.count))
    return series.fma(rest * rest, rest), x.like(b.bitcast(power, lanes.vector))
