"""Fit: how often epochs on a GPU are waited for, and that their results are those on the device "cpu"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cupy_on_numpy import counting

import agog_core as ag
from agog_layers import Dense
from agog_optimizers import AdamOptimizer
from agog_training import Sequential
from agog_training.callbacks import Callback

X, Y = np.random.default_rng(3).random((64, 5), "float32"), np.arange(64) % 3


def compiled() -> Any:
    """A small model; its weights are drawn from agog's seeds, the same on each device."""
    ag.set_random_seed(3)
    model = Sequential([Dense(16, "relu"), Dense(3)])
    loss = "sparse_categorical_crossentropy"
    model.compile(AdamOptimizer(0.01), loss=loss, metrics=["accuracy"], weighted_metrics=["crossentropy"])
    return model


def waits() -> int:
    """The waits since they were counted from zero, but for those that take no time behind another one."""
    return sum(count for what, count in counting.waits.items() if "transfers.py" in what)


@pytest.fixture
def model() -> Any:
    """One that was trained for an epoch, so that weights and kernels are there."""
    with ag.device("/gpu:0"):
        model = compiled()
        model.fit(X, Y, batch_size=8, verbose=0)
        counting.reset()
        yield model


def test_an_epoch_waits_once(model: Any) -> None:
    model.fit(X, Y, batch_size=8, verbose=0, sample_weight=np.ones(64, "float32"))
    assert waits() == 1


def test_an_evaluation_waits_once(model: Any) -> None:
    model.evaluate(X, Y, batch_size=8, verbose=0)
    assert waits() == 1


def test_who_looks_at_each_batch_waits_for_each(model: Any) -> None:
    seen = []

    class Looking(Callback):
        def on_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append((logs["batch"], logs["loss"], logs["accuracy"]))

    model.fit(X, Y, batch_size=8, verbose=0, callbacks=[Looking()])
    assert [batch for batch, *_ in seen] == list(range(8))
    assert all(type(number) is float for _, *numbers in seen for number in numbers)
    assert waits() == 8


def test_results_that_are_kept_are_those_of_their_batch() -> None:
    kept: dict[str, list[Any]] = {"/cpu:0": [], "/gpu:0": []}

    class Keeping(Callback):
        def __init__(self, device: str) -> None:
            self.device = device

        def on_batch_end(self, batch: int, logs: Any = None) -> None:
            kept[self.device].append(logs)

    for device in kept:
        with ag.device(device):
            compiled().fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=[Keeping(device)])
    for on_cpu, on_gpu in zip(*kept.values(), strict=True):
        assert list(on_cpu) == list(on_gpu)
        np.testing.assert_allclose(list(on_gpu.values()), list(on_cpu.values()), rtol=1e-4)


def test_histories_are_those_of_the_cpu() -> None:
    histories = []
    for device in ("/cpu:0", "/gpu:0"):
        with ag.device(device):
            model = compiled()
            weights = np.linspace(0.5, 2, 64, dtype="float32")
            histories.append(model.fit(X, Y, sample_weight=weights, batch_size=8, epochs=3, verbose=0).history)
            histories[-1]["evaluated"] = model.evaluate(X, Y, verbose=0)
    assert histories[0].keys() == histories[1].keys()
    for name, numbers in histories[0].items():
        np.testing.assert_allclose(histories[1][name], numbers, rtol=1e-4, err_msg=name)
