"""Elementwise: the standard's elementwise functions: ops after promotion to one dtype.

https://data-apis.org/array-api/2025.12/API_specification/elementwise_functions.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from agog_core.array_api.promotion import bits_of, promoted
from agog_core.array_api.searching import where
from agog_core.calls.broadcasting import broadcast_to
from agog_core.ops import array as parts
from agog_core.ops.array import bitcast, cast, identity, ones_like, stack, zeros_like
from agog_core.ops.math import arithmetic, bitwise, logic, rounding, trigonometric
from agog_core.ops.math import elementary as elements
from agog_core.ops.math.division import div_no_nan
from agog_core.ops.math.division import reciprocal as _reciprocal
from agog_core.ops.reduce.reduction import reduce_logsumexp
from agog_core.shapes import broadcast_shapes
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

Unary = Callable[[TensorLike], Tensor]
Binary = Callable[[TensorLike, TensorLike], Tensor]
Function = TypeVar("Function", bound=Callable[..., Tensor])


def _unary(name: str, op: Callable[..., Tensor]) -> Unary:
    def function(x: TensorLike, /) -> Tensor:
        return op(convert_to_tensor(x))

    return _named(function, name, op)


def _binary(name: str, op: Callable[..., Tensor]) -> Binary:
    def function(x1: TensorLike, x2: TensorLike, /) -> Tensor:
        if type(x1) is Tensor and type(x2) is Tensor and x1._table is x2._table:
            return op(x1, x2)
        return op(*promoted(x1, x2))

    return _named(function, name, op)


def _named(function: Function, name: str, op: Callable[..., Tensor]) -> Function:
    function.__name__ = function.__qualname__ = name
    summary = (op.__doc__ or "").split("\n\n")[0]
    function.__doc__ = f"{summary}\n\nThe standard's `{name}`: its arguments are arrays or, of two, one Python scalar."
    return function


def _whole(for_floats: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function that changes nothing about integers and bools."""

    def function(x: Tensor) -> Tensor:
        return for_floats(x) if x.dtype.is_differentiable else identity(x)

    function.__doc__ = for_floats.__doc__
    return function


