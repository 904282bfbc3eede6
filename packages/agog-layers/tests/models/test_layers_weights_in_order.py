"""The order of `weights`, `get_weights` and `set_weights`: that of TensorFlow, layer by layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import BatchNormalization, Bidirectional, Dense, Input, Layer, Model, Sequential, TimeDistributed

NORMALIZED = ["gamma", "beta", "moving_mean", "moving_variance"]
DENSE = ["kernel", "bias"]


def ends(layer: Any) -> list[str]:
    return [variable.name.rpartition("/")[2].removesuffix(":0") for variable in layer.weights]


def sequential() -> Sequential:
    return Sequential([Dense(3, input_shape=(2,)), BatchNormalization(), Dense(1)])


def test_a_sequential_lists_its_layers_one_after_another() -> None:
    model = sequential()
    assert ends(model) == [*DENSE, *NORMALIZED, *DENSE]
    assert [id(v) for v in model.variables] == [id(v) for layer in model.layers for v in layer.weights]
    shapes = [(2, 3), (3,), (3,), (3,), (3,), (3,), (3, 1), (1,)]
    assert [array.shape for array in model.get_weights()] == shapes


def test_values_in_tensorflows_order_reach_their_variables() -> None:
    model = sequential()
    arrays = [np.full(array.shape, float(number)) for number, array in enumerate(model.get_weights())]
    model.set_weights(arrays)
    normalization = model.layers[1]
    for number, name in enumerate(NORMALIZED, 2):
        np.testing.assert_array_equal(getattr(normalization, name).numpy(), np.full(3, float(number)))
    np.testing.assert_array_equal(model.layers[2].kernel.numpy(), np.full((3, 1), 6.0))
    x = np.array([[1.0, 2.0]])
    hidden = x @ arrays[0] + arrays[1]
    hidden = (hidden - 4.0) / np.sqrt(5.0 + 1e-3) * 2.0 + 3.0
    np.testing.assert_allclose(model(x.astype("float32")).numpy(), hidden @ arrays[6] + arrays[7], rtol=1e-6)


def test_a_functional_model_and_a_model_inside() -> None:
    x = Input(shape=[2])
    inner = sequential()
    model = Model(x, Dense(4)(BatchNormalization()(inner(Dense(2)(x)))))
    assert ends(model) == [*DENSE, *DENSE, *NORMALIZED, *DENSE, *NORMALIZED, *DENSE]
    assert [id(v) for v in model.weights[2:10]] == [id(v) for v in inner.weights]


def test_a_subclassed_model_lists_its_layers_and_then_its_own_variables() -> None:
    class Own(Model):
        def __init__(self) -> None:
            super().__init__()
            self.steps = ag.Variable(0.0, trainable=False, name="steps")
            self.scale = ag.Variable(1.0, name="scale")
            self.first = Dense(3)
            self.parts = [BatchNormalization(), {"last": Dense(1)}]

        def call(self, inputs: Any) -> Any:
            return self.scale * self.parts[1]["last"](self.parts[0](self.first(inputs)))

    model = Own()
    model(ag.ones([1, 2]))
    assert ends(model) == [*DENSE, *NORMALIZED, *DENSE, "scale", "steps"]


def test_what_is_shared_comes_once_where_it_comes_first() -> None:
    shared, x = Dense(2), Input(shape=[2])
    inner = Sequential([shared, BatchNormalization()])
    model = Model(x, Dense(1)(inner(shared(shared(x)))))
    assert ends(model) == [*DENSE, *NORMALIZED, *DENSE]
    assert [id(v) for v in model.weights[:2]] == [id(v) for v in shared.weights]


@pytest.mark.parametrize("frozen", [0, 1, 2, None])
def test_freezing_changes_no_order(frozen: int | None) -> None:
    model = sequential()
    before = [id(v) for v in model.weights]
    (model if frozen is None else model.layers[frozen]).trainable = False
    assert [id(v) for v in model.weights] == before
    assert len(model.trainable_weights) == (6 - 2 if frozen is not None else 0)
    assert len(model.trainable_weights) + len(model.non_trainable_weights) == 8


class Backwards(Layer):
    """A layer that makes what is not trained first."""

    def build(self, input_shape: Any) -> None:
        self.count = self.add_weight("count", trainable=False)
        self.scale = self.add_weight("scale")
        self.shift = ag.Variable(0.0, name="shift")
        self.built = True

    def call(self, inputs: Any) -> Any:
        return inputs * self.scale + self.shift


@pytest.mark.parametrize("trainable", [True, False])
def test_of_one_layer_what_was_made_to_be_trained_comes_first(trainable: bool) -> None:
    layer = Backwards(trainable=trainable)
    layer(ag.ones([1, 2]))
    assert ends(layer) == ["scale", "count", "shift"]
    layer.trainable = not trainable
    assert ends(layer) == ["scale", "count", "shift"]


def test_wrappers_list_what_they_wrap() -> None:
    from agog_layers import GRU

    wrapped = TimeDistributed(sequential())
    wrapped(ag.ones([1, 4, 2]))
    assert ends(wrapped) == [*DENSE, *NORMALIZED, *DENSE]
    both = Bidirectional(GRU(2))
    both(ag.ones([1, 4, 2]))
    assert [id(v) for v in both.weights] == [
        id(v) for layer in (both.forward_layer, both.backward_layer) for v in layer.weights
    ]
