"""Network: names, tracking, sharing, errors; and its Sequential."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, Layer, Model, Network
from agog_layers.models.network import Sequential
from agog_layers.tf_layers.variable_scope import variable_scope
from agog_testing import says

GONE = (
    "The Network that first tracked layer {!r} was garbage collected before the layer was built, so the names of its "
    "variables cannot be told. Keep that Network, or make a new layer."
)


class OneLayer(Network):
    """A network of one layer."""

    def __init__(self, name: str | None = None, layer: Layer | None = None) -> None:
        super().__init__(name)
        self.layer = self.track_layer(layer or Dense(1))

    def call(self, inputs: Any) -> Any:
        return self.layer(inputs)


class Chain(Network):
    """A network of layers that are given to it."""

    def __init__(self, *layers: Layer, name: str | None = None) -> None:
        super().__init__(name)
        self.chain = [self.track_layer(layer) for layer in layers]

    def call(self, inputs: Any) -> Any:
        for layer in self.chain:
            inputs = layer(inputs)
        return inputs


def names(network: Layer) -> list[str]:
    return [v.name for v in network.variables]


def x() -> ag.Tensor:
    return ag.constant([[2.0]])


def test_names_start_anew_in_each_network() -> None:
    class Fresh(Chain):
        pass

    nets = [Fresh(Dense(1), Dense(1, name="named"), Dense(1)) for _ in range(2)]
    for net in reversed(nets):
        net(x())
    assert names(nets[1])[::2] == ["fresh/dense/kernel:0", "fresh/named/kernel:0", "fresh/dense_1/kernel:0"]
    assert names(nets[0])[::2] == ["fresh_1/dense/kernel:0", "fresh_1/named/kernel:0", "fresh_1/dense_1/kernel:0"]
    assert [net.name for net in nets] == ["fresh_1", "fresh"]


def test_no_name_before_the_first_call() -> None:
    net = OneLayer()
    with says(
        ValueError,
        "The network does not yet have a final name, but a name was requested for it. A OneLayer without a name gets "
        "one when it is first called, or when another network tracks it.",
    ):
        _ = net.name
    assert net.variables == []
    net(x())
    assert net.name.startswith("one_layer")


def test_explicit_names() -> None:
    net = OneLayer("explicit")
    assert net.name == "explicit"
    net(x())
    again = OneLayer("explicit")
    with says(
        ValueError,
        "A Network named 'explicit' already exists (or a variable_scope was created with this name). Names must be "
        "unique.",
    ) as caught:
        again(x())
    del net, caught
    gc.collect()
    again(x())
    assert names(again)[0] == "explicit/dense/kernel:0"


def test_anonymous_names_keep_clear_of_explicit_ones() -> None:
    class Clear(OneLayer):
        pass

    explicit = Clear("clear")
    explicit(x())
    anonymous = Clear()
    anonymous(x())
    assert anonymous.name == "clear_1"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a/b", "Forward slashes ('/') are not allowed in Network names; got 'a/b'."),
        (3, "ints are not valid Network names; got 3. A Network's name must be a string."),
    ],
)
def test_bad_names(name: Any, text: str) -> None:
    with says(ValueError, text):
        OneLayer(name)


def test_nested_networks_are_named_after_their_first_parent() -> None:
    inner = OneLayer()
    first = Chain(inner, Dense(1), name="first")
    assert inner.name == "one_layer"
    second = Chain(inner, OneLayer(), name="second")
    second(x())
    first(x())
    assert names(second)[::2] == ["first/one_layer/dense/kernel:0", "second/one_layer/dense/kernel:0"]
    assert names(first)[::2] == ["first/one_layer/dense/kernel:0", "first/dense/kernel:0"]


def test_shared_layer_keeps_the_names_of_its_first_network() -> None:
    shared = Dense(1)
    owner = Chain(shared, name="owner")
    user = Chain(Dense(1), shared, name="user")
    user(x())
    assert names(user)[::2] == ["user/dense/kernel:0", "owner/dense/kernel:0"]
    assert user.variables[2] is owner.variables[0]


def test_built_parts_keep_their_names() -> None:
    layer, inner = Dense(1, name="old"), OneLayer("top")
    layer(x())
    inner(x())
    net = Chain(layer, inner, name="outer_of_built")
    net(x())
    assert names(net)[::2] == ["old/kernel:0", "top/dense/kernel:0"]


def test_first_network_is_gone() -> None:
    shared, inner = Dense(1, name="shared"), OneLayer("inner_alone")
    first = Chain(shared, inner, name="gone")
    second = Chain(inner, shared, name="stays")
    del first
    gc.collect()
    with says(ValueError, GONE.format("shared")):
        second(x())
    assert names(inner) == ["inner_alone/dense/kernel:0", "inner_alone/dense/bias:0"]


def test_a_layer_whose_network_is_gone_may_join_another() -> None:
    layer = Dense(1)
    first = Chain(Dense(1), layer)
    assert layer.name == "dense_1"
    del first
    gc.collect()
    net = Chain(layer, name="adopts")
    net(x())
    assert names(net)[0] == "adopts/dense/kernel:0"


def test_equal_names_in_one_network() -> None:
    net = Network("twins")
    net.track_layer(Dense(1, name="a"))
    with says(ValueError, "Attempt to add two Layers with the name 'a' to the same Network."):
        net.track_layer(Dense(1, name="a"))
    assert len(net.layers) == 1


def test_same_layer_twice_is_tracked_once() -> None:
    layer = Dense(1)
    net = Network()
    assert net.track_layer(layer) is layer
    assert net.track_layer(layer) is layer
    assert net.layers == [layer]


def test_variables_are_not_told_apart_by_network() -> None:
    shared = Dense(1)
    net = Chain(Chain(shared), Chain(shared))
    net(x())
    assert net.variables == net.trainable_weights == net.weights == [shared.kernel, shared.bias] * 2


def test_losses_and_freezing_of_parts() -> None:
    frozen = Dense(1, kernel_initializer="ones", kernel_regularizer=ag.reduce_sum)
    net = Chain(frozen, Dense(1))
    net(x())
    assert [float(loss) for loss in net.losses] == [1.0]
    frozen.trainable = False
    assert net.non_trainable_variables == [frozen.kernel, frozen.bias]
    assert net.trainable_variables == net.layers[1].variables
    assert net.variables == frozen.variables + net.layers[1].variables


def test_variables_in_attributes_belong_to_the_network() -> None:
    net = OneLayer()
    net.scale = ag.Variable(1.0, name="scale")  # type: ignore[attr-defined]
    net.count = ag.Variable(1, trainable=False, name="count")  # type: ignore[attr-defined]
    net(x())
    assert [v.name for v in net.variables[2:]] == ["scale:0", "count:0"]
    assert net.trainable_variables[-1].name == "scale:0"
    assert [v.name for v in net.non_trainable_variables] == ["count:0"]


def test_trainable() -> None:
    net = OneLayer()
    assert net.trainable
    net.trainable = True
    with says(
        AttributeError,
        "cannot mark Network as not trainable; mark its layers, or leave their variables out of var_list.",
    ):
        net.trainable = False


def test_get_layer() -> None:
    net = Chain(Dense(1, name="a"), Dense(1, name="b"))
    assert net.get_layer("b") is net.get_layer(index=1) is net.layers[1]
    with says(ValueError, "Chain.get_layer: no layer has the name 'c'; the layers are 'a', 'b'."):
        net.get_layer("c")


def test_what_networks_do_not_have() -> None:
    net = Network()
    for method in (net.add_variable, net.add_weight):
        with says(
            RuntimeError, "add_variable is not supported in Network; make the variable in a layer, and track that."
        ):
            method("w", [1])
    with says(RuntimeError, "add_loss is not supported in Network; add the term to the loss instead."):
        net.add_loss(1.0)
    with says(NotImplementedError, "Network has no `call`: a subclass of Model implements it, call(self, inputs)."):
        net(x())


def test_track_layer_errors() -> None:
    class Forgetful(Network):
        def __init__(self) -> None:
            self.layer = self.track_layer(Dense(1))

    with says(
        RuntimeError,
        "Need to call Network.__init__ before adding layers: start Forgetful.__init__ with super().__init__().",
    ):
        Forgetful()
    with says(
        TypeError, "Network.track_layer() passed type <class 'builtin_function_or_method'>, not a tf.layers.Layer"
    ):
        Network().track_layer(abs)


def test_any_layer_can_be_tracked() -> None:
    class Scale(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(1, name="in_model")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    net = Chain(Scale(), name="holds_model")
    net(x())
    assert names(net)[0] == "holds_model/scale/in_model/kernel:0"


def test_network_inside_a_model() -> None:
    class Outer(Model):
        def __init__(self) -> None:
            super().__init__(name="outer")
            self.net = OneLayer("in_outer")

        def call(self, inputs: Any) -> Any:
            return self.net(inputs)

    model = Outer()
    model(x())
    assert names(model) == ["in_outer/dense/kernel:0", "in_outer/dense/bias:0"]


def test_checkpoint_dependencies() -> None:
    net = OneLayer()
    assert net.checkpoint_dependencies() == {"layers": [net.layer], "layer": net.layer}


def test_network_computes_on_arrays() -> None:
    net = OneLayer()
    values = np.float32([[1.0], [2.0]])
    kernel, bias = (net(values), [v.numpy() for v in net.variables])[1]
    np.testing.assert_allclose(net(values).numpy(), values @ kernel + bias, rtol=1e-6)
    net.build((None, 1))


def test_sequential_of_layers_and_functions() -> None:
    seen: list[Any] = []

    def double(inputs: Any) -> Any:
        return inputs * 2.0

    def spy(inputs: Any, training: Any = None) -> Any:
        seen.append(training)
        return inputs

    net = Sequential([Dense(1, kernel_initializer="ones"), double], name="eager_sequence")
    net.add(spy)
    assert net(x()).numpy().tolist() == [[4.0]]
    net(x(), training=True)
    assert seen == [None, True]
    assert names(net) == ["eager_sequence/dense/kernel:0", "eager_sequence/dense/bias:0"]
    with says(TypeError, "Sequential.add() takes a tf.layers.Layer or a function; got 3 of type <class 'int'>."):
        net.add(3)


def test_the_name_of_a_network_made_in_scopes() -> None:
    with variable_scope("outer_of_named"), variable_scope("inner"):
        network = OneLayer("named_inside")
    network(x())
    assert network.name == "outer_of_named/inner/named_inside"
    assert network.variables[0].name.startswith("outer_of_named/inner/named_inside/dense/")
