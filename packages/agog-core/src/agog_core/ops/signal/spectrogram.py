"""Spectrogram: short-time Fourier transforms, and the windows for them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from agog_core import dtypes
from agog_core.dtypes import DType, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, ones, pad, range, reshape, tile
from agog_core.ops.math.elementary import cos, square
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.ops.signal.framing import frame, overlap_and_add
from agog_core.ops.signal.real_fourier import irfft, rfft
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["hamming_window", "hann_window", "inverse_stft", "inverse_stft_window_fn", "stft"]

Window = Callable[..., Tensor]


def hann_window(
    window_length: Any, periodic: bool = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Make a Hann window: a cosine raised to between 0 and 1.

    Args:
        window_length: the number of samples.
        periodic: whether a window of even length is one period, which would begin again with the next sample, rather
            than symmetric. One of odd length is symmetric always, as in TensorFlow.
        dtype: the dtype, of floats.

    Returns:
        A vector.

    Raises:
        InvalidArgumentError: the length is negative, or the dtype is not one of floats.

    >>> print(hann_window(4))
    tf.Tensor([0.  0.5 1.  0.5], shape=(4,), dtype=float32)
    """
    return _raised_cosine("hann_window", window_length, periodic, as_dtype(dtype), 0.5)


def hamming_window(
    window_length: Any, periodic: bool = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Make a Hamming window: a cosine raised to between 0.08 and 1; see `hann_window`.

    >>> print(hamming_window(4))
    tf.Tensor([0.08 0.54 1.   0.54], shape=(4,), dtype=float32)
    """
    return _raised_cosine("hamming_window", window_length, periodic, as_dtype(dtype), 0.54)


def _raised_cosine(op: str, window_length: Any, periodic: bool, dtype: DType, mean: float) -> Tensor:
    length = operator.index(host_value(window_length)[()])
    if length < 0 or not dtype.is_floating:
        raise InvalidArgumentError(
            f"{op}: window_length must not be negative and dtype be one of floats; got {length} and {dtype.name}."
        )
    if length == 1:
        return ones((1,), dtype)
    period = length if periodic and length % 2 == 0 else length - 1
    # In float64, so that the last bit does not depend on the device's float32 cosine.
    angles = cast(range(length), dtypes.float64) * (2 * math.pi / max(period, 1))
    return cast(mean - cos(angles) * (1 - mean), dtype)


def stft(
    signals: TensorLike,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Short-time Fourier transform: the discrete Fourier transforms of overlapping frames.

    Args:
        signals: a tensor of float32 or float64 of shape (..., samples).
        frame_length: the number of samples in a frame.
        frame_step: the number of samples from the start of a frame to that of the next.
        fft_length: the length of the transform, for which frames are cropped or padded with zeros; by default the
            smallest power of two that is not less than ``frame_length``.
        window_fn: takes a length and ``dtype`` and returns what frames are multiplied by; None for no window.
        pad_end: whether the last frames, which are not full, are completed with zeros; otherwise they are left out.

    Returns:
        A tensor of shape (..., frames, fft_length // 2 + 1), of complex64 for float32 and complex128 for float64.

    Raises:
        InvalidArgumentError: the signals are a scalar, or a number is not positive.

    >>> stft([1.0, 2.0, 3.0, 4.0], frame_length=2, frame_step=1).shape
    TensorShape([3, 2])
    """
    x = convert_to_tensor(signals)
    length = operator.index(host_value(frame_length)[()])
    frames = frame(x, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=x.dtype)
    return rfft(frames, [_transform_length(length, fft_length)])


def _transform_length(frame_length: int, fft_length: Any) -> int:
    if fft_length is not None:
        return operator.index(host_value(fft_length)[()])
    return 1 << (frame_length - 1).bit_length()


def inverse_stft(
    stfts: TensorLike,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Put the signals of a short-time Fourier transform together again.

    They are the signals, where frames cover them from all sides, when ``window_fn`` is what `inverse_stft_window_fn`
    makes of the window of `stft`, or when the squares of the windows that overlap add up to one.

    Args:
        stfts: a tensor of complex64 or complex128 of shape (..., frames, fft_length // 2 + 1).
        frame_length: the number of samples in a frame.
        frame_step: the number of samples from the start of a frame to that of the next.
        fft_length: the length of the transform; by default the smallest power of two that is not less than
            ``frame_length``.
        window_fn: takes a length and ``dtype`` and returns what frames are multiplied by; None for no window.

    Returns:
        A tensor of shape (..., (frames - 1) * frame_step + frame_length), of float32 or float64.

    Raises:
        InvalidArgumentError: the rank is below 2, or ``frame_step`` is not positive.

    >>> spectrogram = stft([1.0, 2.0, 3.0, 4.0], frame_length=2, frame_step=2, window_fn=None)
    >>> print(inverse_stft(spectrogram, frame_length=2, frame_step=2, window_fn=None))
    tf.Tensor([1. 2. 3. 4.], shape=(4,), dtype=float32)
    """
    x = convert_to_tensor(stfts)
    length = operator.index(host_value(frame_length)[()])
    frames = irfft(x, [_transform_length(length, fft_length)])[..., :length]
    if missing := length - frames._shape[-1]:
        frames = pad(frames, [*[(0, 0)] * (len(frames._shape) - 1), (0, missing)])
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None) -> Window:
    """Make the window for `inverse_stft` which undoes that of `stft`.

    Args:
        frame_step: the number of samples from the start of a frame to that of the next.
        forward_window_fn: the ``window_fn`` of `stft`.

    Returns:
        A function for the ``window_fn`` of `inverse_stft`.

    The window is that of Griffin and Lim, "Signal estimation from modified short-time Fourier transform", 1984.

    >>> print(inverse_stft_window_fn(1)(2, dtype="float32"))
    tf.Tensor([0. 1.], shape=(2,), dtype=float32)
    """
    step = operator.index(host_value(frame_step)[()])

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        length = operator.index(host_value(frame_length)[()])
        window = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = reshape(pad(square(window), [(0, overlaps * step - length)]), (overlaps, step))
        totals = tile(reduce_sum(squares, 0), [overlaps])
        return window / totals[:length]

    return inverse_window
