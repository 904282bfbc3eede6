"""Fourier: discrete transforms. The array libraries refuse axes without elements."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.arrays import Array


def fft(xp: Any, x: Array, *, rank: int) -> Array:
    """Transform of complex numbers over the last axes."""
    return xp.fft.fftn(x, axes=_last(rank)) if x.size else xp.zeros(x.shape, x.dtype)


def ifft(xp: Any, x: Array, *, rank: int) -> Array:
    """Inverse transform of complex numbers over the last axes."""
    return xp.fft.ifftn(x, axes=_last(rank)) if x.size else xp.zeros(x.shape, x.dtype)


def rfft(xp: Any, x: Array, *, rank: int) -> Array:
    """Transform of real numbers over the last axes; along the last one the first half."""
    if x.size:
        return xp.fft.rfftn(x, axes=_last(rank))
    half = x.shape[-1] // 2 + 1 if x.shape[-1] else 0
    return xp.zeros((*x.shape[:-1], half), "complex64" if x.dtype.itemsize == 4 else "complex128")


def irfft(xp: Any, x: Array, *, lengths: tuple[int, ...]) -> Array:
    """Inverse transform to real numbers over the last axes, of the first half along the last one."""
    shape = (*x.shape[: -len(lengths)], *lengths)
    if 0 in shape:
        return xp.zeros(shape, x.real.dtype)
    return xp.fft.irfftn(x, lengths, axes=_last(len(lengths)))


def _last(count: int) -> tuple[int, ...]:
    return tuple(range(-count, 0))
