"""What today's programs say to optimizers, compile and fit, against hand-written NumPy."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense
from agog_testing import says
from agog_training import Sequential, optimizers
from agog_training.callbacks import EarlyStopping, ModelCheckpoint
from agog_training.optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lamb, Lion, Nadam, RMSprop, schedules

EVERY = [SGD, Adam, AdamW, Adamax, Lamb, Lion, Nadam, RMSprop, Adagrad, Adadelta]
rng = np.random.default_rng(3)
X, Y = rng.normal(size=(24, 3)).astype("float32"), rng.normal(size=(24, 1)).astype("float32")
CLASSES = np.arange(24) % 2


def classifier(metrics: Any, **arguments: Any) -> Sequential:
    model = Sequential([Dense(2, activation="softmax", input_shape=(3,))])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=metrics, **arguments)
    return model


@pytest.mark.parametrize("cls", EVERY)
def test_the_learning_rate_has_two_names_and_can_be_assigned(cls: Any) -> None:
    optimizer = cls(learning_rate=0.25, name="mine")
    assert (optimizer.lr, optimizer.learning_rate, optimizer.get_name()) == (0.25, 0.25, "mine")
    optimizer.learning_rate = 0.5
    assert optimizer.lr == 0.5
    optimizer.learning_rate.assign(0.125)
    assert float(optimizer.learning_rate.numpy()) == optimizer.lr == 0.125
    again = optimizers.deserialize(json.loads(json.dumps(optimizers.serialize(optimizer))))
    assert (type(again), again.lr, again.get_name()) == (cls, 0.125, "mine")


@pytest.mark.parametrize("cls", EVERY)
def test_an_assigned_learning_rate_takes_effect(cls: Any) -> None:
    one, other = ag.Variable([1.0, -2.0]), ag.Variable([1.0, -2.0])
    late, early = cls(learning_rate=0.5), cls(0.25)
    late.learning_rate = 0.25
    for optimizer, variable in ((late, one), (early, other)):
        optimizer.apply_gradients([(ag.constant([0.5, 1.5]), variable)])
    assert one.numpy().tolist() == other.numpy().tolist() != [1.0, -2.0]


def test_misspelled_arguments_are_named() -> None:
    with says(TypeError, "Adam has no argument 'learing_rate'; did you mean 'learning_rate'?"):
        Adam(learing_rate=0.1)


def test_the_norm_of_all_gradients_is_limited() -> None:
    one, other = ag.Variable([0.0]), ag.Variable([0.0])
    SGD(1.0, global_clipnorm=1.0).apply_gradients([(ag.constant([3.0]), one), (ag.constant([4.0]), other)])
    np.testing.assert_allclose([one.numpy()[0], other.numpy()[0]], [-0.6, -0.8], rtol=1e-6)


def test_adamw_takes_a_share_off_beside_the_step() -> None:
    v, m, s = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    variable, optimizer = ag.Variable(v), AdamW(learning_rate=0.1, weight_decay=0.3)
    for t, gradient in enumerate(np.random.default_rng(5).normal(size=(20, 2)), start=1):
        optimizer.apply_gradients([(ag.constant(gradient), variable)])
        m, s = 0.9 * m + 0.1 * gradient, 0.999 * s + 0.001 * gradient**2
        rate = 0.1 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        v = v - 0.1 * 0.3 * v - rate * m / (np.sqrt(s) + 1e-7)
    np.testing.assert_allclose(variable.numpy(), v, rtol=1e-7, err_msg="seed 5")


def test_adam_can_keep_the_largest_mean_of_squares() -> None:
    v, m, s, largest = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2), np.zeros(2)
    variable, optimizer = ag.Variable(v), Adam(0.1, beta_2=0.5, amsgrad=True)
    for t, gradient in enumerate(np.random.default_rng(6).normal(size=(20, 2)), start=1):
        optimizer.apply_gradients([(ag.constant(gradient), variable)])
        m, s = 0.9 * m + 0.1 * gradient, 0.5 * s + 0.5 * gradient**2
        largest = np.maximum(largest, s)
        v = v - 0.1 * math.sqrt(1 - 0.5**t) / (1 - 0.9**t) * m / (np.sqrt(largest) + 1e-7)
    np.testing.assert_allclose(variable.numpy(), v, rtol=1e-7, err_msg="seed 6")


SCHEDULES: dict[str, tuple[Any, Any]] = {
    "exponential": (schedules.ExponentialDecay(0.5, 3, 0.5), lambda n: 0.5 * 0.5 ** (n / 3)),
    "staircase": (schedules.ExponentialDecay(0.5, 3, 0.5, staircase=True), lambda n: 0.5 * 0.5 ** (n // 3)),
    "inverse": (schedules.InverseTimeDecay(0.5, 3, 2.0), lambda n: 0.5 / (1 + 2 * n / 3)),
    "polynomial": (
        schedules.PolynomialDecay(0.5, 4, 0.1, power=2.0),
        lambda n: 0.4 * (1 - min(n, 4) / 4) ** 2 + 0.1,
    ),
    "cosine": (
        schedules.CosineDecay(0.5, 4, alpha=0.2),
        lambda n: 0.5 * (0.8 * (1 + math.cos(math.pi * min(n, 4) / 4)) / 2 + 0.2),
    ),
    "warm": (
        schedules.CosineDecay(0.1, 4, warmup_target=0.5, warmup_steps=2),
        lambda n: 0.1 + 0.2 * n if n < 2 else 0.25 * (1 + math.cos(math.pi * min(n - 2, 4) / 4)),
    ),
    "restarts": (
        schedules.CosineDecayRestarts(0.5, 2, t_mul=1.0, m_mul=0.5),
        lambda n: 0.5 ** (n // 2) * 0.25 * (1 + math.cos(math.pi * (n % 2) / 2)),
    ),
    "pieces": (
        schedules.PiecewiseConstantDecay([1, 3], [0.5, 0.25, 0.125]),
        lambda n: [0.5, 0.25, 0.125][(n > 1) + (n > 3)],
    ),
}


@pytest.mark.parametrize("kind", SCHEDULES)
def test_schedules(kind: str) -> None:
    schedule, formula = SCHEDULES[kind]
    again = type(schedule).from_config(json.loads(json.dumps(schedule.get_config())))
    for each in (schedule, again):
        np.testing.assert_allclose([float(each(n)) for n in range(8)], [formula(n) for n in range(8)], atol=1e-7)


def test_optimizers_follow_schedules() -> None:
    variable, optimizer = ag.Variable(0.0), SGD(schedules.PiecewiseConstantDecay([0, 1], [1.0, 0.5, 0.25]))
    steps = []
    for _ in range(4):
        before = float(variable)
        optimizer.apply_gradients([(ag.constant(1.0), variable)])
        steps.append(before - float(variable))
    assert steps == [1.0, 0.5, 0.25, 0.25]
    again = optimizers.deserialize(json.loads(json.dumps(optimizers.serialize(optimizer))))
    assert [float(again.lr(n)) for n in range(3)] == [1.0, 0.5, 0.25]


def test_pieces_need_one_value_more() -> None:
    with says(ValueError, "PiecewiseConstantDecay: 2 boundaries need 3 values; got 2."):
        schedules.PiecewiseConstantDecay([1, 2], [0.5, 0.25])


def test_metrics_are_called_what_they_were_given_as() -> None:
    model = classifier(None)
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy", "mse"])
    history = model.fit(X, np.eye(2)[CLASSES], validation_split=0.25, verbose=0).history
    assert list(history) == ["loss", "accuracy", "mse", "val_loss", "val_accuracy", "val_mse"]
    assert history["val_acc"] is history["val_accuracy"]
    assert history["mean_squared_error"] is history["mse"]
    with pytest.raises(KeyError, match="acc_of_nothing"):
        history["acc_of_nothing"]


def test_older_names_are_watched_and_named_in_paths(tmp_path: Any) -> None:
    stop, keep = EarlyStopping("val_acc", patience=1), ModelCheckpoint(f"{tmp_path}/{{val_acc:.1f}}")
    model = classifier(["accuracy"])
    model.compile(SGD(0.0), "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(X, CLASSES, epochs=5, validation_split=0.25, verbose=0, callbacks=[stop, keep])
    assert len(history.epoch) == 2
    assert [file.stem for file in tmp_path.glob("*.safetensors")] == [f"{history.history['val_accuracy'][0]:.1f}"]


def test_metrics_by_the_names_of_their_classes() -> None:
    model = Sequential([Dense(1, activation="sigmoid", input_shape=(3,))])
    model.compile("sgd", "binary_crossentropy", metrics=["AUC", "precision", "Recall"])
    results = model.evaluate(X, CLASSES, verbose=0, return_dict=True)
    assert list(results) == ["loss", "AUC", "precision", "Recall"]
    p, yes = model.predict(X)[:, 0], CLASSES == 1
    pairs = [(a > b) + (a == b) / 2 for a in p[yes] for b in p[~yes]]
    np.testing.assert_allclose(results["AUC"], np.mean(pairs), atol=0.02)
    np.testing.assert_allclose(results["Recall"], (p[yes] > 0.5).mean(), rtol=1e-6)


def test_how_a_step_is_compiled_changes_nothing() -> None:
    model = classifier(["acc"], run_eagerly=True, jit_compile=False, steps_per_execution=2)
    assert model.metrics_names == ["loss", "acc"]
    with says(TypeError, "compile has no argument 'jit_compil'; did you mean 'jit_compile'?"):
        classifier(None, jit_compil=True)


def test_when_and_how_a_model_is_validated() -> None:
    sizes: list[int] = []

    class Counting(Sequential):
        def call(self, inputs: Any, training: Any = None) -> Any:
            if not training:
                sizes.append(inputs.shape[0])
            return super().call(inputs)

    model = Counting([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    sizes.clear()
    history = model.fit(X, Y, epochs=4, verbose=0, validation_data=(X, Y), validation_batch_size=12, validation_freq=2)
    assert sizes == [12, 12] * 2
    assert [len(history.history[name]) for name in ("loss", "val_loss")] == [4, 2]
    sizes.clear()
    model.fit(X, Y, epochs=4, verbose=0, validation_data=(X, Y), validation_freq=[1, 2, 3])
    assert sizes == [24] * 3


def test_compile_needs_no_optimizer() -> None:
    class Own(Sequential):
        def compile(self, own_optimizer: Any) -> None:  # type: ignore[override]
            super().compile()
            self.own_optimizer = own_optimizer

    model = Own([Dense(1)])
    model.compile(SGD(0.1))
    assert (type(model.optimizer), type(model.own_optimizer)) == (RMSprop, SGD)
