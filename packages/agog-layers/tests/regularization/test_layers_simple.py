"""Flatten, Dropout and Activation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import (
    Activation,
    AlphaDropout,
    Dropout,
    Flatten,
    GaussianDropout,
    Input,
    SpatialDropout2D,
    dropout,
    flatten,
)
from agog_testing import says


@pytest.mark.parametrize("shape", [(2,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (0, 3, 4), (2, 0, 3)])
def test_flatten(shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    expected = x.reshape(shape[0], int(np.prod(shape[1:], dtype=int)))
    for got in (Flatten()(x), flatten(x)):
        assert got.dtype == ag.int64
        np.testing.assert_array_equal(got.numpy(), expected)


def test_flatten_channels_first() -> None:
    x = np.arange(24).reshape(1, 2, 3, 4)
    expected = x.transpose(0, 2, 3, 1).reshape(1, -1)
    np.testing.assert_array_equal(Flatten("channels_first")(x).numpy(), expected)
    np.testing.assert_array_equal(
        flatten(x[0], data_format="channels_first").numpy(), x[0].transpose(0, 2, 1).reshape(2, -1)
    )


def test_flatten_errors() -> None:
    with says(ValueError, "flatten: the input must have a batch axis; got a scalar of shape ()."):
        flatten(ag.constant(1.0))
    with says(ValueError, "flatten: data_format must be one of channels_last, channels_first; got 'NHWC'."):
        Flatten("NHWC")
    with says(
        ValueError,
        "flatten: data_format must be one of channels_last, channels_first; got "
        "<Symbolic 'x' shape=(?, 3) dtype=float32>.",
    ):
        Flatten(Input((3,), name="x"))  # type: ignore[arg-type]


def test_output_shapes() -> None:
    assert Flatten().compute_output_shape((None, 2, 3)) == ag.TensorShape([None, 6])
    assert Flatten().compute_output_shape((None, None, 3)) == ag.TensorShape([None, None])
    assert Dropout().compute_output_shape((None, 2)) == ag.TensorShape([None, 2])
    assert Activation("relu").compute_output_shape((None, 2)) == ag.TensorShape([None, 2])


def test_dropout_only_while_training() -> None:
    x = ag.ones([10])
    layer = Dropout(0.4)
    for training in (None, False, 0, ag.constant(False)):
        assert layer(x, training=training) is x
    assert layer(x) is dropout(x) is x


@pytest.mark.parametrize("rate", [0.25, 0.5, 0.9])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dropout_rate(rate: float, dtype: str) -> None:
    ag.set_random_seed(60)
    y = Dropout(rate)(ag.ones([20000], dtype), training=True)
    assert y.dtype == dtype
    kept = y.numpy() != 0
    np.testing.assert_allclose(y.numpy()[kept], 1 / (1 - rate), rtol=1e-6)
    assert kept.mean() == pytest.approx(1 - rate, abs=0.015)


def test_dropout_default_rate() -> None:
    assert Dropout().rate == 0.5
    assert set(dropout(ag.ones([100]), training=True).numpy().tolist()) == {0.0, 2.0}


def test_dropout_gradient_is_its_mask() -> None:
    x = ag.ones([50])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = Dropout(0.5)(x, training=ag.constant(True))
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())


def test_dropout_draws_anew_and_reproduces() -> None:
    def run() -> list[np.ndarray]:
        ag.set_random_seed(3)
        layer = Dropout(0.5, seed=1)
        return [layer(ag.ones([64]), training=True).numpy() for _ in range(2)]

    first, second = run(), run()
    assert not np.array_equal(first[0], first[1])
    np.testing.assert_array_equal(first, second)


def test_dropout_noise_shape() -> None:
    y = Dropout(0.5, noise_shape=(None, 1), seed=2)(ag.ones([64, 3]), training=True).numpy()
    assert set(y[:, 0].tolist()) == {0.0, 2.0}
    np.testing.assert_array_equal(y, np.repeat(y[:, :1], 3, axis=1))


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5])
def test_dropout_rate_out_of_range(rate: float) -> None:
    with says(ValueError, f"Dropout: rate must be in [0, 1), since it is the share that is dropped; got {rate}."):
        Dropout(rate)


@pytest.mark.parametrize("kind", [Dropout, AlphaDropout, GaussianDropout, SpatialDropout2D])
def test_a_rate_is_a_number(kind: Any) -> None:
    x = Input((3,), name="x")
    for rate, shown in [("0.5", "'0.5' of type str"), (None, "None of type NoneType"), (x, f"{x!r} of type Symbolic")]:
        with says(TypeError, f"{kind.__name__}: rate must be a number; got {shown}."):
            kind(rate)
    with says(ValueError, "Mine: rate must be in [0, 1), since it is the share that is dropped; got 2."):
        type("Mine", (kind,), {})(2)


def test_activation_layer() -> None:
    x = ag.constant([-1.0, 2.0])
    assert Activation("relu")(x).numpy().tolist() == [0.0, 2.0]
    assert Activation(ag.negative)(x).numpy().tolist() == [1.0, -2.0]
    assert Activation("linear")(x) is x
