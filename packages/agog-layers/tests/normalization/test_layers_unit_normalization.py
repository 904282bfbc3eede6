"""Normalisations without a mean, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Activation, Dense, Embedding, RMSNormalization, SpectralNormalization, UnitNormalization
from agog_testing import says

X = np.random.default_rng(2).normal(size=(2, 3, 4))


@pytest.mark.parametrize("axis", [-1, 1, [1, 2]])
def test_unit_normalization(axis: Any) -> None:
    axes = tuple(axis) if isinstance(axis, list) else axis
    wanted = X / np.sqrt((X * X).sum(axes, keepdims=True))
    np.testing.assert_allclose(UnitNormalization(axis)(ag.constant(X)).numpy(), wanted)
    assert UnitNormalization(axis).get_config()["axis"] == axis


@pytest.mark.parametrize("axis", [-1, 1, [2, 1]])
def test_rms_normalization(axis: Any) -> None:
    axes = tuple(axis) if isinstance(axis, list) else axis
    layer = RMSNormalization(axis, epsilon=1e-3)
    layer(ag.constant(X))
    scale = np.random.default_rng(5).normal(size=layer.scale.shape.as_list())
    layer.set_weights([scale])
    wanted = X / np.sqrt((X * X).mean(axes, keepdims=True) + 1e-3)
    wanted = wanted * (scale[:, None] if axis == 1 else scale)
    np.testing.assert_allclose(layer(ag.constant(X)).numpy(), wanted)


def test_spectral_normalization_divides_by_the_largest_singular_value() -> None:
    layer: Any = SpectralNormalization(Dense(3, dtype="float64"), power_iterations=50, dtype="float64")
    x = ag.constant(X[:, 0])
    layer(x, training=False)
    before = layer.layer.kernel.numpy()
    np.testing.assert_allclose(layer(x).numpy(), X[:, 0] @ before)
    layer(x, training=True)
    sigma = np.linalg.svd(before, compute_uv=False)[0]
    np.testing.assert_allclose(layer.layer.kernel.numpy(), before / sigma, rtol=1e-6)
    assert [v.shape.as_list() for v in layer.trainable_variables] == [[4, 3], [3]]


def test_spectral_normalization_of_tables() -> None:
    layer: Any = SpectralNormalization(Embedding(5, 3), power_iterations=50)
    layer(ag.constant([[1, 2]]), training=True)
    assert abs(np.linalg.svd(layer.layer.embeddings.numpy(), compute_uv=False)[0] - 1) < 1e-4


def test_spectral_normalization_says_what_is_wrong() -> None:
    with says(ValueError, "SpectralNormalization: power_iterations must be at least 1; got 0."):
        SpectralNormalization(Dense(1), 0)
    with says(ValueError, "SpectralNormalization layer 's': Activation layer 'a' has neither a kernel nor embeddings."):
        SpectralNormalization(Activation("relu", name="a"), name="s")(ag.ones([1, 2]))
