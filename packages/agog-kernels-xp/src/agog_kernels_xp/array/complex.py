"""Complex: numbers and their parts."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def complex(xp: Any, real: Array, imag: Array) -> Array:
    """Numbers of their parts, which are put in their places: adding them would make NaN of an infinite part."""
    numbers = xp.empty(xp.broadcast(real, imag).shape, "complex64" if real.dtype.itemsize == 4 else "complex128")
    numbers.real = real
    numbers.imag = imag
    return numbers


def real(xp: Any, input: Array) -> Array:
    """Real part."""
    return input.real.copy()


def imag(xp: Any, input: Array) -> Array:
    """Imaginary part."""
    return input.imag.copy()
