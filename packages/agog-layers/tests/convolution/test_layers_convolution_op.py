"""Convolutions whose kernel a subclass changes on its way, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Conv1D, Conv2D, Conv3D

AXES = {Conv1D: 1, Conv2D: 2, Conv3D: 3}


def standardized(kind: Any) -> Any:
    class Standardized(kind):  # type: ignore[misc]
        """As others write it: each filter with mean 0 and variance 1."""

        def convolution_op(self, inputs: ag.Tensor, kernel: ag.Tensor) -> Any:
            self.shapes = inputs.shape.as_list(), kernel.shape.as_list()
            axes = list(range(len(kernel.shape) - 1))
            mean = ag.reduce_mean(kernel, axes, keepdims=True)
            variance = ag.reduce_mean((kernel - mean) ** 2.0, axes, keepdims=True)
            return super().convolution_op(inputs, (kernel - mean) / ag.sqrt(variance + 1e-5))

    return Standardized


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("kind", [Conv1D, Conv2D, Conv3D])
def test_a_subclass_changes_the_kernel(kind: Any, data_format: str) -> None:
    axes, random = AXES[kind], np.random.default_rng(7)
    x = random.normal(size=(2, *[4] * axes, 3))
    kernel, bias = random.normal(size=(*[2] * axes, 3, 5)), random.normal(size=5)
    given = x if data_format == "channels_last" else np.moveaxis(x, -1, 1)
    layer = standardized(kind)(5, 2, data_format=data_format, activation="relu", dtype="float64")
    layer(given)
    layer.set_weights([kernel, bias])
    out = layer(given).numpy()

    rows = kernel.reshape(-1, 5)
    changed = ((rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-5)).reshape(kernel.shape)
    wanted = np.zeros((2, *[3] * axes, 5))
    for place in np.ndindex(*[3] * axes):
        window = x[(slice(None), *(slice(p, p + 2) for p in place))]
        wanted[(slice(None), *place)] = np.tensordot(window, changed, axes + 1) + bias
    wanted = np.maximum(wanted, 0)
    np.testing.assert_allclose(out, wanted if given is x else np.moveaxis(wanted, -1, 1), rtol=1e-11, atol=1e-12)
    assert layer.shapes == (list(given.shape), list(kernel.shape))


def test_gradients_go_through_the_changed_kernel() -> None:
    layer = standardized(Conv1D)(1, 2, use_bias=False, dtype="float64")
    x, kernel = np.array([[[1.0], [-2.0], [4.0]]]), np.array([[[0.3]], [[1.1]]])

    def loss(kernel: Any) -> float:
        changed = (kernel - kernel.mean()) / np.sqrt(kernel.var() + 1e-5)
        first = x[0, 0, 0] * changed[0, 0, 0] + x[0, 1, 0] * changed[1, 0, 0]
        second = x[0, 1, 0] * changed[0, 0, 0] + x[0, 2, 0] * changed[1, 0, 0]
        return float(first**2 + second**2)

    layer(x)
    layer.set_weights([kernel])
    with ag.GradientTape() as tape:
        total = ag.reduce_sum(layer(x) ** 2.0)
    (gradient,) = tape.gradient(total, layer.trainable_variables)
    steps = [np.reshape(row, kernel.shape) * 1e-6 for row in np.eye(2)]
    wanted = [(loss(kernel + step) - loss(kernel - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient.numpy().reshape(-1), wanted, rtol=1e-4, atol=1e-7)


def test_a_causal_convolution_is_given_what_is_not_padded() -> None:
    layer = standardized(Conv1D)(2, 3, padding="causal")
    assert layer(ag.ones([1, 5, 2])).shape == (1, 5, 2)
    assert layer.shapes == ([1, 5, 2], [3, 2, 2])


def test_an_op_of_its_own_takes_the_place_of_the_convolution() -> None:
    class Sums(Conv2D):
        def convolution_op(self, inputs: ag.Tensor, kernel: ag.Tensor) -> ag.Tensor:
            return ag.reduce_sum(inputs, 3, keepdims=True) * ag.reduce_sum(kernel, [0, 1, 2])

    layer = Sums(2, 1, kernel_initializer="ones", bias_initializer="ones")
    assert layer(np.full((1, 1, 1, 3), 2.0)).numpy().tolist() == [[[[19.0, 19.0]]]]
