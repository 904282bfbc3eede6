"""Learning phase: layers that no call tells of training learn it from the scope around them."""

from __future__ import annotations

import contextvars

import numpy as np

import agog_core as ag
from agog_layers import LSTM, BatchNormalization, Dropout, GaussianNoise, SpatialDropout1D
from agog_layers.calls.learning_phase import (
    in_test_phase,
    in_train_phase,
    learning_phase,
    learning_phase_scope,
    set_learning_phase,
)
from agog_testing import says


def test_layers_that_are_told_nothing() -> None:
    x = ag.ones([4, 50])
    for layer in (Dropout(0.5), GaussianNoise(1.0)):
        assert np.array_equal(layer(x).numpy(), x.numpy())
        with learning_phase_scope(1) as phase:
            assert (phase, learning_phase()) == (1, 1)
            assert not np.array_equal(layer(x).numpy(), x.numpy())
            assert np.array_equal(layer(x, training=False).numpy(), x.numpy())
    assert learning_phase() == 0


def test_sequences_and_moving_averages() -> None:
    x = ag.ones([2, 5, 30])
    for layer in (SpatialDropout1D(0.5), LSTM(3, dropout=0.5)):
        still = layer(x).numpy()
        with learning_phase_scope(1):
            assert not np.array_equal(layer(x).numpy(), still)
    norm = BatchNormalization(momentum=0.5)
    norm(x + 3.0)
    with learning_phase_scope(1):
        norm(x + 3.0)
    np.testing.assert_allclose(norm.moving_mean.numpy(), np.full(30, 2.0))


def test_the_phase_of_a_task_is_its_own() -> None:
    def told() -> int:
        set_learning_phase(1)
        return learning_phase()

    assert (contextvars.copy_context().run(told), learning_phase()) == (1, 0)


def test_choices() -> None:
    assert (in_train_phase(1, lambda: 2), in_test_phase(1, lambda: 2), in_train_phase(1, 2, training=True)) == (2, 1, 1)


def test_errors() -> None:
    text = "value must be 0 or 1, which stand for inference and training"
    with says(ValueError, f"set_learning_phase: {text}; got 2."):
        set_learning_phase(2)
    with says(ValueError, f"learning_phase_scope: {text}; got None."), learning_phase_scope(None):  # type: ignore[arg-type]
        pass
