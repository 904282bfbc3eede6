"""Transforms that are composed of discrete Fourier transforms, and windows, against SciPy and against sums by hand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import agog_core as ag
from agog_core.ops.signal.cosine import dct, idct
from agog_core.ops.signal.fourier import fft, ifft
from agog_core.ops.signal.framing import frame, overlap_and_add
from agog_core.ops.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from agog_core.ops.signal.real_fourier import irfft, rfft, rfft2d
from agog_core.ops.signal.spectrogram import hamming_window, hann_window, inverse_stft, inverse_stft_window_fn, stft
from agog_testing import says
from agog_testing.gradcheck import gradcheck

SEED = 20181105


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(SEED).normal(size=shape)


@pytest.mark.parametrize("name", ["hann", "hamming"])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("length", [1, 2, 5, 8, 67])
def test_windows(name: str, periodic: bool, length: int) -> None:
    window = {"hann": hann_window, "hamming": hamming_window}[name]
    # TensorFlow makes a period of windows of even length only.
    wanted = scipy.signal.get_window(name, length, fftbins=periodic and length % 2 == 0)
    for dtype, tolerance in ((ag.float32, 1e-7), (ag.float64, 1e-15)):
        out = window(length, periodic, dtype)
        assert out.dtype == dtype
        np.testing.assert_allclose(out.numpy(), wanted, atol=tolerance)


def test_an_empty_window() -> None:
    assert hann_window(0).shape == (0,)


@pytest.mark.parametrize(("length", "dtype"), [(-1, ag.float32), (3, ag.int32)])
def test_windows_of_nothing(length: int, dtype: Any) -> None:
    for window in (hann_window, hamming_window):
        with says(
            ag.errors.InvalidArgumentError,
            f"{window.__name__}: window_length must not be negative and dtype be one of floats; got {length} and "
            f"{dtype.name}.",
        ):
            window(length, dtype=dtype)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("type", [2, 3])
@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (3, 8), (0,), (0, 4), (67,)])
def test_cosine_transforms(type: int, norm: Any, shape: tuple[int, ...]) -> None:
    x = values(*shape)
    wanted = scipy.fft.dct(x, type, norm=norm) if x.size else x
    np.testing.assert_allclose(dct(x, type, norm=norm).numpy(), wanted, atol=1e-12, err_msg=f"seed {SEED}")
    scale = 1 if norm else 2 * shape[-1]
    wanted = scipy.fft.idct(x, type, norm=norm) * scale if x.size else x
    np.testing.assert_allclose(idct(x, type, norm=norm).numpy(), wanted, atol=1e-10, err_msg=f"seed {SEED}")
    assert dct(x.astype(np.float32), type, norm=norm).dtype == ag.float32


@pytest.mark.parametrize("type", [2, 3])
def test_gradient_of_cosine_transforms(type: int) -> None:
    gradcheck(lambda x: dct(x, type, norm="ortho"), [values(2, 5)], seed=SEED)


def test_cosine_transforms_that_tensorflow_does_not_have() -> None:
    for function in (dct, idct):
        name = function.__name__
        with pytest.raises(NotImplementedError, match=rf"^{name}: n must be None and axis must be -1; got 3 and -1\.$"):
            function([1.0], n=3)
        with pytest.raises(ValueError, match=rf"^{name}: type must be 2 or 3; got 1\.$"):
            function([1.0], type=1)
        with pytest.raises(ValueError, match=rf"^{name}: norm must be None or 'ortho'; got 'forward'\.$"):
            function([1.0], norm="forward")
        with says(
            ag.errors.InvalidArgumentError,
            f"{name}: input must be of float32 or float64 and have an axis; got float32 of shape ().",
        ):
            function(1.0)


def spectrogram_by_hand(x: np.ndarray, length: int, step: int, transform: int, window: np.ndarray) -> np.ndarray:
    starts = range(0, x.shape[-1] - length + 1, step)
    index = np.outer(np.arange(length), np.arange(transform // 2 + 1))
    matrix = np.exp(-2j * np.pi * index / transform)
    return np.stack([(x[..., start : start + length] * window) @ matrix for start in starts], -2)


@pytest.mark.parametrize(("length", "step", "transform"), [(4, 2, None), (5, 3, None), (4, 1, 16), (8, 8, 8)])
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_short_time_transform(length: int, step: int, transform: int | None, batch: tuple[int, ...]) -> None:
    x = values(*batch, 29)
    window = scipy.signal.get_window("hann", length, fftbins=length % 2 == 0)
    size = transform or {4: 4, 5: 8}[length]
    wanted = spectrogram_by_hand(x, length, step, size, window)
    out = stft(x, length, step, transform)
    assert out.dtype == ag.complex128
    np.testing.assert_allclose(out.numpy(), wanted, atol=1e-12, err_msg=f"seed {SEED}")
    single = stft(x.astype(np.float32), length, step, transform)
    assert single.dtype == ag.complex64
    np.testing.assert_allclose(single.numpy(), wanted, atol=2e-5, err_msg=f"seed {SEED}")


@pytest.mark.parametrize(("length", "step", "transform"), [(8, 4, None), (8, 2, 16), (6, 2, None), (6, 4, 8)])
def test_inverse_of_the_short_time_transform(length: int, step: int, transform: int | None) -> None:
    x = values(2, 64)
    out = inverse_stft(
        stft(x, length, step, transform, window_fn=hamming_window),
        length,
        step,
        transform,
        window_fn=inverse_stft_window_fn(step, hamming_window),
    ).numpy()
    inside = slice(length, out.shape[-1] - length)  # which frames cover from all sides
    np.testing.assert_allclose(out[:, inside], x[:, : out.shape[-1]][:, inside], rtol=1e-9, err_msg=f"seed {SEED}")


def test_a_short_transform_is_completed() -> None:
    """Frames longer than the transform end with zeros."""
    out = inverse_stft(np.ones((2, 3), np.complex64), 6, 6, fft_length=4, window_fn=None)
    np.testing.assert_array_equal(out.numpy(), [1, 0, 0, 0, 0, 0] * 2)


def test_gradient_of_short_time_transforms() -> None:
    gradcheck(lambda x: stft(x, 4, 2, 8), [values(9)], seed=SEED)
    x = values(3, 3) + 1j * values(3, 3).T
    gradcheck(lambda x: inverse_stft(x, 4, 2), [x], seed=SEED)


def test_frames_completed_with_a_value_and_their_gradient() -> None:
    np.testing.assert_array_equal(frame([1, 2, 3], 2, 2, pad_end=True, pad_value=9).numpy(), [[1, 2], [3, 9]])
    gradcheck(lambda x: frame(x, 3, 2, pad_end=True, axis=0), [values(6, 2)], seed=SEED)


def test_frames_that_do_not_overlap_are_put_together_again() -> None:
    x = values(2, 12)
    np.testing.assert_array_equal(overlap_and_add(frame(x, 4, 4), 4).numpy(), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transforms_keep_their_precision_and_invert_each_other(dtype: Any) -> None:
    x = values(3, 5).astype(dtype)
    wide, rtol = (ag.complex64, 1e-5) if dtype is np.float32 else (ag.complex128, 1e-12)
    assert rfft(x).dtype == fft(ag.cast(x, wide)).dtype == wide
    back = irfft(rfft(x), [5])
    assert back.dtype == ag.as_dtype(dtype)
    np.testing.assert_allclose(back.numpy(), x, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ifft(fft(ag.cast(x, wide))).numpy(), x, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(rfft2d(x).numpy(), np.fft.rfft2(x), rtol=rtol, atol=rtol)


def mel(hertz: float) -> float:
    return float(1127 * np.log(1 + hertz / 700))


@pytest.mark.parametrize(("bands", "bins", "rate", "edges"), [(20, 129, 8000, (125.0, 3800.0)), (3, 9, 100, (0, 50))])
def test_mel_weights(bands: int, bins: int, rate: float, edges: tuple[float, float]) -> None:
    corners = np.linspace(mel(edges[0]), mel(edges[1]), bands + 2)
    wanted = np.zeros((bins, bands))
    for row, hertz in enumerate(np.linspace(0, rate / 2, bins)):
        for column in range(bands):
            if row:
                wanted[row, column] = np.interp(mel(hertz), corners[column : column + 3], [0, 1, 0], 0, 0)
    out = linear_to_mel_weight_matrix(bands, bins, rate, *edges, dtype=ag.float64)
    np.testing.assert_allclose(out.numpy(), wanted, atol=1e-12)
    assert linear_to_mel_weight_matrix(bands, bins, rate, *edges).dtype == ag.float32


def test_mel_weights_of_impossible_bands() -> None:
    for arguments, text in (
        ({"num_mel_bins": 0}, "num_mel_bins must be positive; got 0."),
        ({"num_spectrogram_bins": -1}, "num_spectrogram_bins must be positive; got -1."),
        ({"sample_rate": 0}, "sample_rate must be positive; got 0."),
        (
            {"upper_edge_hertz": 5000},
            "0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate / 2 must hold; got 125.0, 5000 and a sample_rate "
            "of 8000.",
        ),
        ({"dtype": ag.int32}, "dtype must be one of floats; got int32."),
    ):
        with pytest.raises(ValueError, match=f"^linear_to_mel_weight_matrix: {re.escape(text)}$"):
            linear_to_mel_weight_matrix(**arguments)


def test_cepstral_coefficients() -> None:
    x = values(2, 3, 7)
    wanted = scipy.fft.dct(x, 2) / np.sqrt(14)
    np.testing.assert_allclose(mfccs_from_log_mel_spectrograms(x).numpy(), wanted, atol=1e-13, err_msg=f"seed {SEED}")
    gradcheck(mfccs_from_log_mel_spectrograms, [values(5)], seed=SEED)
    with pytest.raises(ValueError, match=r"there must be at least one band; got shape \(2, 0\)\.$"):
        mfccs_from_log_mel_spectrograms(np.zeros((2, 0)))
