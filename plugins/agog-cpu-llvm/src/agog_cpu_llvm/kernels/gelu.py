"""Gelu: the Gaussian error linear unit and its gradient, in one way through memory.

The probability that a normal number is below -a, for a >= 0, is ``exp(-a**2 / 2) * t * polynomial(t)`` with
``t = 1 / (1 + 0.3 * a)``: C. Hastings, "Approximations for digital computers", 1955, gives the form. The polynomial is
fitted to scipy's ``erfcx``, to 4e-9 of the probability for all a below 14.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from agog_cpu_llvm.team import run
from agog_cpu_llvm.tiles import Lanes, Vector, compiled, entry
from agog_cpu_llvm.tiles.exponentials import exponential, reciprocal, sigmoid

LEAST = 4096
"""Elements from which on calls are taken."""

_BLOCK = 1 << 14  # elements of a turn
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


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    return partial(_gelu if op == "gelu" else _gelu_grad, dtype)


def _gelu(dtype: str, features: Any, out: Any = None, *, approximate: bool) -> Any:
    return _run(dtype, "gelu", (features,), out, approximate)


def _gelu_grad(dtype: str, gradients: Any, features: Any, outputs: Any, out: Any = None, *, approximate: bool) -> Any:
    return _run(dtype, "gelu_grad", (gradients, features), out, approximate)


def _run(dtype: str, function: str, arrays: tuple[Any, ...], out: Any, is_approximate: bool) -> Any:
    size = arrays[0].size
    if size < LEAST or not all(array.flags.c_contiguous for array in arrays):
        return NotImplemented
    filled = np.empty(arrays[0].shape, arrays[0].dtype) if out is None else out
    addresses = [array.ctypes.data for array in (*arrays, filled)]
    turns = -(-size // _BLOCK)
    name = f"approximate_{function}" if is_approximate else function
    run(compiled("gelu", write, dtype)[name], (*addresses, size, turns), most=turns)
    return filled if out is None else None


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
        first = turn * _BLOCK
        rest = words.size - first
        whole = (rest < _BLOCK).select(rest, code.number(_BLOCK))
        pointers = {each: words[each] + first for each in (*inputs, "out")}
        with code.loop(0, whole, lanes.count) as loop:
            mask = lanes.first(whole - loop.index)
            values = [lanes.load(pointers[each] + loop.index, mask) for each in inputs]
            lanes.store(formula(*values), pointers["out"] + loop.index, mask)


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
