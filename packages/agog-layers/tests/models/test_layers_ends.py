"""The ends of models: their inputs and outputs, and an `Input` as the first of a `Sequential`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, Input, InputLayer, Layer, Model, Sequential
from agog_testing import says


def test_a_functional_model_has_input_and_output() -> None:
    x = Input((4,))
    y = Dense(3)(x)
    for model in (Model(x, y), Model([x], [y])):
        assert model.input is x
        assert model.output is y
        assert model.input_shape.as_list() == [None, 4]
        assert model.output_shape.as_list() == [None, 3]


def test_several_inputs_and_outputs_keep_their_structure() -> None:
    a, b = Input((4,)), Input((2,))
    y, z = Dense(3)(a), Dense(1)(b)
    model = Model([a, b], {"y": y, "z": z})
    assert [each is symbol for each, symbol in zip(model.input, [a, b], strict=True)] == [True, True]
    assert model.output["z"] is z
    assert [shape.as_list() for shape in model.input_shape] == [[None, 4], [None, 2]]
    assert {name: shape.as_list() for name, shape in model.output_shape.items()} == {"y": [None, 3], "z": [None, 1]}


def test_a_model_that_is_called_as_a_layer_keeps_its_own_ends() -> None:
    x, other = Input((4,)), Input((4,))
    model = Model(x, Dense(3)(x))
    outer = model(other)
    assert model.input is x
    assert model.output is not outer
    assert model.get_output_at(0) is outer


def test_a_new_model_is_made_of_the_ends_of_another() -> None:
    base = Sequential([Dense(5, input_shape=(4,)), Dense(3)])
    head = Model(base.input, Dense(2)(base.output))
    x = np.ones((6, 4), np.float32)
    assert head(x).shape.as_list() == [6, 2]
    features = Model(base.input, base.layers[0].output)
    np.testing.assert_array_equal(features(x).numpy(), base.layers[0](ag.constant(x)).numpy())


def test_sequential_models_have_ends_once_the_shape_is_known() -> None:
    model = Sequential([Dense(5), Dense(3)], name="s")
    for name, told in [("input", "input"), ("output", "output"), ("output_shape", "output shape")]:
        with says(
            AttributeError,
            f"Sequential layer 's' has no {told}: it was not called on a tf.keras.Input, or on what comes of one.",
        ):
            getattr(model, name)
    model = Sequential([Dense(5, input_shape=(4,)), Dense(3)])
    assert model.input is model.layers[0].input
    assert model.output is model.layers[1].output
    assert (model.input_shape.as_list(), model.output_shape.as_list()) == ([None, 4], [None, 3])


def test_an_attribute_of_the_program_goes_before() -> None:
    class Mine(Model):
        def __init__(self) -> None:
            super().__init__()
            self.output = Dense(1)

        def call(self, inputs: Any) -> Any:
            return self.output(inputs)

    model = Mine()
    assert isinstance(model.output, Dense)
    assert model(ag.zeros([2, 3])).shape.as_list() == [2, 1]


def test_an_input_is_the_first_of_a_sequential() -> None:
    x = Input((4,), dtype="float64")
    model, same = Sequential([x, Dense(3)]), Sequential([InputLayer((4,), dtype="float64"), Dense(3)])
    assert model.input is x
    assert [v.shape for v in model.weights] == [v.shape for v in same.weights]
    assert model.weights[0].dtype == ag.float64
    assert len(model.layers) == 1
    added = Sequential()
    added.add(Input((4,)))
    added.add(Dense(2))
    assert added.built
    assert added.output_shape.as_list() == [None, 2]


def test_what_is_no_input_is_not_added() -> None:
    x = Input((4,), name="x")
    with pytest.raises(ValueError, match=r"^Sequential 's': InputLayer 'x' must be the first layer\.$"):
        Sequential([Dense(3), x], name="s")
    with says(
        TypeError, "Sequential 's' takes layers; got <Symbolic 'd' shape=(?, 3) dtype=float32> of type Symbolic."
    ):
        Sequential([Dense(3, name="d")(x)], name="s")
    assert isinstance(x.node.layer, Layer)
