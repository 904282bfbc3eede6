"""Ops over every n-th element, against convolutions whose windows have holes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.convolutions import conv2d
from agog_core.ops.conv.space_to_batch import with_space_to_batch
from agog_testing import says

SEED = 2


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("rates", [[1, 1], [2, 3]])
def test_holes_in_windows(padding: str, rates: list[int]) -> None:
    rng = np.random.default_rng(SEED)
    x, window = rng.normal(size=(2, 9, 10, 3)), rng.normal(size=(2, 3, 3, 2))
    calls: list[tuple[int, str]] = []

    def convolve(tensor: Any, axes: int, padding: str) -> Any:
        calls.append((axes, padding))
        return conv2d(tensor, window, [1, 1, 1, 1], padding)

    got = with_space_to_batch(x, rates, padding, convolve, window.shape)
    expected = conv2d(x, window, [1, 1, 1, 1], padding, dilations=[1, *rates, 1])
    np.testing.assert_allclose(got.numpy(), expected.numpy(), atol=1e-12, err_msg=f"seed {SEED}")
    assert calls == [(2, padding if rates == [1, 1] else "VALID")]


def test_channels_first_and_chosen_axes() -> None:
    x = np.arange(24.0).reshape(1, 2, 12)

    def pairs(tensor: Any, axes: int, padding: str) -> Any:
        return tensor[..., 1:] + tensor[..., :-1]

    expected = x[..., 3:] + x[..., :-3]
    for options in ({"data_format": "NCW"}, {"spatial_dims": [2]}):
        got = with_space_to_batch(x, [3], "VALID", pairs, **options)
        assert got.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ([1], "FULL"),
            "with_space_to_batch: padding must be 'SAME' or 'VALID' and the rates at least 1; got 'FULL' and [1].",
        ),
        (
            ([0], "SAME"),
            "with_space_to_batch: padding must be 'SAME' or 'VALID' and the rates at least 1; got 'SAME' and [0].",
        ),
        (
            ([2, 2], "VALID"),
            "with_space_to_batch: 2 rates need as many spatial axes of an input of shape (1, 4); got [1, 2].",
        ),
        (([2], "SAME"), "with_space_to_batch: padding 'SAME' needs filter_shape."),
    ],
)
def test_errors(arguments: tuple[Any, ...], text: str) -> None:
    with says(InvalidArgumentError, text):
        with_space_to_batch(ag.ones([1, 4]), *arguments, lambda x, axes, padding: x)
