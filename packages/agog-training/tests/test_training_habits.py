"""What programs of today lean on around `fit`: callbacks of every kind, steps of their own, whole models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_data import Dataset
from agog_layers import (
    BatchNormalization,
    Dense,
    Dropout,
    Input,
    Layer,
    LeakyReLU,
    get_registered_object,
    register_keras_serializable,
)
from agog_layers.serialization.custom_objects import registered as _registered
from agog_layers.serialization.description import describe, revive
from agog_testing import says
from agog_training import Model, Sequential, load_model
from agog_training.callbacks import Callback, EarlyStopping, LambdaCallback, ModelCheckpoint
from agog_training.optimizers import SGD, RMSprop

SEED = 61


def examples(count: int = 12) -> tuple[Any, Any]:
    rng = np.random.default_rng(SEED)
    return rng.normal(size=(count, 3)).astype(np.float32), rng.normal(size=(count, 1)).astype(np.float32)


def line(model_class: Any = Model, jit_compile: bool = False) -> Any:
    ag.set_random_seed(SEED)
    x = Input(shape=(3,))
    model = model_class(x, Dense(1)(x))
    model.compile(SGD(0.1), "mse", metrics=["mae"], jit_compile=jit_compile)
    return model


class Told(Callback):
    def __init__(self) -> None:
        self.names: list[str] = []

    def set_model(self, model: Any) -> None:
        self.names.clear()  # those that were asked for when the list was checked

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_") and name not in ("on_gradients", "on_batch_begin", "on_batch_end"):
            self.names.append(name)
        return super().__getattribute__(name)


def test_callbacks_are_told_of_everything() -> None:
    model, (x, y) = line(), examples(4)
    fitted, evaluated, predicted = Told(), Told(), Told()
    model.fit(x, y, batch_size=2, validation_data=(x, y), validation_batch_size=4, verbose=0, callbacks=[fitted])
    model.evaluate(x, y, batch_size=2, verbose=0, callbacks=[evaluated])
    model.predict(x, batch_size=2, callbacks=[predicted])
    batch, test = (["on_train_batch_begin", "on_train_batch_end"], ["on_test_batch_begin", "on_test_batch_end"])
    validation = ["on_test_begin", *test, "on_test_end"]
    begin = ["on_train_begin", "on_epoch_begin"]
    assert fitted.names == [*begin, *batch, *batch, *validation, "on_epoch_end", "on_train_end"]
    assert evaluated.names == ["on_test_begin", *test, *test, "on_test_end"]
    of_predict = ["on_predict_batch_begin", "on_predict_batch_end"]
    assert predicted.names == ["on_predict_begin", *of_predict, *of_predict, "on_predict_end"]


def test_callbacks_of_functions_take_every_name() -> None:
    seen: list[Any] = []
    callback = LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append((batch, sorted(logs))))
    line().fit(*examples(4), batch_size=2, verbose=0, callbacks=[callback])
    assert seen == [(0, ["batch", "loss", "mae", "size"]), (1, ["batch", "loss", "mae", "size"])]
    with says(TypeError, "LambdaCallback has no argument 'on_epoch_ends'; did you mean 'on_epoch_end'?"):
        LambdaCallback(on_epoch_ends=print)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_step_of_its_own_with_the_compiled_loss_and_metrics(jit_compile: bool) -> None:
    class Own(Model):
        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with ag.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred)
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred)
            return {metric.name: metric.result() for metric in self.metrics}

    given: Any = {"epochs": 3, "batch_size": 4, "shuffle": False, "verbose": 0}
    own, plain = line(Own, jit_compile=jit_compile), line()
    assert own.fit(*examples(), **given).history == plain.fit(*examples(), **given).history
    assert [metric.name for metric in plain.metrics] == ["loss", "mae"]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_step_of_tensorflow_2_with_the_compiled_loss_and_metrics(jit_compile: bool) -> None:
    class Own(Model):
        def train_step(self, data: Any) -> dict[str, Any]:
            x, y, sample_weight = data
            with ag.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compiled_loss(
                    y, y_pred, sample_weight=sample_weight, regularization_losses=[2.0 * ag.reduce_sum(self.weights[0])]
                )
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            self.compiled_metrics.update_state(y, y_pred, sample_weight)
            return {metric.name: metric.result() for metric in self.metrics}

    own = line(Own, jit_compile=jit_compile)
    (x, y), weights = examples(), np.linspace(0.5, 1.5, 12).astype(np.float32)
    kernel, bias = own.get_weights()
    losses, errors = [], []
    for each in (slice(0, 6), slice(6, 12)):
        error = x[each] @ kernel + bias - y[each]
        losses.append(np.average(error[:, 0] ** 2, weights=weights[each]) + 2 * kernel.sum())
        errors.append(np.abs(error).mean())
        slope = 2 * weights[each, None] * error / weights[each].sum()
        kernel, bias = kernel - 0.1 * (x[each].T @ slope + 2), bias - 0.1 * slope.sum(0)
    own.fit(x, y, sample_weight=weights, batch_size=6, shuffle=False, verbose=0)
    assert own.history.history == {
        "loss": [pytest.approx(np.mean(losses), rel=1e-5)],
        "mae": [pytest.approx(np.mean(errors), rel=1e-5)],
    }
    np.testing.assert_allclose(own.get_weights()[0], kernel, rtol=1e-5)
    own.reset_metrics()
    assert np.isnan([metric.result() for metric in own.metrics]).all()  # as of no examples


def test_metrics_of_the_programs_own_begin_anew_each_epoch() -> None:
    class Seen:
        name = "seen"
        batches = 0

        def update_state(self) -> None:
            self.batches += 1

        def result(self) -> int:
            return self.batches

        def reset_state(self) -> None:
            self.batches = 0

    class Own(Model):
        def train_step(self, data: Any) -> dict[str, Any]:
            self.seen.update_state()
            return {"seen": self.seen.result()}

    own = line(Own)
    own.seen = Seen()
    x, y = examples()
    assert own.fit(x, y, batch_size=4, epochs=2, verbose=0).history == {"seen": [3.0, 3.0]}


def test_an_optimizer_that_is_not_named_is_rmsprop() -> None:
    model = line()
    model.compile(loss="mse")
    assert type(model.optimizer) is RMSprop


@pytest.mark.parametrize("training", [True, False, None])
def test_layers_inside_learn_of_training_by_a_model_that_does_not_take_it(training: bool | None) -> None:
    class Plain(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dropout = Dropout(0.5)

        def call(self, x: Any) -> Any:
            return self.dropout(x)

    x = ag.ones([100])
    dropped = not np.array_equal(Plain()(x, training=training), x)
    assert dropped == bool(training)


def test_whole_models_are_kept_under_their_own_names(tmp_path: Path) -> None:
    model = line()
    model.fit(*examples(), epochs=2, verbose=0, callbacks=[ModelCheckpoint(str(tmp_path / "{epoch}.keras"))])
    again = load_model(tmp_path / "2.keras")
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])
    assert isinstance(again.optimizer, SGD)


def test_models_are_kept_after_so_many_batches(tmp_path: Path) -> None:
    keep = ModelCheckpoint(str(tmp_path / "{epoch}-{mae:.0f}x"), save_freq=2, save_weights_only=True)
    line().fit(*examples(), batch_size=4, epochs=2, verbose=0, callbacks=[keep])
    assert sorted(name.name[:2] for name in tmp_path.glob("*.safetensors")) == ["1-", "2-"]
    with says(ValueError, "ModelCheckpoint: save_freq must be 'epoch' or a number of batches; got 'batch'."):
        ModelCheckpoint("x", save_freq="batch")


def test_the_first_epochs_may_count_for_nothing() -> None:
    stop = EarlyStopping("loss", patience=0, min_delta=1e9, start_from_epoch=3)
    assert len(line().fit(*examples(), epochs=9, verbose=0, callbacks=[stop]).epoch) == 5


def test_one_number_for_each_example_needs_no_axis_of_its_own() -> None:
    a, b = Input(shape=(1,), name="a"), Input(shape=(1,), name="b")
    model = Model([a, b], Dense(1)(a + b))
    model.compile("sgd", "mse")
    x, y = {"a": np.arange(6.0), "b": np.arange(6.0)}, np.arange(6.0)
    model.fit(Dataset.from_tensor_slices((x, y)).batch(3), verbose=0)
    model.fit(x, y, verbose=0)
    wide = {name: part[:, None] for name, part in x.items()}
    np.testing.assert_array_equal(model.predict(x), model.predict(wide))
    with pytest.raises(ValueError, match=r"Did you forget .batch\(\)"):
        model.fit(Dataset.from_tensor_slices((wide, y)), verbose=0)


def test_what_a_program_registers_is_found_when_a_model_is_loaded(tmp_path: Path) -> None:
    @register_keras_serializable(package="mine")
    class Times(Layer):
        def __init__(self, factor: float, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, inputs: Any) -> Any:
            return inputs * self.factor

    @register_keras_serializable(name="to_the_third")
    def cube(x: Any) -> Any:
        return x * x * x

    try:
        model = Sequential([Times(2.0, input_shape=(3,)), Dense(1, activation=cube, name="to_the_third")])
        model.compile("sgd", "mse")
        model.save(tmp_path / "m.agog")
        again = load_model(tmp_path / "m.agog")
        np.testing.assert_array_equal(again.predict(examples()[0]), model.predict(examples()[0]))
        assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
        assert get_registered_object("Times") is Times
    finally:
        del _registered["mine>Times"], _registered["Custom>to_the_third"]
    with pytest.raises(ValueError, match="Unknown class 'Times'"):
        load_model(tmp_path / "m.agog")


@pytest.mark.parametrize("kind", [BatchNormalization, LeakyReLU])
def test_descriptions_mean_the_class_that_they_came_of(kind: Any) -> None:
    given = {"negative_slope": 0.25} if kind is LeakyReLU else {}
    layer = kind(**given)
    again = revive(describe(layer))
    assert type(again) is kind
    assert again.get_config() == layer.get_config()
