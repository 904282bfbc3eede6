"""What layers add to the loss, and their weights and descriptions as data."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Activation, Dense, Dropout, Flatten, Layer, Model
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_layers.serialization.description import describe, revive
from agog_layers.serialization.registry import classes
from agog_layers.weights.initializers import RandomNormal
from agog_testing import says


class Penalty(Layer):
    """Adds the sum of its input to the losses."""

    def call(self, inputs: Any) -> Any:
        self.add_loss(ag.reduce_sum(inputs))
        return inputs


class Penalized(Model):
    """A layer that is used twice, one that is used on request, and a term of its own."""

    def __init__(self) -> None:
        super().__init__(name="penalized")
        self.shared, self.other = Penalty(name="shared"), Penalty(name="other")
        self.weight = ag.Variable(3.0)
        self.add_loss(lambda: self.weight * self.weight)

    def call(self, inputs: Any, everything: bool = False) -> Any:
        x = self.shared(self.shared(inputs) + 1.0)
        return self.other(x) if everything else x


def losses(layer: Layer) -> list[float]:
    return [float(loss) for loss in layer.losses]


def test_losses_are_those_of_the_last_call() -> None:
    model = Penalized()
    assert losses(model) == [9.0]
    model(ag.constant([1.0, 2.0]), everything=True)
    assert losses(model) == [9.0, 3.0, 5.0, 5.0]
    model(ag.constant([1.0]))
    assert losses(model) == [9.0, 1.0, 2.0]
    model.weight.assign(2.0)
    assert losses(model) == [4.0, 1.0, 2.0]


def test_losses_of_a_layer_that_is_built_before_its_first_call() -> None:
    layer = Penalty()
    layer.built = True
    for value in (1.0, 2.0, 3.0):
        layer(ag.constant([value]))
        assert losses(layer) == [value]


def test_losses_of_layers_in_layers() -> None:
    class Outer(Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = [Penalty(), Penalty()]

        def call(self, inputs: Any) -> Any:
            return self.inner[1](self.inner[0](inputs))

    outer = Outer()
    for value in (1.0, 2.0, 3.0):
        outer(ag.constant([value]))
        assert losses(outer) == [value, value]


def test_losses_have_gradients() -> None:
    layer = Dense(2, kernel_initializer="ones", kernel_regularizer=lambda w: ag.reduce_sum(ag.square(w)))
    layer.build((None, 3))
    with ag.GradientTape() as tape:
        (loss,) = layer.losses
    np.testing.assert_array_equal(tape.gradient(loss, layer.kernel).numpy(), np.full((3, 2), 2.0))


def test_weights_go_round() -> None:
    source, target = Dense(2), Dense(2)
    for layer in (source, target):
        layer.build((None, 3))
    target.set_weights(source.get_weights())
    for a, b in zip(source.get_weights(), target.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert source.count_params() == 8
    weights = source.get_weights()
    weights[0][:] = 0.0
    assert np.any(source.kernel.numpy())


def test_weights_that_do_not_fit_change_nothing() -> None:
    layer = Dense(2, name="d")
    layer.build((None, 3))
    before = layer.get_weights()
    cases: list[tuple[list[Any], str]] = [
        ([np.zeros((3, 2))], "Dense.set_weights: takes 2 arrays, one for each variable; got 1."),
        (
            [np.zeros((3, 2)), np.zeros(3)],
            "Dense.set_weights: variable 'd/bias:0' has shape (2,); got an array of shape (3,).",
        ),
    ]
    for weights, text in cases:
        with says(ValueError, text):
            layer.set_weights(weights)
        np.testing.assert_array_equal(layer.get_weights()[0], before[0])


@pytest.mark.parametrize(
    "layer",
    [
        Dense(3, activation="relu", kernel_initializer=RandomNormal(stddev=0.5, seed=2), name="d"),
        Dense(2, use_bias=False, dtype="float64", trainable=False, input_shape=(4,)),
        Dropout(0.25, noise_shape=(None, 1)),
        Flatten("channels_first"),
        Activation("softmax"),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_description_makes_an_equal_layer(layer: Layer) -> None:
    config = layer.get_config()
    again = type(layer).from_config(json.loads(json.dumps(config)))
    assert again.get_config() == config
    assert again.name == layer.name


def test_description_is_whole() -> None:
    assert Dense(3, "relu", name="d", input_shape=(2,)).get_config() == {
        "units": 3,
        "activation": "relu",
        "use_bias": True,
        "kernel_initializer": {
            "class_name": "VarianceScaling",
            "config": {
                "scale": 1.0,
                "mode": "fan_avg",
                "distribution": "uniform",
                "seed": None,
                "dtype": "float32",
            },
        },
        "bias_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
        "kernel_regularizer": None,
        "bias_regularizer": None,
        "kernel_constraint": None,
        "bias_constraint": None,
        "trainable": True,
        "name": "d",
        "dtype": None,
        "batch_input_shape": [None, 2],
    }


class Scaled(Layer):
    """A layer of the program: described by its constructor alone."""

    def __init__(self, factor: float, layer: Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor, self.layer = factor, layer


def test_layers_of_the_program_must_be_named() -> None:
    data = describe(Scaled(2.0, Activation("relu", name="a"), name="s"))
    assert data["config"]["layer"]["class_name"] == "Activation"
    with says(
        ValueError,
        "Unknown class 'Scaled'; a class of the program must be named: custom_objects={'Scaled': Scaled}. Known are "
        f"{', '.join(sorted({name for each in classes.values() for name in each}))}.",
    ):
        revive(data)
    with custom_object_scope({"Scaled": Scaled}):
        again = revive(data)
    assert (again.factor, again.layer.name, again.name) == (2.0, "a", "s")


class Placed(Layer):
    """A layer of the program that others derive from, with an argument that they give in their own way."""

    def __init__(self, length: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)


class Positions(Placed):
    """A layer of the program that keeps none of its arguments."""

    def __init__(self, length: int, size: Any = (2, 3), *, start: float = 0.5, **kwargs: Any) -> None:
        super().__init__(length + 1, **kwargs)
        self.table = Dense(length)


@pytest.mark.parametrize(
    "changed", [lambda layer: layer, copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))]
)
def test_layers_of_the_program_are_described_by_what_they_were_made_with(changed: Any) -> None:
    config = changed(Positions(4, start=1.0, name="p")).get_config()
    assert (config["length"], config["size"], config["start"], config["name"]) == (4, [2, 3], 1.0, "p")
    again = Positions.from_config(config)
    assert (again.get_config(), again.table.units) == (config, 4)
    assert set(again._tracked_parts) == {"table"}
    assert str(inspect.signature(Positions)).startswith("(length: 'int', size: 'Any' = (2, 3), *, start")


def test_what_has_no_description() -> None:
    class Keeper(Layer):
        def __init__(self, secret: Any) -> None:
            super().__init__()
            self._secret = secret

    def double(x: Any) -> Any:
        return x * 2.0

    cases: list[tuple[Layer, str]] = [
        (
            Keeper(double),
            "Keeper.get_config: no attribute 'secret' keeps the constructor's argument of that name; assign it in "
            "__init__, or implement get_config.",
        ),
        (
            Activation(double),
            f"Activation.get_config: activation is {double!r} of type function, which is no data; a function has a "
            "description only if tf.keras knows it by name. Implement get_config and from_config.",
        ),
    ]
    for layer, text in cases:
        with says(NotImplementedError, text):
            layer.get_config()
