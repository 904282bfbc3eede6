"""Output padding of transposed convolutions, and padded windows with kernels of their own."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Conv2DTranspose, LocallyConnected1D
from agog_testing import says


@pytest.mark.parametrize(("padding", "size"), [("valid", 8), ("same", 6)])
def test_output_padding(padding: str, size: int) -> None:
    """Each input is spread over a window; what is padded at the end is reached by the last window, or is zero."""
    layer = Conv2DTranspose(1, 3, strides=2, padding=padding, output_padding=1, kernel_initializer="ones")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 3, 3, 1)).astype(np.float32)
    full = np.zeros((9, 9))
    for row in range(3):
        for column in range(3):
            full[2 * row : 2 * row + 3, 2 * column : 2 * column + 3] += x[0, row, column, 0]
    expected = full[:8, :8] if padding == "valid" else full[:6, :6]
    found = layer(ag.constant(x)).numpy()[0, ..., 0]
    assert found.shape == (size, size)
    assert layer.compute_output_shape((1, 3, 3, 1)).as_list() == [1, size, size, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert Conv2DTranspose.from_config(layer.get_config()).output_padding == (1, 1)


def test_errors() -> None:
    for make, text in (
        (
            lambda: Conv2DTranspose(1, 3, strides=2, output_padding=2),
            "Conv2DTranspose: output_padding must be less than strides along each axis; got (2, 2) for strides (2, 2).",
        ),
        (
            lambda: LocallyConnected1D(1, 3, padding="same"),
            "LocallyConnected1D: padding must be 'valid'; got 'same'.",
        ),
        (
            lambda: LocallyConnected1D(1, 3, implementation=3),
            "LocallyConnected1D: implementation must be 1 or 2; got 3.",
        ),
    ):
        with says(ValueError, text):
            make()


def test_local_windows_that_are_padded() -> None:
    layer = LocallyConnected1D(2, 3, padding="same", implementation=2, use_bias=False)
    x = np.random.default_rng(1).normal(size=(2, 5, 4)).astype(np.float32)
    found = layer(ag.constant(x)).numpy()
    padded = np.pad(x, [(0, 0), (1, 1), (0, 0)])
    kernel = layer.kernel.numpy()
    for place in range(5):
        window = padded[:, place : place + 3].reshape(2, -1)
        np.testing.assert_allclose(found[:, place], window @ kernel[place], rtol=1e-5, atol=1e-6)
