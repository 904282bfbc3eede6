"""Tests of the functions of layers inside of `variable_scope`: defaults, custom getters and names."""

import sys
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.variables.name_scope import reset_names
from agog_layers import Dense, Network, batch_normalization, conv2d, dense, separable_conv2d
from agog_layers.naming.variable_store import EagerVariableStore
from agog_layers.tf_layers import layers as tf_layers
from agog_layers.tf_layers.template import make_template
from agog_layers.tf_layers.variable_scope import variable_scope
from agog_testing import says


def _names(store: EagerVariableStore) -> list[str]:
    return [variable.name for variable in store.variables()]


def _values(store: EagerVariableStore) -> dict[str, list[float]]:
    return {v.name: sorted(set(v.numpy().ravel().tolist())) for v in store.variables()}


def test_weights_take_the_initializer_of_the_scope_where_none_is_given() -> None:
    with EagerVariableStore().as_default() as store, variable_scope("s", initializer="ones"):
        out = dense(ag.constant([[1.0, 2.0]]), 2, name="a")
        dense(ag.zeros([1, 2]), 2, kernel_initializer=None, bias_initializer=None, name="b")
        dense(ag.zeros([1, 2]), 2, kernel_initializer="zeros", name="c")
    np.testing.assert_array_equal(out.numpy(), [[3.0, 3.0]])
    assert _values(store) == {
        **{"s/a/kernel:0": [1.0], "s/a/bias:0": [0.0]},
        **{"s/b/kernel:0": [1.0], "s/b/bias:0": [1.0]},
        **{"s/c/kernel:0": [0.0], "s/c/bias:0": [0.0]},
    }


def test_each_kernel_takes_the_initializer_of_the_scope() -> None:
    image = ag.ones([1, 2, 2, 1])
    with EagerVariableStore().as_default() as store, variable_scope("s", initializer="ones"):
        conv2d(image, 1, 2, name="a")
        separable_conv2d(image, 1, 2, name="b")
        batch_normalization(image, name="c")
    values = _values(store)
    assert [values[f"s/{name}:0"] for name in ("a/kernel", "b/depthwise_kernel", "b/pointwise_kernel")] == [[1.0]] * 3
    assert [values[f"s/c/{name}:0"] for name in ("beta", "gamma")] == [[0.0], [1.0]]


def test_a_custom_getter_makes_the_weights() -> None:
    asked: list[tuple[str, tuple[int, ...], bool]] = []

    def frozen(getter: Any, name: str, **arguments: Any) -> ag.Variable:
        asked.append((name, tuple(arguments["shape"]), arguments["trainable"]))
        made: ag.Variable = getter(name, **{**arguments, "trainable": False})
        return made

    with EagerVariableStore().as_default() as store, variable_scope("s", custom_getter=frozen):
        dense(ag.zeros([1, 2]), 3, name="a")
    assert asked == [("s/a/kernel", (2, 3), True), ("s/a/bias", (3,), True)]
    assert (_names(store), store.trainable_variables()) == (["s/a/bias:0", "s/a/kernel:0"], [])
    dense(ag.zeros([1, 2]), 3)
    assert len(asked) == 2


def test_a_custom_getter_may_return_what_it_makes_of_a_variable() -> None:
    def doubled(getter: Any, name: str, **arguments: Any) -> ag.Tensor:
        return ag.constant(2.0) * getter(name, **arguments).value()

    with EagerVariableStore().as_default(), variable_scope("s", initializer="ones", custom_getter=doubled):
        x = ag.constant([[1.0, 2.0]])
        with ag.GradientTape() as tape:
            out = dense(x, 1, use_bias=False, name="a")
        [variable] = tape.watched_variables()
    np.testing.assert_array_equal(out.numpy(), [[6.0]])
    np.testing.assert_array_equal(tape.gradient(out, variable).numpy(), [[2.0], [4.0]])


def test_a_constraint_of_the_scope_is_that_of_the_weights() -> None:
    with EagerVariableStore().as_default() as store, variable_scope("s", constraint=ag.abs):
        dense(ag.zeros([1, 2]), 3, name="a")
    assert [variable.constraint for variable in store.variables()] == [ag.abs, ag.abs]


def test_a_scope_that_only_finds_needs_a_store() -> None:
    with (
        variable_scope("s", reuse=True),
        pytest.raises(
            RuntimeError,
            match=r"^dense: variables are found again by name only while an EagerVariableStore is active "
            r"\(tfe\.EagerVariableStore\(\)\.as_default\(\)\); or make a Dense layer and call that twice\.$",
        ),
    ):
        dense(ag.zeros([1, 2]), 3)


def test_layers_are_named_per_scope() -> None:
    with EagerVariableStore().as_default() as store:
        for scope in ("a", "b"):
            with variable_scope(scope):
                dense(ag.zeros([1, 2]), 3, use_bias=False)
                dense(ag.zeros([1, 2]), 3, use_bias=False)
    assert _names(store) == ["a/dense/kernel:0", "a/dense_1/kernel:0", "b/dense/kernel:0", "b/dense_1/kernel:0"]


