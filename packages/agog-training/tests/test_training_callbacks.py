"""Callbacks: against simulated sequences of losses, and in real trainings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint.warning import CheckpointWarning
from agog_layers import Dense
from agog_optimizers import AdamOptimizer, GradientDescentOptimizer
from agog_testing import says
from agog_training import Sequential
from agog_training.callbacks import (
    Callback,
    CallbackList,
    CSVLogger,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    ModelCheckpoint,
    ReduceLROnPlateau,
    TerminateOnNaN,
)
from agog_training.callbacks.learning_rates import learning_rate, set_learning_rate


class Fake:
    """A model whose only weight is the number of the epoch."""

    def __init__(self, rate: Any = 1.0) -> None:
        self.optimizer = GradientDescentOptimizer(rate)
        self.stop_training = False
        self.epoch = -1

    def get_weights(self) -> list[int]:
        return [self.epoch]

    def set_weights(self, weights: list[int]) -> None:
        (self.epoch,) = weights


def simulate(callback: Callback, values: list[float], name: str = "val_loss", rate: Any = 1.0) -> Fake:
    """Tell a callback of epochs with these values, until it stops the training."""
    model = Fake(rate)
    callback.set_model(model)
    callback.on_train_begin({})
    for epoch, value in enumerate(values):
        callback.on_epoch_begin(epoch, {})
        model.epoch = epoch
        callback.on_epoch_end(epoch, {name: value})
        if model.stop_training:
            break
    callback.on_train_end({})
    return model


@pytest.mark.parametrize(
    ("arguments", "values", "last"),
    [
        ({}, [3.0, 2.0, 2.0, 1.0], 2),
        ({"patience": 1}, [3.0, 2.0, 2.0, 1.0], 2),
        ({"patience": 2}, [3.0, 2.0, 2.5, 2.1, 1.0], 3),
        ({"patience": 2}, [3.0, 2.0, 2.5, 1.9, 2.5, 1.0], 5),
        ({"patience": 1, "min_delta": 0.5}, [3.0, 2.6, 2.0], 1),
        ({"patience": 1, "min_delta": -0.5}, [3.0, 2.4, 2.0], 2),
        ({"patience": 1, "baseline": 1.0}, [3.0, 2.0], 0),
        ({"patience": 1, "mode": "max"}, [3.0, 4.0, 2.0, 5.0], 2),
        ({"patience": 1}, [3.0, float("nan"), 2.0], 1),
    ],
)
def test_early_stopping_stops_where_it_should(arguments: dict[str, Any], values: list[float], last: int) -> None:
    assert simulate(EarlyStopping(**arguments), values).epoch == last


def test_early_stopping_mode_by_name() -> None:
    assert simulate(EarlyStopping("val_acc", patience=1), [0.5, 0.6, 0.4, 0.7], "val_acc").epoch == 2


def test_early_stopping_restores_the_best_weights(capsys: pytest.CaptureFixture[str]) -> None:
    callback = EarlyStopping(patience=2, restore_best_weights=True, verbose=1)
    assert simulate(callback, [3.0, 1.0, 2.0, 2.0, 0.0]).epoch == 1
    assert (callback.stopped_epoch, callback.best) == (3, 1.0)
    assert capsys.readouterr().out == "Epoch 4: early stopping\n"
    assert simulate(callback, [3.0, 2.0]).epoch == 1  # a second training starts from the beginning
    assert (callback.stopped_epoch, callback.best) == (0, 2.0)


def test_a_number_that_is_not_there_is_warned_about() -> None:
    with pytest.warns(RuntimeWarning) as caught:
        simulate(EarlyStopping(), [1.0], "loss")
    assert str(caught[0].message) == "EarlyStopping watches 'val_loss', which is not in the logs; they have loss."


def rates(callback: Callback, values: list[float], rate: Any = 1.0) -> list[float]:
    seen: list[float] = []

    class Spy(CallbackList):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            super().on_epoch_end(epoch, logs)
            seen.append(learning_rate(self.model.optimizer))

    simulate(Spy([callback]), values, rate=rate)
    return seen


@pytest.mark.parametrize(
    ("arguments", "values", "expected"),
    [
        ({"patience": 1}, [2.0, 2.0, 2.0, 1.0], [1.0, 0.5, 0.25, 0.25]),
        ({"patience": 2}, [2.0, 2.0, 2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.5, 0.5, 0.5, 0.25]),
        ({"patience": 1, "cooldown": 2}, [2.0, 2.0, 2.0, 2.0, 2.0], [1.0, 0.5, 0.5, 0.25, 0.25]),
        ({"patience": 1, "min_lr": 0.4}, [2.0, 2.0, 2.0, 2.0], [1.0, 0.5, 0.4, 0.4]),
        ({"patience": 1, "min_delta": 0.5}, [2.0, 1.8, 1.4], [1.0, 0.5, 0.5]),
        ({"patience": 1, "mode": "max"}, [2.0, 3.0, 3.0], [1.0, 1.0, 0.5]),
    ],
)
def test_plateaus(arguments: dict[str, Any], values: list[float], expected: list[float]) -> None:
    assert rates(ReduceLROnPlateau(factor=0.5, **arguments), values) == expected


def test_plateaus_assign_a_variable_and_tell(capsys: pytest.CaptureFixture[str]) -> None:
    rate = ag.Variable(1.0)
    assert rates(ReduceLROnPlateau(patience=1, factor=0.5, verbose=1), [1.0, 1.0], rate) == [1.0, 0.5]
    assert float(rate) == 0.5
    assert capsys.readouterr().out == "Epoch 2: the learning rate is now 0.5\n"


def test_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    assert rates(LearningRateScheduler(lambda epoch: 1.0 / (epoch + 1)), [1.0] * 3) == [1.0, 0.5, 1 / 3]
    assert rates(LearningRateScheduler(lambda epoch, rate: rate / 2, verbose=1), [1.0] * 2) == [0.5, 0.25]
    assert capsys.readouterr().out == "Epoch 1: the learning rate is 0.5\nEpoch 2: the learning rate is 0.25\n"


X = np.random.default_rng(7).normal(size=(20, 3)).astype(np.float32)
Y = X.sum(1, keepdims=True)


def model_with(optimizer: Any = "sgd") -> Any:
    model = Sequential([Dense(1, input_shape=(3,), name="d")])
    model.set_weights([np.ones((3, 1)) / 2, np.zeros(1)])
    model.compile(optimizer, "mse")
    return model


def test_callbacks_are_told_everything_in_order() -> None:
    told: list[Any] = []

    class Spy(Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            told.append(("train begins", self.params["epochs"], self.params["steps"], self.params["metrics"]))

        def on_train_end(self, logs: Any = None) -> None:
            told.append("train ends")

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            told.append(("epoch begins", epoch))

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            told.append(("epoch ends", epoch, sorted(logs or {})))

        def on_batch_begin(self, batch: int, logs: Any = None) -> None:
            told.append(("batch begins", batch, logs))

        def on_batch_end(self, batch: int, logs: Any = None) -> None:
            told.append(("batch ends", batch, sorted(logs or {})))

    spy = Spy()
    model = model_with()
    model.fit(X, Y, batch_size=16, validation_data=(X, Y), verbose=0, callbacks=[spy])
    assert spy.model is model
    assert told == [
        ("train begins", 1, 2, ["loss"]),
        ("epoch begins", 0),
        ("batch begins", 0, {"batch": 0, "size": 16}),
        ("batch ends", 0, ["batch", "loss", "size"]),
        ("batch begins", 1, {"batch": 1, "size": 4}),
        ("batch ends", 1, ["batch", "loss", "size"]),
        ("epoch ends", 0, ["loss", "val_loss"]),
        "train ends",
    ]


def test_lambda_callback() -> None:
    told: list[str] = []
    callback = LambdaCallback(
        on_train_begin=lambda logs: told.append("train"),
        on_epoch_begin=lambda epoch, logs: told.append(f"epoch {epoch}"),
        on_batch_end=lambda batch, logs: told.append(f"batch {batch}"),
    )
    model_with().fit(X, Y, batch_size=10, verbose=0, callbacks=[callback])
    assert told == ["train", "epoch 0", "batch 0", "batch 1"]


def test_stopping_and_restoring_in_a_training() -> None:
    model = model_with(GradientDescentOptimizer(0.1))
    weights: list[Any] = []
    keep = LambdaCallback(on_epoch_end=lambda epoch, logs: weights.append(model.get_weights()))
    blow_up = LearningRateScheduler(lambda epoch: 0.1 if epoch < 3 else 2.0)
    stop = EarlyStopping("loss", patience=2, restore_best_weights=True)
    history = model.fit(X, Y, epochs=20, shuffle=False, verbose=0, callbacks=[blow_up, keep, stop])
    losses = history.history["loss"]
    best = int(np.argmin(losses))
    assert len(losses) == best + 3 < 20
    for one, two in zip(model.get_weights(), weights[best], strict=True):
        np.testing.assert_array_equal(one, two)
    assert history.history["lr"][:4] == [0.1, 0.1, 0.1, 2.0]


def test_nan_ends_the_training_in_the_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    x = X.copy()
    x[11] = np.nan
    seen: list[int] = []
    count = LambdaCallback(on_batch_end=lambda batch, logs: seen.append(batch))
    model = model_with()
    model.fit(x, Y, batch_size=5, epochs=3, shuffle=False, verbose=0, callbacks=[count, TerminateOnNaN()])
    assert seen == [0, 1, 2]
    assert capsys.readouterr().out == "Batch 2: the loss is not finite, terminating training\n"


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    model = model_with(GradientDescentOptimizer(0.0))
    for append in (False, True):
        log = CSVLogger(path, separator=";", append=append)
        model.fit(X, Y * 0, epochs=2, shuffle=False, verbose=0, callbacks=[log])
    loss = model.history.history["loss"][0]
    rows = path.read_text().splitlines()
    assert rows == ["epoch;loss", *[f"{epoch};{loss}" for epoch in (0, 1, 0, 1)]]


def test_checkpoints_of_epochs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_with("adam")
    keep = ModelCheckpoint(str(tmp_path / "w{epoch:02d}"), save_weights_only=True, period=2, verbose=1)
    model.fit(X, Y, epochs=4, verbose=0, callbacks=[keep])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "w02.safetensors", "w04.safetensors"]
    assert capsys.readouterr().out == "".join(
        f"Epoch {epoch}: saved {tmp_path}/w0{epoch}.safetensors\n" for epoch in (2, 4)
    )
    again = model_with()
    again.load_weights(tmp_path / "w04").assert_consumed()
    for one, two in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_checkpoints_of_the_best(tmp_path: Path) -> None:
    saved: list[str] = []

    class Saver(Fake):
        def save_weights(self, path: str) -> None:
            saved.append(path)

    callback = ModelCheckpoint("e{epoch}-{val_loss:.1f}", save_best_only=True, save_weights_only=True)
    callback.set_model(Saver())
    for epoch, value in enumerate([3.0, 4.0, 2.0, 2.0, 1.0]):
        callback.on_epoch_end(epoch, {"val_loss": value})
    assert saved == ["e1-3.0", "e3-2.0", "e5-1.0"]


@pytest.mark.parametrize("weights_only", [True, False])
def test_checkpoints_are_where_it_is_said(
    weights_only: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = f"{tmp_path}/best.h5"
    with pytest.warns(CheckpointWarning) as caught:
        keep = ModelCheckpoint(best, verbose=1, save_weights_only=weights_only)
    assert [str(each.message) for each in caught] == [
        f"ModelCheckpoint: weights are written as safetensors, so that '{best}' becomes '{best}.safetensors'; "
        "load_weights finds it under both names. Further files are not told of."
    ]
    assert caught[0].filename == __file__
    model = model_with()
    also = ModelCheckpoint(f"{tmp_path}/w.safetensors", verbose=1, save_weights_only=weights_only)
    model.fit(X, Y, verbose=0, callbacks=[keep, also])
    files = {path.name for path in tmp_path.iterdir()}
    assert files - {"checkpoint"} == {"best.h5.safetensors", "w.safetensors"}
    assert capsys.readouterr().out == (f"Epoch 1: saved {best}.safetensors\nEpoch 1: saved {tmp_path}/w.safetensors\n")
    for path in (best, f"{tmp_path}/w.safetensors"):
        again = model_with()
        again.load_weights(path).expect_partial()
        for one, two in zip(model.get_weights(), again.get_weights(), strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_path_of_names_that_the_logs_lack(tmp_path: Path) -> None:
    keep = ModelCheckpoint(f"{tmp_path}/{{val_acc:.2f}}")
    with says(
        ValueError,
        f"ModelCheckpoint: filepath '{tmp_path}/{{val_acc:.2f}}' names 'val_acc', which is not in the logs; they have "
        "epoch, loss.",
    ):
        model_with().fit(X, Y, verbose=0, callbacks=[keep])


def test_training_resumes_with_the_same_bits(tmp_path: Path) -> None:
    from agog_checkpoint import Checkpoint

    def train(model: Any, epochs: range, callbacks: Any = ()) -> list[float]:
        history = model.fit(
            X,
            Y,
            batch_size=6,
            epochs=epochs.stop,
            initial_epoch=epochs.start,
            shuffle=False,
            verbose=0,
            callbacks=callbacks,
        )
        losses: list[float] = history.history["loss"]
        return losses

    whole = train(model_with(AdamOptimizer(0.05)), range(6))
    train(model_with(AdamOptimizer(0.05)), range(3), [ModelCheckpoint(str(tmp_path / "c"))])
    model = model_with(AdamOptimizer(0.05))
    Checkpoint(model=model).restore(tmp_path / "c")
    assert train(model, range(3, 6)) == whole[3:]


def test_history_plot(monkeypatch: pytest.MonkeyPatch) -> None:
    history = History()
    for epoch in range(2):
        history.on_epoch_end(epoch, {"loss": 1.0, "val_loss": 2.0, "acc": 0.5})
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with says(
        ImportError,
        "History.plot draws with matplotlib, which is not installed: pip install matplotlib. The numbers are in "
        "history.history.",
    ):
        history.plot()
    drawn: list[Any] = []

    class Axes:
        def plot(self, x: Any, y: Any, style: str, label: str) -> None:
            drawn.append((x, y, style, label))

        def set_xlabel(self, text: str) -> None: ...

        def legend(self) -> None: ...

    class Figure:
        def __init__(self, layout: str) -> None: ...

        def subplots(self, rows: int, squeeze: bool) -> Any:
            return np.array([[Axes()] for _ in range(rows)])

    monkeypatch.setitem(sys.modules, "matplotlib.figure", type(sys)("matplotlib.figure"))
    monkeypatch.setattr(sys.modules["matplotlib.figure"], "Figure", Figure, raising=False)
    history.plot()
    assert drawn == [
        ([0, 1], [1.0, 1.0], "-", "loss"),
        ([0, 1], [2.0, 2.0], "--", "val_loss"),
        ([0, 1], [0.5, 0.5], "-", "acc"),
    ]
    with says(ValueError, "History.plot: ['mae'] are not in the history; it has ['loss', 'val_loss', 'acc']."):
        history.plot("mae")


def test_an_unknown_mode_is_auto() -> None:
    with pytest.warns(UserWarning, match="unknown") as caught:
        callback = EarlyStopping("val_acc", mode="best")
    assert [str(each.message) for each in caught] == [
        "EarlyStopping: mode 'best' is unknown, fallback to auto mode; the modes are auto, min, max."
    ]
    callback.best = 0.5
    assert callback.improved(0.75)


def test_errors() -> None:
    scheduled = model_with(GradientDescentOptimizer(lambda: 0.1))
    cases: list[tuple[type[Exception], Any, str]] = [
        (ValueError, lambda: ReduceLROnPlateau(factor=1.0), "ReduceLROnPlateau: factor must be below 1; got 1.0."),
        (
            ValueError,
            lambda: set_learning_rate(scheduled.optimizer, 1.0),
            "GradientDescentOptimizer: a function computes the learning rate, so it cannot be set; pass a number or a "
            "tf.Variable as learning_rate instead.",
        ),
        (
            TypeError,
            lambda: model_with().fit(X, Y, verbose=0, callbacks=[LearningRateScheduler(lambda epoch: "fast")]),  # type: ignore[arg-type,return-value]
            "LearningRateScheduler: the schedule must return a number; got 'fast' of type str.",
        ),
    ]
    for kind, use, text in cases:
        with says(kind, text):
            use()
