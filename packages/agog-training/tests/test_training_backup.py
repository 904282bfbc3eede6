"""A training that is interrupted goes on from its backup, and ends with the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, Dropout
from agog_testing import says
from agog_training import Sequential
from agog_training.callbacks import BackupAndRestore, LambdaCallback

rng = np.random.default_rng(31)
X, Y = rng.normal(size=(20, 3)).astype("f4"), rng.normal(size=(20, 1)).astype("f4")


def model() -> Sequential:
    made = Sequential([Dense(4, activation="relu", input_shape=(3,)), Dropout(0.5), Dense(1)])
    made.compile("adam", "mse")
    return made


class Interrupted(Exception):
    """What ends a training too early."""


@pytest.mark.parametrize("epoch", [0, 2])
def test_it_ends_with_the_same_bits(tmp_path: Path, epoch: int) -> None:
    def stop(number: int, logs: object) -> None:
        if number == epoch + 1:
            raise Interrupted

    ag.set_random_seed(5)
    whole = model()
    whole.fit(X, Y, 8, epochs=5, verbose=0)
    ag.set_random_seed(5)
    first = model()
    with pytest.raises(Interrupted):
        first.fit(X, Y, 8, 5, 0, [BackupAndRestore(tmp_path), LambdaCallback(on_epoch_begin=stop)])
    ag.set_random_seed(6)
    second = model()
    history = second.fit(X, Y, 8, 5, 0, [BackupAndRestore(tmp_path)])
    assert history.epoch == list(range(epoch + 1, 5))
    for one, other in zip(whole.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert list(tmp_path.glob("*.safetensors")) == []


def test_a_finished_training_begins_anew(tmp_path: Path) -> None:
    made = model()
    for _ in range(2):
        assert made.fit(X, Y, epochs=2, verbose=0, callbacks=[BackupAndRestore(tmp_path)]).epoch == [0, 1]


def test_what_it_cannot_do() -> None:
    with says(
        ValueError,
        "BackupAndRestore saves after each epoch: save_freq must be 'epoch' and save_before_preemption False; got 10 "
        "and False.",
    ):
        BackupAndRestore("folder", save_freq=10)  # type: ignore[arg-type]