def test_layers_without_a_name_are_found_again_by_a_template() -> None:
    double = make_template("t", lambda x: dense(dense(x, 2, use_bias=False), 2, use_bias=False))
    first, second = (double(ag.constant([[1.0, 2.0]])).numpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert [v.name.rpartition("t/")[2] for v in double.variables] == ["dense/kernel:0", "dense_1/kernel:0"]


def test_names_begin_anew() -> None:
    for _ in range(2):
        reset_names()
        assert [Dense(1).name, Dense(1).name] == ["dense", "dense_1"]
        with variable_scope(None, "scope") as scope:
            assert scope.name == "scope"
        made = [make_template("t", len, create_scope_now_=True) for _ in range(2)]
        assert [template.variable_scope.name for template in made if template.variable_scope] == ["t", "t_1"]


class _Net(Network):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.only = self.track_layer(Dense(1, use_bias=False))

    def call(self, inputs: Any) -> Any:
        return self.only(inputs)


def test_the_scope_in_which_a_network_is_made_begins_its_variables_names() -> None:
    with variable_scope("one"), variable_scope("two"):
        net = _Net("net")
    with variable_scope("three"):
        net(ag.zeros([1, 2]))
    assert (net.name, [v.name for v in net.variables]) == ("one/two/net", ["one/two/net/dense/kernel:0"])
    with variable_scope("other"):
        same = _Net("net")
    same(ag.zeros([1, 2]))
    assert [v.name for v in same.variables] == ["other/net/dense/kernel:0"]


def test_a_network_inside_of_another_is_named_after_that() -> None:
    class Outer(Network):
        def __init__(self) -> None:
            super().__init__("outer")
            with variable_scope("inside"):
                self.inner = self.track_layer(_Net("inner"))

        def call(self, inputs: Any) -> Any:
            return self.inner(inputs)

    with variable_scope("around"):
        net = Outer()
    net(ag.zeros([1, 2]))
    assert [v.name for v in net.variables] == ["around/outer/inner/dense/kernel:0"]


def test_the_name_of_a_network_is_free_again_after_a_reset() -> None:
    first = _Net("free")
    first(ag.zeros([1, 2]))
    with pytest.raises(ValueError, match=r"^A Network named 'free' already exists \(or"):
        _Net("free")(ag.zeros([1, 2]))
    reset_names()
    second = _Net("free")
    second(ag.zeros([1, 2]))
    assert [v.name for v in second.variables] == ["free/dense/kernel:0"]


def test_objects_take_from_the_scope_around_their_first_call_what_they_are_not_given() -> None:
    layers = [
        tf_layers.Dense(1, name="a"),
        tf_layers.Dense(1, kernel_initializer=None, bias_initializer=None, name="b"),
        tf_layers.Dense(1, None, True, "zeros", name="c"),
        Dense(1, kernel_initializer="zeros", name="keras"),
    ]
    with variable_scope("s", initializer="ones", constraint=ag.abs):
        for layer in layers:
            layer(ag.zeros([1, 2]))
    assert [[v.numpy().ravel().tolist() for v in layer.variables] for layer in layers] == [
        *([[1.0, 1.0], [0.0]], [[1.0, 1.0], [1.0]], [[0.0, 0.0], [0.0]], [[0.0, 0.0], [0.0]])
    ]
    assert [v.name for layer in layers for v in layer.variables[:1]] == [
        f"s/{n}/kernel:0" for n in ["a", "b", "c", "keras"]
    ]
    assert [layer.kernel.constraint for layer in layers] == [ag.abs, ag.abs, ag.abs, None]


def test_without_a_scope_objects_are_as_those_of_keras() -> None:
    layer = tf_layers.Dense(3, bias_initializer=None)
    layer(ag.zeros([1, 2]))
    assert layer.get_config() | {"name": ""} == Dense(3, dtype="float32").get_config() | {"name": ""}
    assert (layer.bias.numpy().tolist(), layer.kernel.constraint) == ([0.0] * 3, None)
    assert [type(each) for each in (tf_layers.Dense.from_config(layer.get_config()), layer)] == [tf_layers.Dense] * 2
    assert isinstance(layer, Dense)
    assert all(issubclass(getattr(tf_layers, name), tf_layers.Layer) for name in tf_layers.__all__)


def test_objects_are_named_per_scope() -> None:
    reset_names()
    names = []
    for scope in ("a", "b"):
        with variable_scope(scope):
            first, second, third = (
                tf_layers.Dense(1, use_bias=False),
                tf_layers.Dense(1, use_bias=False),
                tf_layers.Flatten(),
            )
            first(ag.zeros([1, 2]))
            names.append([first.kernel.name, first.name, second.name, third.name])
    # As in TensorFlow 1.12: names of objects are counted in the whole program, those of variables in their scope.
    assert names == [
        ["a/dense/kernel:0", "dense_1", "dense_2", "flatten_1"],
        ["b/dense/kernel:0", "dense_3", "dense_4", "flatten_2"],
    ]


def test_variables_are_named_in_the_order_of_first_calls() -> None:
    reset_names()
    x = ag.zeros([1, 1])
    tf_layers.Dense(1)  # never called
    first, shared = tf_layers.Dense(1, use_bias=False), tf_layers.Dense(1, use_bias=False)
    for layer in (first, shared, tf_layers.Dense(1, name="a"), tf_layers.Dense(1, name="a")):
        layer(x)
    again = tf_layers.Dense(1, name="a")
    again(x)
    assert [first.name, shared.name, again.name] == ["dense_2", "dense_3", "a"]
    assert [layer.kernel.name for layer in (first, shared, again)] == [
        "dense/kernel:0",
        "dense_1/kernel:0",
        "a_2/kernel:0",
    ]

    class First(Network):
        def __init__(self) -> None:
            super().__init__()
            self.first = self.track_layer(shared)
            self.second = self.track_layer(tf_layers.Dense(1, use_bias=False))

        def call(self, x: Any) -> Any:
            return self.second(self.first(x))

    net = First()
    net(x)
    assert [v.name for v in net.variables] == ["dense_1/kernel:0", "first/dense/kernel:0"]
    assert [net.name, net.first.name, net.second.name] == ["first", "dense_3", "dense"]


def test_a_scope_counts_anew_each_time_that_it_is_entered() -> None:
    reset_names()
    names = []
    for _ in range(2):
        with variable_scope("a"):
            layers = tf_layers.Dense(1), tf_layers.Dense(1)
            names += [(layer(ag.zeros([1, 1])), layer.kernel.name)[1] for layer in layers]
    assert names == ["a/dense/kernel:0", "a/dense_1/kernel:0"] * 2
    with variable_scope(None, "a") as scope:
        assert scope.name == "a_1"
    with variable_scope(None, "a") as scope:
        assert scope.name == "a_2"


def test_a_network_has_no_name_of_a_scope() -> None:
    reset_names()
    with variable_scope("taken"):
        pass
    net = Network(name="taken")
    with says(
        ValueError,
        "A Network named 'taken' already exists (or a variable_scope was created with this name). Names must be "
        "unique.",
    ):
        net._full_path()
    with variable_scope("outside"):
        with variable_scope("network_1"):
            pass
        nets = [Network(), Network(), Network(name="taken")]
    nets.append(Network())
    assert [net._full_path() and net.name for net in nets] == [
        "outside/network",
        "outside/network_2",
        "outside/taken",
        "network",
    ]


def test_a_subclass_says_what_its_base_is_given() -> None:
    class Ones(tf_layers.Dense):
        def __init__(self, units: int) -> None:
            super().__init__(units, kernel_initializer="ones")

    class Own(tf_layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.w = self.add_weight("w", [2])

    layers = [Ones(1), Own()]
    with variable_scope("s", initializer="zeros"):
        for layer in layers:
            layer(ag.zeros([1, 2]))
    assert [layer.variables[0].numpy().ravel().tolist() for layer in layers] == [[1.0, 1.0], [0.0, 0.0]]


def test_a_custom_getter_makes_the_weights_of_objects() -> None:
    def frozen(getter: Any, name: str, **arguments: Any) -> Any:
        return getter(name, **{**arguments, "trainable": False})

    layer = tf_layers.Dense(1)
    with variable_scope("s", custom_getter=frozen):
        layer(ag.zeros([1, 2]))
    assert ([v.trainable for v in layer.variables], len(layer.trainable_variables)) == ([False, False], 0)


def test_a_custom_getter_of_an_object_must_return_variables() -> None:
    layer = tf_layers.Dense(1, name="d")
    with (
        variable_scope("s", custom_getter=lambda getter, name, **arguments: getter(name, **arguments).value()),
        says(
            TypeError,
            "Dense layer 'd': the custom getter of the variable scope returned a Tensor for weight 's/d/kernel', but a "
            "layer that is called again needs a variable. Return one, or call a function of tf.layers, which asks at "
            "each call.",
        ),
    ):
        layer(ag.zeros([1, 2]))


def test_misspelled_arguments_of_functions_name_the_nearest() -> None:
    for function, given, expected in (
        (dense, {"unit": 3}, "dense has no argument 'unit'; did you mean 'units'?"),
        (conv2d, {"filtres": 3}, "conv2d has no argument 'filtres'; did you mean 'filters'?"),
        (
            batch_normalization,
            {"trainning": True},
            "batch_normalization has no argument 'trainning'; did you mean 'training'?",
        ),
    ):
        with says(TypeError, expected):
            function(ag.zeros([1, 2]), **given)


def test_scopes_cost_no_more_for_those_before() -> None:
    """A scope that ends looks at what is inside of it alone."""

    def calls_of(count: int) -> int:
        calls = 0

        def note(*event: Any) -> None:
            nonlocal calls
            calls += event[1] in ("call", "c_call")

        sys.setprofile(note)
        try:
            for number in range(count):
                with variable_scope(f"outer{number}"), variable_scope("inner"):
                    pass
        finally:
            sys.setprofile(None)
        return calls

    with EagerVariableStore().as_default():
        few, many = calls_of(20), calls_of(200)
    assert many < 11 * few