def _by_kind(for_bools: Callable[..., Tensor], for_integers: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(*arrays: Tensor) -> Tensor:
        return (for_bools if arrays[0].dtype.is_bool else for_integers)(*arrays)

    function.__doc__ = for_integers.__doc__
    return function


def _test(of_floats: Callable[..., Tensor], join: Callable[..., Tensor], others: bool) -> Callable[..., Tensor]:
    """A question about floats that has one answer for integers, and for complex numbers is one about their parts."""

    def function(x: Tensor) -> Tensor:
        if x.dtype.is_complex:
            return join(of_floats(parts.real(x)), of_floats(parts.imag(x)))
        return of_floats(x) if x.dtype.is_floating else (ones_like if others else zeros_like)(x, "bool")

    function.__doc__ = of_floats.__doc__
    return function


def _trunc(x: Tensor) -> Tensor:
    """The integer part, elementwise."""
    return logic.where(logic.less(x, 0), rounding.ceil(x), elements.floor(x))


def _round(x: Tensor) -> Tensor:
    """The nearest integer, elementwise, and of two the even one."""
    if x.dtype.is_complex:
        return parts.complex(rounding.rint(parts.real(x)), rounding.rint(parts.imag(x)))
    return rounding.rint(x)


def _expm1(x: Tensor) -> Tensor:
    """The exponential less 1, elementwise; precise near 0."""
    precise = elements.expm1(x)
    if not x.dtype.is_complex:
        return precise
    # Sines and cosines of its parts make NaN of infinities, from which exp knows what comes.
    return where(isfinite(x), precise, arithmetic.subtract(elements.exp(x), 1))


def _log2(x: Tensor) -> Tensor:
    """The logarithm to base 2, elementwise."""
    return arithmetic.realdiv(elements.log(x), math.log(2))


def _log10(x: Tensor) -> Tensor:
    """The logarithm to base 10, elementwise."""
    return arithmetic.realdiv(elements.log(x), math.log(10))


def _signbit(x: Tensor) -> Tensor:
    """Whether the sign is set, also that of zeros, elementwise."""
    return logic.less(bits_of(x), 0)


def _copysign(x: Tensor, y: Tensor) -> Tensor:
    """The absolute values of one array with the signs of another, elementwise."""
    size = arithmetic.abs(x)
    return where(_signbit(y), arithmetic.negative(size), size)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    """The root of the sum of squares, elementwise, without overflow on the way."""
    x, y = arithmetic.abs(x), arithmetic.abs(y)
    large, small = arithmetic.maximum(x, y), arithmetic.minimum(x, y)
    ratio = div_no_nan(small, large)
    root = arithmetic.multiply(large, elements.sqrt(arithmetic.add(elements.square(ratio), 1)))
    is_infinite = logic.logical_or(logic.is_inf(x), logic.is_inf(y))
    return logic.where(is_infinite, arithmetic.multiply(ones_like(root), math.inf), root)


def _logaddexp(x: Tensor, y: Tensor) -> Tensor:
    """The logarithm of the sum of exponentials, elementwise."""
    shape = broadcast_shapes("logaddexp", x._shape, y._shape)
    return reduce_logsumexp(stack([broadcast_to(x, shape), broadcast_to(y, shape)]), 0)


def _nextafter(x: Tensor, y: Tensor) -> Tensor:
    """The next number of the dtype on the way to another, elementwise."""
    x, y = (broadcast_to(each, broadcast_shapes("nextafter", x._shape, y._shape)) for each in (x, y))
    bits, upward = bits_of(x), logic.less(x, y)
    outward = logic.equal(upward, logic.greater(x, 0))
    # Numbers of one sign are in the order of their bits; zero has two signs and starts over at the smallest number.
    moved = arithmetic.add(bits, logic.where(outward, ones_like(bits), arithmetic.negative(ones_like(bits))))
    smallest = _copysign(bitcast(ones_like(bits), x.dtype), arithmetic.subtract(y, x))
    stepped = logic.where(logic.equal(x, 0), smallest, bitcast(moved, x.dtype))
    settled = logic.where(logic.equal(x, y), y, stepped)
    return logic.where(logic.logical_or(logic.is_nan(x), logic.is_nan(y)), arithmetic.add(x, y), settled)


def _shifted(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A shift after which no bit is left if there were no more; our ops leave the last one."""

    def function(x: Tensor, y: Tensor) -> Tensor:
        shifted = op(x, y)
        is_emptied = op is bitwise.left_shift or x.dtype.is_unsigned
        return where(logic.less(y, 8 * x.dtype.size), shifted, zeros_like(shifted)) if is_emptied else shifted

    function.__doc__ = op.__doc__
    return function


def _floor_divide(x: Tensor, y: Tensor) -> Tensor:
    """The quotients rounded down, elementwise; those of infinities are infinite, and those by infinities zero."""
    quotient = arithmetic.floordiv(x, y)
    if not x.dtype.is_floating:
        return quotient
    is_infinite = logic.logical_or(logic.is_inf(x), logic.is_inf(y))
    return logic.where(is_infinite, elements.floor(arithmetic.realdiv(x, y)), quotient)


def _limit(x: Tensor, limit: TensorLike, choose: Callable[..., Tensor]) -> Tensor:
    bound = limit if type(limit) in (int, float) else cast(convert_to_tensor(limit), x.dtype)
    return choose(x, bound)


def clip(x: TensorLike, /, min: TensorLike = None, max: TensorLike = None) -> Tensor:
    """Numbers brought into a range, in the dtype of `x`; where the ends disagree, `max` wins."""
    tensor = convert_to_tensor(x)
    above = tensor if min is None else _limit(tensor, min, arithmetic.maximum)
    below = above if max is None else _limit(above, max, arithmetic.minimum)
    return identity(tensor) if below is tensor else below


abs = _unary("abs", arithmetic.abs)
acos = _unary("acos", trigonometric.acos)
acosh = _unary("acosh", trigonometric.acosh)
add = _binary("add", arithmetic.add)
asin = _unary("asin", trigonometric.asin)
asinh = _unary("asinh", trigonometric.asinh)
atan = _unary("atan", trigonometric.atan)
atan2 = _binary("atan2", trigonometric.atan2)
atanh = _unary("atanh", trigonometric.atanh)
bitwise_and = _binary("bitwise_and", _by_kind(logic.logical_and, bitwise.bitwise_and))
bitwise_invert = _unary("bitwise_invert", _by_kind(logic.logical_not, bitwise.invert))
bitwise_left_shift = _binary("bitwise_left_shift", _shifted(bitwise.left_shift))
bitwise_or = _binary("bitwise_or", _by_kind(logic.logical_or, bitwise.bitwise_or))
bitwise_right_shift = _binary("bitwise_right_shift", _shifted(bitwise.right_shift))
bitwise_xor = _binary("bitwise_xor", _by_kind(logic.logical_xor, bitwise.bitwise_xor))
ceil = _unary("ceil", _whole(rounding.ceil))
conj = _unary("conj", parts.conj)
copysign = _binary("copysign", _copysign)
cos = _unary("cos", elements.cos)
cosh = _unary("cosh", trigonometric.cosh)
divide = _binary("divide", arithmetic.truediv)
equal = _binary("equal", logic.equal)
exp = _unary("exp", elements.exp)
expm1 = _unary("expm1", _expm1)
floor = _unary("floor", _whole(elements.floor))
floor_divide = _binary("floor_divide", _floor_divide)
greater = _binary("greater", logic.greater)
greater_equal = _binary("greater_equal", logic.greater_equal)
hypot = _binary("hypot", _hypot)
imag = _unary("imag", parts.imag)
isfinite = _unary("isfinite", _test(logic.is_finite, logic.logical_and, True))
isinf = _unary("isinf", _test(logic.is_inf, logic.logical_or, False))
isnan = _unary("isnan", _test(logic.is_nan, logic.logical_or, False))
less = _binary("less", logic.less)
less_equal = _binary("less_equal", logic.less_equal)
log = _unary("log", elements.log)
log10 = _unary("log10", _log10)
log1p = _unary("log1p", elements.log1p)
log2 = _unary("log2", _log2)
logaddexp = _binary("logaddexp", _logaddexp)
logical_and = _binary("logical_and", logic.logical_and)
logical_not = _unary("logical_not", logic.logical_not)
logical_or = _binary("logical_or", logic.logical_or)
logical_xor = _binary("logical_xor", logic.logical_xor)
maximum = _binary("maximum", arithmetic.maximum)
minimum = _binary("minimum", arithmetic.minimum)
multiply = _binary("multiply", arithmetic.multiply)
negative = _unary("negative", arithmetic.negative)
nextafter = _binary("nextafter", _nextafter)
not_equal = _binary("not_equal", logic.not_equal)
positive = _unary("positive", identity)
pow = _binary("pow", elements.pow)
real = _unary("real", parts.real)
reciprocal = _unary("reciprocal", _reciprocal)
remainder = _binary("remainder", arithmetic.floormod)
round = _unary("round", _whole(_round))
sign = _unary("sign", arithmetic.sign)
signbit = _unary("signbit", _signbit)
sin = _unary("sin", elements.sin)
sinh = _unary("sinh", trigonometric.sinh)
sqrt = _unary("sqrt", elements.sqrt)
square = _unary("square", elements.square)
subtract = _binary("subtract", arithmetic.subtract)
tan = _unary("tan", trigonometric.tan)
tanh = _unary("tanh", elements.tanh)
trunc = _unary("trunc", _whole(_trunc))
