"""Matrix functions: exponential, logarithm and square root."""

from __future__ import annotations

import math
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.scipy import companion, raising

LinAlgError = ValueError  # see solving

# Higham, "The scaling and squaring method for the matrix exponential revisited", 2005: the largest 1-norm for which the
# Padé approximation of degree 13 is exact in float64 (table 2.3).
_THETA = 5.371920351148152
_DEGREE = 13

# The logarithm of 1 + x is the integral of x / (1 + t * x) for t from 0 to 1, and Gauss-Legendre quadrature of it with
# m points is the Padé approximation of degree m (Higham, "Functions of matrices", 2008, section 11.4). Here m = 8.
_NEAR_ONE = 0.25
_LOGARITHM_NODES = tuple(
    ((1 + sign * node) / 2, weight / 2)
    for node, weight in (
        (0.1834346424956498, 0.362683783378362),
        (0.525532409916329, 0.3137066458778873),
        (0.7966664774136267, 0.2223810344533745),
        (0.9602898564975363, 0.1012285362903763),
    )
    for sign in (1, -1)
)

# Roots are near when the rest differs from one by so much, and are none when it differs so much in the end.
_ROOT_STEPS = 40
_ROOT_DISTANCE = 1e-15
_ROOT_FAILURE = 1e-6


def matrix_exponential(xp: Any, x: Array) -> Array:
    """Padé approximation of the scaled matrix, squared as often as it was halved."""
    if not x.size:
        return xp.empty(x.shape, x.dtype)
    norm = xp.absolute(x).sum(axis=-2).max(axis=-1)[..., None, None]
    halvings = xp.ceil(xp.log2(xp.maximum(norm, _THETA) / _THETA))
    halvings = xp.where(xp.isfinite(halvings), halvings, 0)
    scaled = (x / 2**halvings).astype(x.dtype)
    even, odd = _pade_terms(xp, scaled)
    out = xp.linalg.solve(even - odd, even + odd)
    for done in range(int(halvings.max())):
        out = xp.where(done < halvings, xp.matmul(out, out), out)
    return out


def _pade_terms(xp: Any, x: Array) -> tuple[Array, Array]:
    """The even and the odd powers of the numerator, by Horner's rule; the denominator has the odd ones negated."""
    weights = [math.comb(_DEGREE, k) / math.perm(2 * _DEGREE, k) for k in range(_DEGREE + 1)]
    unit = xp.eye(x.shape[-1], dtype=x.dtype)
    square = xp.matmul(x, x)
    even = odd = xp.zeros_like(x)
    for k in range(_DEGREE - 1, -1, -2):
        even = xp.matmul(even, square) + weights[k] * unit
        odd = xp.matmul(odd, square) + weights[k + 1] * unit
    return even, xp.matmul(x, odd)


def matrix_logarithm(xp: Any, x: Array) -> Array:
    """Inverse scaling and squaring of the Schur form, one matrix after the other; NaN where there is no logarithm.

    SciPy's own function draws random numbers to estimate norms, so that its last bits differ from call to call.
    """
    if not x.size:
        return xp.empty(x.shape, x.dtype)
    matrices = x.astype("complex128").reshape(-1, *x.shape[-2:])
    return xp.stack([_logarithm(xp, one) for one in matrices]).reshape(x.shape).astype(x.dtype)


def _logarithm(xp: Any, x: Array) -> Array:
    linalg = companion(xp, "linalg")
    if not xp.isfinite(x).all():
        return xp.full(x.shape, xp.nan, x.dtype)
    root, basis = linalg.schur(x, output="complex")
    if not xp.diagonal(root).all():
        return xp.full(x.shape, xp.nan, x.dtype)
    unit, doublings = xp.eye(len(x)), 0
    while xp.absolute(root - unit).sum(axis=0).max() > _NEAR_ONE:
        root = linalg.sqrtm(root).astype("complex128")  # older versions of SciPy give long doubles
        doublings += 1
    rest = root - unit
    total = sum(weight * xp.linalg.solve(unit + node * rest, rest) for node, weight in _LOGARITHM_NODES)
    return basis @ (total * 2.0**doublings) @ basis.conj().T


def matrix_square_root(xp: Any, x: Array) -> Array:
    """The product form of the Denman-Beavers iteration, scaled by determinants until it is near."""
    if not x.size:
        return xp.empty(x.shape, x.dtype)
    size = x.shape[-1]
    unit = xp.eye(size, dtype="float64")
    # A solver may call a matrix with NaN singular.
    is_finite = xp.isfinite(x).all(axis=(-1, -2), keepdims=True)
    root = rest = xp.where(is_finite, x.astype("complex128" if x.dtype.kind == "c" else "float64"), unit)
    for _ in range(_ROOT_STEPS):
        try:
            with raising(xp):
                inverse = xp.linalg.inv(rest)
        except LinAlgError as error:
            raise InvalidArgumentError(
                "matrix_square_root: Input is not invertible, or has an eigenvalue on the negative real axis."
            ) from error
        distance = xp.absolute(rest - unit).max(axis=(-1, -2), keepdims=True)
        # Scaling speeds up the way there, and would spoil the last steps.
        volume = xp.linalg.slogdet(rest)[1][..., None, None]
        scale = xp.where(distance > 0.01, xp.exp(-volume / (2 * size)), 1.0)
        root = scale * xp.matmul(root, unit + inverse / scale**2) / 2
        rest = (unit + (scale**2 * rest + inverse / scale**2) / 2) / 2
        if not (distance > _ROOT_DISTANCE * size).any():
            break
    return xp.where(is_finite & (distance <= _ROOT_FAILURE), root, xp.nan).astype(x.dtype)
