"""Mel: spectrograms on the mel scale of hearing."""

from __future__ import annotations

import math
from typing import Any

from agog_core import dtypes
from agog_core.dtypes import as_dtype
from agog_core.ops.array import cast, expand_dims, pad, range
from agog_core.ops.math import log1p, maximum, minimum
from agog_core.ops.signal.cosine import dct
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms"]


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: float = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Make the matrix by which a spectrogram is multiplied to get one on the mel scale.

    Its columns are triangles whose corners lie at equal distances on the mel scale, and overlap by half.

    Args:
        num_mel_bins: how many bands the result has.
        num_spectrogram_bins: how many bands the spectrogram has: ``fft_length // 2 + 1``.
        sample_rate: samples per second of the signal.
        lower_edge_hertz: the lowest frequency.
        upper_edge_hertz: the highest frequency.
        dtype: the dtype, of floats.

    Returns:
        A matrix of shape (num_spectrogram_bins, num_mel_bins).

    Raises:
        ValueError: a number is out of range, or the dtype is not one of floats.

    The scale is that of Young and others, "The HTK book", section 5.4: ``1127 * log(1 + hertz / 700)``.

    >>> linear_to_mel_weight_matrix(num_mel_bins=4, num_spectrogram_bins=9).shape
    TensorShape([9, 4])
    """
    kind = as_dtype(dtype)
    _check_bands(num_mel_bins, num_spectrogram_bins, sample_rate, lower_edge_hertz, upper_edge_hertz)
    if not kind.is_floating:
        raise ValueError(f"linear_to_mel_weight_matrix: dtype must be one of floats; got {kind.name}.")
    # The first band, which holds the mean of the signal, counts for nothing.
    width = sample_rate / 2 / max(num_spectrogram_bins - 1, 1)
    bands = cast(range(1, num_spectrogram_bins), dtypes.float64) * width
    mels = expand_dims(log1p(bands / 700.0) * 1127.0, 1)
    lowest, highest = (1127.0 * math.log1p(hertz / 700.0) for hertz in (lower_edge_hertz, upper_edge_hertz))
    distance = (highest - lowest) / (num_mel_bins + 1)
    lower_corners = cast(range(num_mel_bins), dtypes.float64) * distance + lowest
    rising = (mels - lower_corners) / distance
    weights = maximum(minimum(rising, 2.0 - rising), 0.0)
    return cast(pad(weights, [(1, 0), (0, 0)]), kind)


def _check_bands(mel_bins: int, spectrogram_bins: int, rate: float, lower: float, upper: float) -> None:
    for name, value in (("num_mel_bins", mel_bins), ("num_spectrogram_bins", spectrogram_bins), ("sample_rate", rate)):
        if value <= 0:
            raise ValueError(f"linear_to_mel_weight_matrix: {name} must be positive; got {value}.")
    if not 0 <= lower < upper <= rate / 2:
        raise ValueError(
            "linear_to_mel_weight_matrix: 0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate / 2 must hold; got "
            f"{lower}, {upper} and a sample_rate of {rate}."
        )


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """Mel-frequency cepstral coefficients: cosine transforms of logarithmic spectrograms on the mel scale.

    Args:
        log_mel_spectrograms: a tensor of float32 or float64 of shape (..., bands).

    Returns:
        A tensor of the input's shape and dtype. Often only the first 13 coefficients are of use.

    Raises:
        ValueError: there are no bands.
        InvalidArgumentError: the input is a scalar, or of another dtype.

    The scale is that of Young and others, "The HTK book", section 5.6.

    >>> print(mfccs_from_log_mel_spectrograms([2.0, 2.0]))
    tf.Tensor([4. 0.], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(log_mel_spectrograms)
    if x._shape and not x._shape[-1]:
        raise ValueError(f"mfccs_from_log_mel_spectrograms: there must be at least one band; got shape {x._shape}.")
    coefficients = dct(x)
    return coefficients * (1 / math.sqrt(2 * x._shape[-1]))
