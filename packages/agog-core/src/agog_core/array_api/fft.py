"""FFT: the standard's extension for Fourier transforms.

https://data-apis.org/array-api/2025.12/extensions/fourier_transform_functions.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.array_api.manipulation import moveaxis, roll
from agog_core.array_api.promotion import scope
from agog_core.dtypes import complex64, complex128, float32, float64
from agog_core.ops.array import cast, concat, conj, pad
from agog_core.ops.array.creation import range as _range
from agog_core.ops.array.slicing import slice_along
from agog_core.ops.signal import fourier, real_fourier
from agog_core.shapes import normalize_axes, normalize_axis
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

_NORMS = ("backward", "ortho", "forward")


def _complex(x: TensorLike) -> Tensor:
    tensor = convert_to_tensor(x)
    return tensor if tensor.dtype.is_complex else cast(tensor, complex128 if tensor.dtype is float64 else complex64)


def _resized(x: Tensor, n: int) -> Tensor:
    """The last axis cropped, or padded with zeros, to a length."""
    rank, length = len(x._shape), x._shape[-1]
    if length > n:
        return slice_along(x, rank - 1, 0, n)
    return pad(x, ((0, 0),) * (rank - 1) + ((0, n - length),)) if length < n else x


def _scaled(name: str, x: Tensor, n: int, norm: str, is_inverse: bool) -> Tensor:
    """Our transforms divide by the length on the way back."""
    if norm not in _NORMS:
        raise ValueError(f"{name}: norm is {norm!r}; use one of {', '.join(_NORMS)}.")
    if norm == "backward":
        return x
    factor = n if norm == "forward" else math.sqrt(n)
    return x * (factor if is_inverse else 1 / factor)


def _along(
    name: str, x: Tensor, n: int | None, axis: int, norm: str, op: Callable[[Tensor, int], Tensor], is_inverse: bool
) -> Tensor:
    """A transform of one axis, of which the op knows the last one."""
    last = moveaxis(x, axis, -1)
    length = last._shape[-1] if n is None else n
    return moveaxis(_scaled(name, op(last, length), length, norm, is_inverse), -1, axis)


def fft(x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Discrete Fourier transform of one axis, cropped or padded with zeros at its end to `n` elements; real numbers are
    taken too. `norm` says which way divides by the length: "backward", "forward", or both by its root: "ortho".
    """
    return _along("fft", _complex(x), n, axis, norm, lambda last, size: fourier.fft(_resized(last, size)), False)


def ifft(x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """The inverse of `fft`."""
    return _along("ifft", _complex(x), n, axis, norm, lambda last, size: fourier.ifft(_resized(last, size)), True)


def rfft(x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """The first half, `n // 2 + 1` numbers, of the `fft` of real numbers; the other half are its conjugates."""
    tensor = convert_to_tensor(x)
    return _along("rfft", tensor, n, axis, norm, lambda last, size: real_fourier.rfft(last, [size]), False)


def irfft(x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """The inverse of `rfft`: `n` real numbers, by default the even count that the input can come from."""
    tensor = _complex(x)
    length = 2 * (tensor._shape[axis] - 1) if n is None else n
    return _along("irfft", tensor, length, axis, norm, lambda last, size: real_fourier.irfft(last, [size]), True)


def hfft(x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """The `fft` of numbers of which the second half, the first one's conjugates, is not given: `n` real numbers."""
    return irfft(conj(_complex(x)), n=n, axis=axis, norm=_opposite(norm))


def ihfft(x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """The inverse of `hfft`: `n // 2 + 1` complex numbers."""
    return conj(rfft(x, n=n, axis=axis, norm=_opposite(norm)))


def _opposite(norm: str) -> str:
    return {"backward": "forward", "forward": "backward"}.get(norm, norm)


def _lengths(x: Tensor, s: Sequence[int] | None, axes: Sequence[int] | None) -> list[tuple[int, int]]:
    """Pairs of an axis and its length."""
    rank = len(x._shape)
    if axes is None:
        axes = range(rank) if s is None else range(rank - len(s), rank)
    where = [normalize_axis("fftn", axis, rank) for axis in axes]
    return list(zip(where, s if s is not None else [x._shape[axis] for axis in where], strict=True))


def fftn(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> Tensor:
    """Discrete Fourier transform over several axes: the last `len(s)` ones by default, or all."""
    tensor = _complex(x)
    for axis, n in _lengths(tensor, s, axes):
        tensor = fft(tensor, n=n, axis=axis, norm=norm)
    return tensor


def ifftn(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> Tensor:
    """The inverse of `fftn`."""
    tensor = _complex(x)
    for axis, n in _lengths(tensor, s, axes):
        tensor = ifft(tensor, n=n, axis=axis, norm=norm)
    return tensor


def rfftn(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> Tensor:
    """The half of the `fftn` of real numbers that tells all: `rfft` over the last axis, `fft` over the others."""
    tensor = convert_to_tensor(x)
    *others, (last, n) = _lengths(tensor, s, axes)
    tensor = rfft(tensor, n=n, axis=last, norm=norm)
    for axis, n in others:
        tensor = fft(tensor, n=n, axis=axis, norm=norm)
    return tensor


def irfftn(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> Tensor:
    """The inverse of `rfftn`: real numbers, by default an even count along the last of the axes."""
    tensor = _complex(x)
    *others, (last, n) = _lengths(tensor, s, axes)
    for axis, length in others:
        tensor = ifft(tensor, n=length, axis=axis, norm=norm)
    return irfft(tensor, n=None if s is None else n, axis=last, norm=norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Tensor:
    """The frequencies of the values of an `fft`: first those from 0, then the negative ones; float32 by default."""
    with scope(device):
        counts = concat([_range((n - 1) // 2 + 1), _range(-(n // 2), 0)], 0)
        return cast(counts, dtype or float32) * (1 / (n * d))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None) -> Tensor:
    """The frequencies of the values of an `rfft`; float32 by default."""
    with scope(device):
        return cast(_range(n // 2 + 1), dtype or float32) * (1 / (n * d))


def fftshift(x: TensorLike, /, *, axes: Any = None) -> Tensor:
    """The frequency 0 moved to the middle."""
    tensor = convert_to_tensor(x)
    where = normalize_axes("fftshift", axes, len(tensor._shape))
    return roll(tensor, tuple(tensor._shape[axis] // 2 for axis in where), axis=where)


def ifftshift(x: TensorLike, /, *, axes: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    tensor = convert_to_tensor(x)
    where = normalize_axes("ifftshift", axes, len(tensor._shape))
    return roll(tensor, tuple(-(tensor._shape[axis] // 2) for axis in where), axis=where)
