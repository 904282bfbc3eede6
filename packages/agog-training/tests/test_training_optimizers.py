"""Optimizers with Keras's names, against their formulas in NumPy float64."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_layers.serialization.description import describe
from agog_testing import says
from agog_training import optimizers
from agog_training.optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, Nadam, RMSprop

Step = Callable[[Any, float, dict[str, Any]], Any]


def sgd(g: Any, rate: float, s: dict[str, Any]) -> Any:
    s["v"] = 0.9 * s.get("v", 0) - rate * g
    return -s["v"]


def nesterov(g: Any, rate: float, s: dict[str, Any]) -> Any:
    s["v"] = 0.9 * s.get("v", 0) - rate * g
    return rate * g - 0.9 * s["v"]


def adam(g: Any, rate: float, s: dict[str, Any]) -> Any:
    s["t"] = s.get("t", 0) + 1
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
    return rate * np.sqrt(1 - 0.99 ** s["t"]) / (1 - 0.8 ** s["t"]) * s["m"] / (np.sqrt(s["v"]) + 1e-7)


def adamax(g: Any, rate: float, s: dict[str, Any]) -> Any:
    s["t"] = s.get("t", 0) + 1
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["u"] = np.maximum(0.99 * s.get("u", 0), abs(g))
    return rate / (1 - 0.8 ** s["t"]) * s["m"] / (s["u"] + 1e-7)


def nadam(decay: float) -> Step:
    """Keras's steps, with the momentum's schedule as it writes them."""

    def step(g: Any, rate: float, s: dict[str, Any]) -> Any:
        t = s["t"] = s.get("t", 0) + 1
        now, ahead = (0.8 * (1 - 0.5 * 0.96 ** (n * decay)) for n in (t, t + 1))
        s["p"] = s.get("p", 1.0) * now
        s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
        s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
        direction = (1 - now) * g / (1 - s["p"]) + ahead * s["m"] / (1 - s["p"] * ahead)
        return rate * direction / (np.sqrt(s["v"] / (1 - 0.99**t)) + 1e-7)

    return step


def rmsprop(g: Any, rate: float, s: dict[str, Any]) -> Any:
    s["a"] = 0.8 * s.get("a", 0) + 0.2 * g * g
    return rate * g / np.sqrt(s["a"] + 1e-14)


def adagrad(g: Any, rate: float, s: dict[str, Any]) -> Any:
    s["a"] = s.get("a", 1e-14) + g * g
    return rate * g / np.sqrt(s["a"])


def adadelta(g: Any, rate: float, s: dict[str, Any]) -> Any:
    s["a"] = 0.9 * s.get("a", 0) + 0.1 * g * g
    step = g * np.sqrt(s.get("d", 0) + 1e-7) / np.sqrt(s["a"] + 1e-7)
    s["d"] = 0.9 * s.get("d", 0) + 0.1 * step * step
    return rate * step


@pytest.mark.parametrize(
    ("make", "step"),
    [
        (lambda: SGD(0.05, momentum=0.9, decay=0.1), sgd),
        (lambda: SGD(0.05, momentum=0.9, nesterov=True, decay=0.1), nesterov),
        (lambda: Adam(0.05, 0.8, 0.99, decay=0.1), adam),
        (lambda: Adamax(0.05, 0.8, 0.99, decay=0.1), adamax),
        (lambda: Nadam(0.05, 0.8, 0.99, decay=0.1), nadam(0.004)),
        (lambda: Nadam(0.05, 0.8, 0.99, decay=0.1, schedule_decay=1.0), nadam(1.0)),
        (lambda: RMSprop(0.05, 0.8, decay=0.1), rmsprop),
        (lambda: Adagrad(0.05, decay=0.1), adagrad),
        (lambda: Adadelta(0.5, 0.9, decay=0.1), adadelta),
    ],
    ids=["SGD", "SGD of Nesterov", "Adam", "Adamax", "Nadam", "Nadam of Keras 3", "RMSprop", "Adagrad", "Adadelta"],
)
def test_twenty_steps(make: Any, step: Step) -> None:
    rng = np.random.default_rng(11)
    start, gradients = rng.normal(size=3), rng.normal(size=(20, 3))
    optimizer = make()
    variable, expected, state = ag.Variable(start), start.copy(), dict[str, Any]()
    for number, gradient in enumerate(gradients):
        optimizer.apply_gradients([(ag.constant(gradient), variable)])
        expected = expected - step(gradient, optimizer.lr / (1 + 0.1 * number), state)
    np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-8, err_msg="seed 11")
    assert int(optimizer.iterations) == 20


def test_descriptions_of_keras_3_mean_its_schedule_of_nadam() -> None:
    assert Nadam.from_config({"learning_rate": 0.5}).schedule_decay == 1.0
    assert Nadam.from_config(Nadam(learning_rate=0.5).get_config()).schedule_decay == 0.004


def test_clipping() -> None:
    cases: list[tuple[dict[str, Any], list[float]]] = [
        ({"clipnorm": 1.0}, [-0.6, -0.8]),
        ({"clipvalue": 3.5}, [-3.0, -3.5]),
    ]
    for arguments, expected in cases:
        variable = ag.Variable([0.0, 0.0])
        SGD(1.0, **arguments).apply_gradients([(ag.constant([3.0, 4.0]), variable)])
        np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("cls", [SGD, Adam, Adamax, Nadam, RMSprop, Adagrad, Adadelta])
def test_names_and_descriptions(cls: Any) -> None:
    for name in (cls.__name__, cls.__name__.lower()):
        assert type(optimizers.get(name)) is cls
    data = optimizers.serialize(cls(lr=0.25, decay=0.5, clipnorm=2.0))
    again = optimizers.deserialize(json.loads(json.dumps(data)))
    assert type(again) is cls
    assert optimizers.serialize(again) == data == describe(again)
    assert (again.lr, again.decay, again.clipnorm, again.clipvalue) == (0.25, 0.5, 2.0, None)


def test_classes_of_the_program_are_found() -> None:
    class Halved(SGD):
        """Half the steps."""

    again = optimizers.deserialize(optimizers.serialize(Halved(lr=0.5)), custom_objects={"Halved": Halved})
    assert type(again) is Halved
    assert again.lr == 0.5
    with custom_object_scope({"Halved": Halved}):
        assert type(optimizers.get("Halved")) is Halved
    with pytest.raises(ValueError, match="Unknown optimizer 'Halved'"):
        optimizers.get("Halved")


def test_any_optimizer_is_taken_as_it_is() -> None:
    optimizer = SGD()
    assert optimizers.get(optimizer) is optimizer


def test_steps_are_saved(tmp_path: Any) -> None:
    first, second = SGD(1.0, decay=1.0), SGD(1.0, decay=1.0)
    variable = ag.Variable(0.0)
    first.minimize(variable.value)
    Checkpoint(optimizer=first).write(tmp_path / "o")
    Checkpoint(optimizer=second).restore(tmp_path / "o")
    assert int(second.iterations) == 1
    second.minimize(variable.value)
    assert float(variable) == -1.5


def test_errors() -> None:
    with says(
        ValueError,
        "Unknown optimizer 'adagard'; the names are adadelta, adagrad, adam, adamax, adamw, lamb, lion, nadam, "
        "rmsprop, sgd.",
    ):
        optimizers.get("adagard")
    with says(TypeError, "An optimizer is a name, or an object with apply_gradients; got 0.1 of type float."):
        optimizers.get(0.1)


def test_limits_of_gradients_are_not_negative() -> None:
    for make, name, value in (
        (lambda: SGD(clipvalue=-0.5), "SGD: clipvalue", -0.5),
        (lambda: Adam(clipnorm=-2.0), "Adam: clipnorm", -2.0),
    ):
        with says(ValueError, f"{name} must not be negative; got {value}."):
            make()


def test_a_description_is_left_in_small_letters() -> None:
    config = optimizers.serialize(Adam(0.5))
    assert config["class_name"] == "Adam"
    assert optimizers.deserialize(config).lr == 0.5
    assert config["class_name"] == "adam"
    assert optimizers.deserialize(config).lr == 0.5
