"""Special: error functions, gamma functions and Bessel functions, elementwise."""

from __future__ import annotations

import math
from typing import Any

from agog_core.calls.broadcasting import sum_to
from agog_core.calls.call import call
from agog_core.calls.elementwise import binary, operands, unary
from agog_core.dispatch.op import define
from agog_core.dtypes import FLOATING, float32, float64
from agog_core.ops.array import cast, expand_dims, ones_like, range, squeeze, zeros_like
from agog_core.ops.math.arithmetic import abs, sign
from agog_core.ops.math.elementary import exp, log, log1p, square
from agog_core.ops.math.logic import equal, where
from agog_core.shapes import broadcast_shapes
from agog_core.tensors.convert import convert_to_tensor, decided
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["betainc", "digamma", "erf", "erfc", "igamma", "igammac", "lgamma", "polygamma", "zeta"]

_PRECISE = frozenset({float32, float64})


@unary(lambda g, x: g * (2 / math.sqrt(math.pi)) * exp(-square(x)), dtypes=FLOATING)
def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """The error function, elementwise.

    Returns:
        ``2 / sqrt(pi)`` times the integral of ``e ** -t**2`` from 0 to ``x``.

    >>> print(erf([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g * (-2 / math.sqrt(math.pi)) * exp(-square(x)), dtypes=FLOATING)
def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """The complementary error function, elementwise, exact also where `erf` is near 1.

    Returns:
        ``1 - erf(x)``.

    >>> print(erfc([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g * digamma(x), dtypes=FLOATING)
def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function, elementwise.

    Returns:
        The logarithm; infinite at 0 and the negative integers.

    >>> print(lgamma([4.0]))
    tf.Tensor([1.7917595], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: g * polygamma(ones_like(x), x), dtypes=FLOATING)
def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of `lgamma`, elementwise.

    Returns:
        The derivative, psi(x).

    >>> print(digamma([1.0]))
    tf.Tensor([-0.5772157], shape=(1,), dtype=float32)
    """


@binary(y=lambda g, a, x: g * polygamma(a + 1, x), dtypes=_PRECISE)
def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """A derivative of `digamma`, elementwise; it has no gradient in the order ``a``, which is a whole number.

    Args:
        a: the orders, a tensor of float32 or float64 with whole numbers, none negative.
        x: a tensor of the same dtype whose shape broadcasts with ``a``'s.

    Returns:
        The derivative of order ``a`` of psi at ``x``, of the broadcast shape; psi itself for order 0.

    >>> print(polygamma([1.0], 1.0))
    tf.Tensor([1.644934], shape=(1,), dtype=float32)
    """


@binary(y=lambda g, x, q: -(g * x) * zeta(x + 1, q), dtypes=_PRECISE)
def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function, elementwise; it has no gradient in ``x``, for which there is no closed form.

    Args:
        x: the exponents, a tensor of float32 or float64.
        q: the offsets, a tensor of the same dtype whose shape broadcasts with ``x``'s.

    Returns:
        The sum of ``(q + n) ** -x`` over ``n = 0, 1, ...``, of the broadcast shape; infinite at ``x = 1``, NaN where
        ``x < 1``.

    >>> print(zeta([2.0], 1.0))
    tf.Tensor([1.644934], shape=(1,), dtype=float32)
    """


def _igamma_slope(a: Tensor, x: Tensor) -> Tensor:
    """The derivative of igamma by ``a``, in float64: that of its series, term by term.

    The series is that of the NIST Digital Library of Mathematical Functions, 8.7.1: igamma(a, x) is the sum of
    ``x ** (a + k) * e ** -x / gamma(a + k + 1)`` over k = 0, 1, ... Being made of ops, it can be differentiated again.
    """
    count = decided(_terms, x)
    powers = expand_dims(cast(a, float64), -1) + range(count, dtype=float64)
    is_zero = equal(x, 0)
    at = expand_dims(cast(where(is_zero, ones_like(x), x), float64), -1)
    terms = exp(powers * log(at) - at - lgamma(powers + 1))
    parts = terms * (log(at) - digamma(powers + 1))
    slope = squeeze(sum_to(parts, (*parts._shape[:-1], 1)), -1)
    return where(is_zero, 0.0, cast(slope, x.dtype))


def _terms(x: Any) -> int:
    """How many terms of the series count: from k = x on each is smaller than the one before."""
    largest = max(x.max(initial=0.0), 0.0)
    return int(largest + 10 * math.sqrt(largest)) + 60


def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    return exp((a - 1) * log(x) - x - lgamma(a))


@binary(
    x=lambda g, a, x: g * _igamma_slope(a, x),
    y=lambda g, a, x: g * _gamma_density(a, x),
    dtypes=_PRECISE,
)
def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower regularized incomplete gamma function, elementwise.

    Its gradient in ``a`` sums a series, of more terms the larger ``x`` is.

    Args:
        a: the shapes of the distributions, a tensor of float32 or float64, positive.
        x: the upper ends, a tensor of the same dtype whose shape broadcasts with ``a``'s, not negative.

    Returns:
        The integral of ``t ** (a - 1) * e ** -t`` from 0 to ``x``, divided by gamma(a); of the broadcast shape.

    >>> print(igamma([1.0], 0.0))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@binary(
    x=lambda g, a, x: -(g * _igamma_slope(a, x)),
    y=lambda g, a, x: -(g * _gamma_density(a, x)),
    dtypes=_PRECISE,
)
def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper regularized incomplete gamma function, elementwise.

    Its gradient in ``a`` sums a series, of more terms the larger ``x`` is.

    Args:
        a: the shapes of the distributions, a tensor of float32 or float64, positive.
        x: the lower ends, a tensor of the same dtype whose shape broadcasts with ``a``'s, not negative.

    Returns:
        ``1 - igamma(a, x)``, exact also where that is near 0; of the broadcast shape.

    >>> print(igammac([1.0], 0.0))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularized incomplete beta function, elementwise.

    It has no gradient in ``a`` and ``b``: the derivatives there have no closed form.

    Args:
        a: the first parameters, a tensor of float32 or float64, positive.
        b: the second parameters, a tensor of the same dtype, positive.
        x: the upper ends, a tensor of the same dtype, in [0, 1]; all three shapes broadcast.

    Returns:
        The integral of ``t ** (a - 1) * (1 - t) ** (b - 1)`` from 0 to ``x``, divided by that from 0 to 1; of the
        broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    >>> print(betainc([1.0], 1.0, 0.25))
    tf.Tensor([0.25], shape=(1,), dtype=float32)
    """
    first, third = operands("betainc", ("a", "x"), a, x)
    second, third = operands("betainc", ("b", "x"), b, third)
    return call(_betainc, first, second, third)


def _betainc_vjp(g: Tensor, a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    of_both = lgamma(a) + lgamma(b) - lgamma(a + b)
    powers = (a - 1) * log(x) + (b - 1) * log1p(-x)
    return sum_to(g * exp(powers - of_both), x._shape)


_betainc = define(
    betainc,
    shape=lambda a, b, x: broadcast_shapes("betainc", broadcast_shapes("betainc", a, b), x),
    dtypes=_PRECISE,
    vjp={"x": _betainc_vjp},
    elementwise=True,
)


@unary(lambda g, x, out: g * (bessel_i1e(x) - sign(x) * out), dtypes=FLOATING)
def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0, times ``e ** -|x|``, elementwise.

    It does not overflow. See Abramowitz and Stegun, Handbook of Mathematical Functions, 9.6, for it and its derivative.

    Returns:
        ``e ** -|x| * I0(x)``.

    >>> print(bessel_i0e([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


def _bessel_i1e_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    return g * (bessel_i0e(x) - _bessel_quotient(x, out) - sign(x) * out)


def _bessel_quotient(x: Tensor, out: Tensor) -> Tensor:
    """``bessel_i1e(x) / x``; near 0 by the series of I1 (9.6.10), for derivatives of the quotient would cancel."""
    is_near = abs(x) < 0.25
    near, far = where(is_near, x, zeros_like(x)), where(is_near, ones_like(x), x)
    series = ones_like(x)
    for k in (5, 4, 3, 2, 1):
        series = series * (square(near) * (1 / (4 * k * (k + 1)))) + 1.0
    return where(is_near, series * 0.5 * exp(-abs(near)), out / far)


@unary(_bessel_i1e_vjp, dtypes=FLOATING)
def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1, times ``e ** -|x|``, elementwise.

    It does not overflow. See Abramowitz and Stegun, Handbook of Mathematical Functions, 9.6, for it and its derivative.

    Returns:
        ``e ** -|x| * I1(x)``.

    >>> print(bessel_i1e([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        ``I0(x)``; `bessel_i0e` does not overflow where it is too large.

    >>> print(bessel_i0([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return exp(abs(tensor)) * bessel_i0e(tensor)


def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        ``I1(x)``; `bessel_i1e` does not overflow where it is too large.

    >>> print(bessel_i1([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    return exp(abs(tensor)) * bessel_i1e(tensor)
