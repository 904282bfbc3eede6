"""Special: SciPy's special functions."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.scipy import companion


def _computed(xp: Any, name: str, *arrays: Array) -> Array:
    """A function of SciPy; half precision is computed in float32."""
    function = getattr(companion(xp, "special"), name)
    dtype = arrays[0].dtype
    if dtype.itemsize == 2:
        return function(*[array.astype("float32") for array in arrays]).astype(dtype)
    return function(*arrays)


def erf(xp: Any, x: Array) -> Array:
    """Error function."""
    return _computed(xp, "erf", x)


def erfc(xp: Any, x: Array) -> Array:
    """Complementary error function."""
    return _computed(xp, "erfc", x)


def lgamma(xp: Any, x: Array) -> Array:
    """Logarithm of the absolute value of the gamma function."""
    out = _computed(xp, "gammaln", x)
    if x.dtype != "float64" or not xp.any(is_infinite := xp.isinf(out)):
        return out
    # SciPy's overflows next to zero, where the function is that of 1 / x.
    is_tiny = is_infinite & (xp.abs(x) < 1e-300) & (x != 0)
    return xp.where(is_tiny, -xp.log(xp.where(is_tiny, xp.abs(x), 1.0)), out)


def digamma(xp: Any, x: Array) -> Array:
    """Its derivative."""
    return _computed(xp, "digamma", x)


def polygamma(xp: Any, a: Array, x: Array) -> Array:
    """A derivative of digamma."""
    return _computed(xp, "polygamma", a, x).astype(x.dtype)


def zeta(xp: Any, x: Array, q: Array) -> Array:
    """Hurwitz zeta function."""
    return _computed(xp, "zeta", x, q)


def igamma(xp: Any, a: Array, x: Array) -> Array:
    """Lower incomplete gamma function, regularized."""
    return _computed(xp, "gammainc", a, x)


def igammac(xp: Any, a: Array, x: Array) -> Array:
    """Upper incomplete gamma function, regularized."""
    return _computed(xp, "gammaincc", a, x)


def betainc(xp: Any, a: Array, b: Array, x: Array) -> Array:
    """Incomplete beta function, regularized."""
    return _computed(xp, "betainc", a, b, x)


def bessel_i0e(xp: Any, x: Array) -> Array:
    """Modified Bessel function of order 0, scaled."""
    return _computed(xp, "i0e", x)


def bessel_i1e(xp: Any, x: Array) -> Array:
    """Modified Bessel function of order 1, scaled."""
    return _computed(xp, "i1e", x)
