"""Scans: sums and products of all elements up to each one."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def cumsum(xp: Any, x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
    """Running sum, in the input's dtype."""
    return _scan(xp, xp.cumsum, 0, x, axis, exclusive, reverse)


def cumprod(xp: Any, x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
    """Running product, in the input's dtype."""
    return _scan(xp, xp.cumprod, 1, x, axis, exclusive, reverse)


def _scan(xp: Any, function: Any, first: int, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    """A running sum or product; that of half precision is in float32, so that each element is rounded once."""
    is_half = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
    wide = x.astype("float32") if is_half else x
    if reverse:
        wide = xp.flip(wide, axis)
    if exclusive:
        out = xp.empty(wide.shape, wide.dtype)
        before = (slice(None),) * axis
        out[(*before, slice(0, 1))] = first
        out[(*before, slice(1, None))] = function(wide[(*before, slice(0, -1))], axis, wide.dtype)
    else:
        out = function(wide, axis, wide.dtype)
    if reverse:
        out = xp.flip(out, axis)
    return out.astype(x.dtype, copy=False)


def linear_recurrence(xp: Any, factors: Array, terms: Array, *, axis: int, reverse: bool) -> Array:
    """Each round composes twice as many steps: y[t] = b + a * y[t - n] for n = 1, 2, 4 and so on."""
    is_half = factors.dtype.itemsize == 2
    a, b = (xp.moveaxis(x, axis, 0).astype("float32" if is_half else x.dtype, copy=True) for x in (factors, terms))
    if reverse:
        a, b = a[::-1], b[::-1]
    step = 1
    while step < len(a):
        b[step:] = b[step:] + a[step:] * b[:-step]
        a[step:] = a[step:] * a[:-step]
        step *= 2
    return xp.moveaxis(b[::-1] if reverse else b, 0, axis).astype(terms.dtype, copy=False)
