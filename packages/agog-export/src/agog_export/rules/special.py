"""Special: special functions, as sums and quotients that are exact to single precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = ["bessel_i0e", "bessel_i1e", "digamma", "lgamma"]

# M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4.
_I0_NEAR = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
_I0_FAR = (
    *(0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633),
    0.00392377,
)
_I1_NEAR = (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411)
_I1_FAR = (
    *(0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654),
    -0.00420059,
)
_BORDER = 3.75
# W. Press et al., Numerical Recipes, 6.1: Lanczos's approximation of the gamma function.
_LANCZOS = (76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 1.208650973866179e-3)


def bessel_i0e(op: Writer, x: Operand) -> Any:
    size = op.Abs(x)
    t = op.Div(size, _BORDER)
    near = op.Mul(_polynomial(op, op.Mul(t, t), _I0_NEAR), op.Exp(op.Neg(size)))
    far = op.Div(_polynomial(op, op.Reciprocal(t), _I0_FAR), op.Sqrt(size))
    return op.Where(op.Less(size, _BORDER), near, far)


def bessel_i1e(op: Writer, x: Operand) -> Any:
    size = op.Abs(x)
    t = op.Div(size, _BORDER)
    near = op.Mul(op.Mul(size, _polynomial(op, op.Mul(t, t), _I1_NEAR)), op.Exp(op.Neg(size)))
    far = op.Div(_polynomial(op, op.Reciprocal(t), _I1_FAR), op.Sqrt(size))
    return op.Mul(op.Where(op.Less(size, _BORDER), near, far), op.Sign(x))


def digamma(op: Writer, x: Operand) -> Any:
    """An asymptotic series of x + 6, less the terms between; left of 0 by reflection."""
    is_left = op.Less(x, 0.0)
    y = op.Where(is_left, op.Sub(np.array(1, x.dtype), x), x)
    below = op.Reciprocal(y)
    for shift in range(1, 6):
        below = op.Add(below, op.Reciprocal(op.Add(y, float(shift))))
    far = op.Add(y, 6.0)
    square = op.Reciprocal(op.Mul(far, far))
    series = op.Mul(square, _polynomial(op, square, (1 / 12, -1 / 120, 1 / 252)))
    right = op.Sub(op.Sub(op.Sub(op.Log(far), op.Div(np.array(0.5, x.dtype), far)), series), below)
    turn = op.Div(np.array(math.pi, x.dtype), op.Tan(op.Mul(op.Sub(x, op.Round(x)), math.pi)))
    return op.Where(is_left, op.Sub(right, turn), right)


def lgamma(op: Writer, x: Operand) -> Any:
    """Lanczos's approximation; left of 1/2 by reflection."""
    is_left = op.Less(x, 0.5)
    y = op.Where(is_left, op.Sub(np.array(1, x.dtype), x), x)
    total = op.Add(op.Div(np.array(_LANCZOS[0], x.dtype), op.Add(y, 1.0)), 1.000000000190015)
    for shift, factor in enumerate((*_LANCZOS[1:], -5.395239384953e-6), 2):
        total = op.Add(total, op.Div(np.array(factor, x.dtype), op.Add(y, float(shift))))
    far = op.Add(y, 5.5)
    power = op.Sub(op.Mul(op.Sub(op.Log(far), 1.0), op.Add(y, 0.5)), 5.0)
    right = op.Add(power, op.Log(op.Div(op.Mul(total, math.sqrt(2 * math.pi)), y)))
    right = op.Where(op.IsInf(y), op.Abs(y), right)
    sine = op.Abs(op.Sin(op.Mul(op.Sub(x, op.Round(x)), math.pi)))
    left = op.Sub(op.Log(op.Div(np.array(math.pi, x.dtype), sine)), right)
    left = op.Where(op.IsInf(x), op.Abs(x), left)
    return op.Where(is_left, left, right)


def _polynomial(op: Writer, x: Any, factors: Sequence[float]) -> Any:
    total = op.Add(op.Mul(x, factors[-1]), factors[-2])
    for factor in factors[-3::-1]:
        total = op.Add(op.Mul(total, x), factor)
    return total
