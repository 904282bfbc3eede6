"""Locally connected layers, against loops in NumPy and numerical differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import LocallyConnected1D, LocallyConnected2D
from agog_testing import says

SEED = 61


def oracle(layer: Any, x: Any, kernel: Any, bias: Any) -> Any:
    """Channels last; the kernel's features are in the order of the layer's data format."""
    counts = bias.shape[:-1]
    out = np.zeros((len(x), *bias.shape))
    for number, place in enumerate(np.ndindex(*counts)):
        at = zip(place, layer.kernel_size, layer.strides, strict=True)
        seen = x[(slice(None), *[slice(p * s, p * s + n) for p, n, s in at])]
        seen = np.moveaxis(seen, -1, 1) if layer.data_format == "channels_first" else seen
        out[(slice(None), *place)] = seen.reshape(len(x), -1) @ kernel[number] + bias[place]
    return out


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize(
    ("kind", "shape", "arguments"),
    [
        (LocallyConnected1D, (2, 7, 3), {"kernel_size": 3}),
        (LocallyConnected1D, (2, 7, 1), {"kernel_size": 2, "strides": 2}),
        (LocallyConnected2D, (2, 4, 5, 3), {"kernel_size": (2, 3)}),
        (LocallyConnected2D, (2, 5, 5, 2), {"kernel_size": 2, "strides": (2, 1)}),
    ],
)
def test_values_and_gradients(
    kind: Any, shape: tuple[int, ...], arguments: dict[str, Any], data_format: str, check_gradients: Callable[..., None]
) -> None:
    numbers = np.random.default_rng(SEED)
    x = numbers.normal(size=shape)
    given = np.moveaxis(x, -1, 1) if data_format == "channels_first" else x
    layer = kind(2, **arguments, data_format=data_format)
    got = layer(ag.constant(given))
    assert layer.compute_output_shape(given.shape) == got.shape
    weights = [numbers.normal(size=variable.shape.as_list()) for variable in layer.variables]
    for variable, weight in zip(layer.variables, weights, strict=True):
        variable.assign(weight)
    expected = oracle(layer, x, *weights)
    expected = np.moveaxis(expected, -1, 1) if data_format == "channels_first" else expected
    np.testing.assert_allclose(layer(ag.constant(given)).numpy(), expected, rtol=1e-11, err_msg=f"seed {SEED}")
    check_gradients(layer, [given[:1]], layer.variables[1:])


def test_weights_as_keras_has_them() -> None:
    layer = LocallyConnected2D(4, 3, name="l")
    layer.build((None, 5, 6, 2))
    assert {v.name: v.shape.as_list() for v in layer.weights} == {"l/kernel:0": [12, 18, 4], "l/bias:0": [3, 4, 4]}


def test_errors() -> None:
    with says(ValueError, "LocallyConnected2D: padding must be 'valid'; got 'same'."):
        LocallyConnected2D(4, 3, padding="same")
    with says(
        ValueError,
        "LocallyConnected2D layer 'l' needs known sizes, since each place has a kernel of its own; got shape "
        "(?, ?, 6, 2).",
    ):
        LocallyConnected2D(4, 3, name="l").build((None, None, 6, 2))
    layer = LocallyConnected1D(4, 3, name="l")
    layer(ag.zeros([1, 5, 2]))
    with says(
        ValueError,
        "LocallyConnected1D layer 'l' takes inputs whose sizes along its axes are (5,), since each place has a kernel "
        "of its own; got (6,).",
    ):
        layer(ag.zeros([1, 6, 2]))
    with says(
        ValueError,
        "LocallyConnected1D layer 'l' takes inputs of shape (batch, steps, 2) (channels_last); got shape (1, 5, 3).",
    ):
        layer(ag.zeros([1, 5, 3]))
