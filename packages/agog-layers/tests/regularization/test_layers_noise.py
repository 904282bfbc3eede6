"""Layers that add noise: their distributions, and that they do nothing when not training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import (
    AlphaDropout,
    GaussianDropout,
    GaussianNoise,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from agog_testing import says

SEED = 41


@pytest.fixture(autouse=True)
def _seeded() -> None:
    ag.set_random_seed(SEED)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (GaussianNoise(0.5), (3, 2)),
        (GaussianDropout(0.5), (3, 2)),
        (AlphaDropout(0.5), (3, 2)),
        (SpatialDropout1D(0.5), (2, 3, 4)),
        (SpatialDropout2D(0.5), (2, 3, 4, 5)),
        (SpatialDropout3D(0.5), (2, 3, 4, 5, 6)),
    ],
)
def test_only_while_training(layer: Any, shape: tuple[int, ...]) -> None:
    x = ag.ones(shape)
    for training in (None, False, 0, ag.constant(False)):
        assert layer(x, training=training) is x
    y = layer(x, training=True)
    assert y.shape == shape
    assert not np.array_equal(y.numpy(), x.numpy())
    assert not np.array_equal(y.numpy(), layer(x, training=ag.constant(True)).numpy())
    assert layer.compute_output_shape((None, *shape[1:])).as_list() == [None, *shape[1:]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gaussian_noise(dtype: str) -> None:
    y = GaussianNoise(0.25)(ag.ones([40000], dtype), training=True)
    assert y.dtype == dtype
    assert y.numpy().mean() == pytest.approx(1, abs=0.005), f"seed {SEED}"
    assert y.numpy().std() == pytest.approx(0.25, rel=0.02), f"seed {SEED}"


def test_gaussian_dropout() -> None:
    y = GaussianDropout(0.2)(2 * ag.ones([40000]), training=True).numpy()
    assert y.mean() == pytest.approx(2, abs=0.02), f"seed {SEED}"
    assert y.std() == pytest.approx(2 * np.sqrt(0.2 / 0.8), rel=0.02), f"seed {SEED}"


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_alpha_dropout_keeps_mean_and_variance(rate: float) -> None:
    x = ag.random_normal([100000])
    y = AlphaDropout(rate)(x, training=True).numpy()
    assert y.mean() == pytest.approx(0, abs=0.02), f"seed {SEED}"
    assert y.var() == pytest.approx(1, abs=0.03), f"seed {SEED}"
    values, counts = np.unique(y, return_counts=True)
    assert counts.max() / y.size == pytest.approx(rate, abs=0.01)
    factor = 1 / np.sqrt((1 - rate) * (1 + rate * 1.7580993408473766**2))
    assert values[counts.argmax()] == pytest.approx(-1.7580993408473766 * factor * (1 - rate), rel=1e-5)


def test_alpha_dropout_noise_shape() -> None:
    y = AlphaDropout(0.5, noise_shape=(None, 1), seed=2)(ag.ones([64, 3]), training=True).numpy()
    assert len(np.unique(y)) == 2
    np.testing.assert_array_equal(y, np.repeat(y[:, :1], 3, axis=1))


@pytest.mark.parametrize(("kind", "axes"), [(SpatialDropout1D, 1), (SpatialDropout2D, 2), (SpatialDropout3D, 3)])
def test_whole_channels_are_dropped(kind: Any, axes: int) -> None:
    y = kind(0.25)(ag.ones([30, *[2] * axes, 40]), training=True).numpy()
    assert set(np.unique(y).tolist()) == {0.0, np.float32(4 / 3)}
    channels = y.reshape(30, -1, 40)
    assert (channels == channels[:, :1]).all()
    assert (channels[:, 0] > 0).mean() == pytest.approx(0.75, abs=0.05), f"seed {SEED}"
    if axes > 1:
        y = kind(0.5, data_format="channels_first")(ag.ones([3, 40, *[2] * axes]), training=True).numpy()
        channels = y.reshape(3, 40, -1)
        assert (channels == channels[..., :1]).all()
        assert 0 < (channels > 0).mean() < 1


@pytest.mark.parametrize("kind", [GaussianDropout, AlphaDropout, SpatialDropout2D])
def test_rates(kind: Any) -> None:
    with says(ValueError, f"{kind.__name__}: rate must be in [0, 1), since it is the share that is dropped; got 1.0."):
        kind(1.0)


def test_ranks_and_dtypes() -> None:
    with says(
        ValueError,
        "SpatialDropout1D layer 's' takes inputs of shape (batch, steps, channels) (channels_last); got shape (2, 3).",
    ):
        SpatialDropout1D(0.5, name="s")(ag.ones([2, 3]))
    with says(
        TypeError,
        "GaussianNoise layer 'g' takes floats; got an input of dtype int32 and shape (2,). Cast it with "
        "tf.cast(x, tf.float32).",
    ):
        GaussianNoise(0.5, name="g")(ag.ones([2], "int32"))
