"""Gelu code: the Gaussian error linear unit and its gradient, a block a turn.

The probability that a normal number is below -a, for a >= 0, is ``exp(-a**2 / 2) * t * polynomial(t)`` with
``t = 1 / (1 + 0.3 * a)``: C. Hastings, "Approximations for digital computers", 1955, gives the form. The polynomial is
fitted to scipy's ``erfcx``, to 4e-9 of the probability for all a below 14.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from llvmlite import ir

from agog_cpu_llvm.kernels.gelu import BLOCK
from agog_cpu_llvm.kernels.rows import each
from agog_cpu_llvm.tiles import Index, Lanes, Mask, Vector, entry
from agog_cpu_llvm.tiles.exponentials import exponential, reciprocal, sigmoid

_SCALE = 0.3
_TAIL = (
    *(0.11968734860420227, 0.11955834180116653, 0.11035193502902985, 0.07782744616270065, 0.09782875329256058),
    *(-0.0826098844408989, 0.19568747282028198, -0.23118485510349274, 0.113714799284935, -0.020861368626356125),
)
_FAR = 13.19  # the density of larger numbers is no normal number of 32 bits
_LEAST_EXPONENT = -87.0  # the exponential of a lesser number is none either
# Those of the reference: (1 + tanh(y)) / 2 is the sigmoid of 2 * y.
_LINEAR = 2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The functions of both formulas."""
    for prefix, share, slope in (("", _share, _slope), ("approximate_", _approximate_share, _approximate_slope)):
        _write(module, f"{prefix}gelu", ("x",), dtype, lanes, lambda x, share=share: x * share(x))
        _write(module, f"{prefix}gelu_grad", ("g", "x"), dtype, lanes, lambda g, x, slope=slope: g * slope(x))


def _write(
    module: ir.Module, name: str, inputs: tuple[str, ...], dtype: str, lanes: Lanes, formula: Callable[..., Vector]
) -> None:
    """A function of elements, a block a turn."""
    kinds = {**dict.fromkeys((*inputs, "out"), f"*{dtype}"), "size": "index", "blocks": "index"}
    with entry(module, name, kinds) as (code, words, _), code.turns(words.counter, words.blocks) as turn:
        first = turn * BLOCK
        *given, out = [words[name] + first for name in (*inputs, "out")]

        def put(at: Index, mask: Mask | None) -> None:
            lanes.store(formula(*[lanes.load(x + at, mask) for x in given]), out + at, mask)

        each(code, lanes, (words.size - first).least(BLOCK), put)


def _tail(x: Vector) -> tuple[Vector, Vector]:
    """The probability of less than ``-abs(x)``, and the density without its constant factor."""
    size = x.absolute()
    is_far = size > _FAR
    near = is_far.select(size.like(size.lanes.constant(_FAR)), size)
    square = near * near
    missing = near.fma(near, -square)  # what rounding took from the square counts as much as the square is large
    density = exponential(square * -0.5) * (missing * -0.5 + 1.0)
    density = is_far.select(size.like(size.lanes.constant(0.0)), density)
    t = reciprocal(near.fma(_SCALE, 1.0))
    series = t.like(t.lanes.constant(_TAIL[-1]))
    for coefficient in reversed(_TAIL[:-1]):
        series = series.fma(t, coefficient)
    return series * t * density, density


def _share(x: Vector) -> Vector:
    """The probability of less than x."""
    tail, _ = _tail(x)
    return (x < 0.0).select(tail, 1.0 - tail)


def _slope(x: Vector) -> Vector:
    tail, density = _tail(x)
    share = (x < 0.0).select(tail, 1.0 - tail)
    return (x * (1 / math.sqrt(2 * math.pi))).fma(density, share)


def _approximate_share(x: Vector) -> Vector:
    twice = x * (x * x).fma(_CUBIC, _LINEAR)
    return (twice < _LEAST_EXPONENT).select(x.like(x.lanes.constant(0.0)), sigmoid(twice))


def _approximate_slope(x: Vector) -> Vector:
    share = _approximate_share(x)
    change = share * (1.0 - share) * x
    return change.fma((x * x).fma(3 * _CUBIC, _LINEAR), share)
