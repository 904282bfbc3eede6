"""Cosine: discrete cosine transforms."""

from __future__ import annotations

import math
from typing import Any

from agog_core import dtypes
from agog_core.calls.docstrings import documented_like
from agog_core.dtypes import DType
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, complex, conj, range, real, zeros_like
from agog_core.ops.math import cos, equal, sin
from agog_core.ops.signal.real_fourier import irfft, rfft
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["dct", "idct"]


def dct(
    input: TensorLike, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """Discrete cosine transform over the last axis.

    Args:
        input: a tensor of float32 or float64 of shape (..., samples).
        type: 2 for ``2 * sum(input[n] * cos(pi * k * (2 * n + 1) / (2 * N)))``; 3 for its inverse times ``2 * N``,
            which is ``input[0] + 2 * sum(input[n] * cos(pi * n * (2 * k + 1) / (2 * N)))`` with the sum from 1.
        n: must be None, as in TensorFlow.
        axis: must be -1, as in TensorFlow.
        norm: None, or ``"ortho"`` to scale so that the transform is orthogonal and that of type 3 is its inverse.

    Returns:
        A tensor of the input's shape and dtype.

    Raises:
        NotImplementedError: ``n`` is not None, or ``axis`` not -1.
        ValueError: ``type`` or ``norm`` is none of those above.
        InvalidArgumentError: the input is a scalar, or of another dtype.

    The method is that of Makhoul, "A fast cosine transform in one and two dimensions", 1980.

    >>> print(dct([1.0, 1.0]))
    tf.Tensor([4. 0.], shape=(2,), dtype=float32)
    """
    return _transform("dct", input, type, n, axis, norm)


@documented_like(dct)
def idct(
    input: TensorLike, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """Inverse discrete cosine transform over the last axis.

    Args:
        type: 2 for the inverse of `dct` of type 2, which is type 3, and the other way round; without ``norm`` it is the
            inverse times ``2 * N``.
        norm: None, or ``"ortho"`` for the inverse of the orthogonal transform.

    >>> print(idct([4.0, 0.0]))
    tf.Tensor([4. 4.], shape=(2,), dtype=float32)
    """
    return _transform("idct", input, {2: 3, 3: 2}.get(type, type), n, axis, norm)


def _transform(op: str, input: TensorLike, type: int, n: Any, axis: int, norm: str | None) -> Tensor:
    if n is not None or axis != -1:
        raise NotImplementedError(f"{op}: n must be None and axis must be -1; got {n} and {axis}.")
    if type not in (2, 3):
        raise ValueError(f"{op}: type must be 2 or 3; got {type}.")
    if norm not in (None, "ortho"):
        raise ValueError(f"{op}: norm must be None or 'ortho'; got {norm!r}.")
    x = convert_to_tensor(input)
    if not x._shape or x.dtype not in (dtypes.float32, dtypes.float64):
        raise InvalidArgumentError(
            f"{op}: input must be of float32 or float64 and have an axis; got {x.dtype.name} of shape {x._shape}."
        )
    if not x._shape[-1]:
        return x
    return _second(x, norm) if type == 2 else _third(x, norm)


def _second(x: Tensor, norm: str | None) -> Tensor:
    length = x._shape[-1]
    spectrum = rfft(x, [2 * length])[..., :length]
    out = real(spectrum * conj(_quarter_turns(length, x.dtype)))
    return out if norm is None else out * _weights(length, 0.5 / math.sqrt(length), math.sqrt(0.5 / length), x.dtype)


def _third(x: Tensor, norm: str | None) -> Tensor:
    length = x._shape[-1]
    scale = length if norm is None else _weights(length, math.sqrt(length), math.sqrt(0.5 * length), x.dtype)
    scaled = x * scale
    spectrum = complex(scaled, zeros_like(scaled)) * _quarter_turns(length, x.dtype)
    return irfft(spectrum, [2 * length])[..., :length]


def _quarter_turns(length: int, dtype: DType) -> Tensor:
    """Two times ``exp(1j * pi * k / (2 * length))``."""
    angles = cast(range(length), dtypes.float64) * (math.pi / 2 / length)
    return complex(cast(cos(angles) * 2, dtype), cast(sin(angles) * 2, dtype))


def _weights(length: int, first: float, others: float, dtype: DType) -> Tensor:
    """A vector of one number, but another one at its start."""
    return others - cast(equal(range(length), 0), dtype) * (others - first)
