"""Fourier: facts about the ops of agog_core.ops.signal.fourier and agog_core.ops.signal.real_fourier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.ops.signal import fourier, real_fourier
from agog_core.ops.signal.fourier import transform_name
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import Rng, constant, invalid, rejected, uniform

_SHAPES: tuple[tuple[int, tuple[int, ...]], ...] = (
    *((1, (1,)), (1, (4,)), (1, (5,)), (1, (2, 3)), (1, (67,)), (1, (0,)), (1, (0, 4))),
    *((2, (2, 3)), (2, (2, 3, 4)), (2, (0, 3)), (3, (2, 3, 4)), (3, (1, 2, 1, 3))),
)
"""How many axes are transformed, and of which shape."""

# The sum of some dozens of values around 3.
_TOLERANCES = {
    "float32": (1e-5, 3e-5),
    "float64": (1e-12, 1e-12),
    "complex64": (1e-5, 3e-5),
    "complex128": (1e-12, 1e-12),
}


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for rank, shape in _SHAPES:
        yield Sample(f"shape {shape}, {rank=}", (uniform(dtype, rng, shape),), {"rank": rank})
    yield Sample("NaN", (constant(dtype, [[np.nan, 1.0], [2.0, 1.0]]),), {"rank": 1}, smooth=False)


def _samples_of_lengths(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from _samples(dtype, rng)
    for lengths, shape in (((3,), (5,)), ((8,), (2, 3)), ((2, 6), (3, 4)), ((0,), (3,)), ((4, 1, 3), (2, 2, 2))):
        keywords = {"rank": len(lengths), "fft_length": list(lengths)}
        yield Sample(f"shape {shape}, {lengths=}", (uniform(dtype, rng, shape),), keywords)


def _of_rank(module: Any, op: str) -> Callable[..., ag.Tensor]:
    def function(x: ag.Tensor, rank: int = 1, **keywords: Any) -> ag.Tensor:
        result: ag.Tensor = getattr(module, transform_name(op, rank))(x, **keywords)
        return result

    return function


def _by_matrices(x: Array, rank: int, sign: int = -1) -> Array:
    """Multiply by the matrix of the transform along each axis."""
    for axis in range(-rank, 0):
        index = np.arange(x.shape[axis])
        matrix = np.exp(sign * 2j * np.pi * np.outer(index, index) / max(len(index), 1))
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ matrix, -1, axis)
    return x


def _ifft(x: Array, rank: int = 1) -> Array:
    return np.asarray(_by_matrices(x, rank, 1) / max(np.prod(x.shape[-rank:]), 1))


def _resized(x: Array, sizes: list[int]) -> Array:
    out = np.zeros((*x.shape[: -len(sizes)], *sizes), x.dtype)
    common: Any = (..., *(slice(min(a, b)) for a, b in zip(sizes, x.shape[-len(sizes) :], strict=True)))
    out[common] = x[common]
    return out


def _rfft(x: Array, rank: int = 1, fft_length: list[int] | None = None) -> Array:
    x = x if fft_length is None else _resized(x, fft_length)
    return _by_matrices(x, rank)[..., : x.shape[-1] // 2 + 1]


def _irfft(x: Array, rank: int = 1, fft_length: list[int] | None = None) -> Array:
    lengths = [*x.shape[-rank:-1], max(0, 2 * (x.shape[-1] - 1))] if fft_length is None else fft_length
    last = lengths[-1]
    x = _resized(x, [*lengths[:-1], last // 2 + 1])
    if not last:
        return np.zeros((*x.shape[:-1], 0))
    if rank > 1:  # along the other axes first, for which the array is complex
        x = np.moveaxis(_ifft(np.moveaxis(x, -1, -rank), rank - 1), -rank, -1)
    # The values that stand beside their conjugates count twice.
    weights = np.array([1 if 2 * k in (0, last) else 2 for k in range(x.shape[-1])])
    matrix = np.exp(2j * np.pi * np.outer(np.arange(x.shape[-1]), np.arange(last)) / last)
    return np.asarray(((x * weights) @ matrix).real / last)


def _low_rank(op: str, dtype: str) -> tuple[ErrorSample, ...]:
    return tuple(
        invalid(
            (np.ones(shape, dtype),),
            f"{transform_name(op, rank)}: the input must be of rank {rank} or more; got shape {shape}.",
            dtype,
            rank=rank,
        )
        for rank, shape in ((1, ()), (2, (2,)), (3, (2, 2)))
    )


def _wrong_lengths(op: str, dtype: str) -> ErrorSample:
    return invalid(
        (np.ones((2, 2), dtype),),
        f"{op}2d: fft_length must have one number for each of the 2 transformed axes; got (2,).",
        dtype,
        rank=2,
        fft_length=[2],
    )


def _sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    if size < 1000:  # a reference by matrices takes squares of sizes
        yield Sample(f"shape {(size,)}", (uniform(dtype, rng, (size,), -1, 1),))
        yield Sample(f"shape {(size, 4)}", (uniform(dtype, rng, (size, 4), -1, 1),))


_COMPLEX = "complex128, complex64"

INFOS = (
    OpInfo(
        name="fft",
        function=_of_rank(fourier, "fft"),
        samples=_samples,
        sized=_sized,
        reference=lambda x, rank=1: _by_matrices(x, rank),
        errors=_low_rank("fft", "complex64"),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="ifft",
        function=_of_rank(fourier, "ifft"),
        samples=_samples,
        sized=_sized,
        reference=_ifft,
        errors=_low_rank("ifft", "complex64"),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="rfft",
        function=_of_rank(real_fourier, "rfft"),
        samples=_samples_of_lengths,
        sized=_sized,
        reference=_rfft,
        errors=(
            *_low_rank("rfft", "float32"),
            _wrong_lengths("rfft", "float32"),
            rejected("rfft", "int32", "float32, float64", (np.ones(2, np.int32),)),
        ),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="irfft",
        function=_of_rank(real_fourier, "irfft"),
        samples=_samples_of_lengths,
        sized=_sized,
        reference=_irfft,
        errors=(
            *_low_rank("irfft", "complex64"),
            _wrong_lengths("irfft", "complex64"),
            rejected("irfft", "float32", _COMPLEX, (np.ones(2, np.float32),), "complex64"),
        ),
        tolerances=_TOLERANCES,
    ),
)
