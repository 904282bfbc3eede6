"""Model and Sequential: tracking, names, building, errors."""

from __future__ import annotations

from typing import Any

import numpy as np

import agog_core as ag
from agog_layers import LSTM, Activation, Dense, Dropout, Flatten, Input, Layer, Model, Sequential
from agog_testing import says


class Classifier(Model):
    """Two layers, and a variable of its own."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.temperature = ag.Variable(2.0, name="temperature")
        self.hidden = Dense(4, activation=ag.nn.relu, name="hidden")
        self.dropout = Dropout(0.5)
        self.logits = Dense(3, name="logits")

    def call(self, inputs: Any, training: Any = False) -> Any:
        return self.logits(self.dropout(self.hidden(inputs), training=training)) / self.temperature


def test_model_computes() -> None:
    x = np.random.default_rng(1).normal(size=(5, 2)).astype(np.float32)
    model = Classifier()
    y = model(x)
    w0, b0, w1, b1 = (v.numpy().astype(np.float64) for v in model.variables[:4])
    np.testing.assert_allclose(y.numpy(), (np.maximum(x @ w0 + b0, 0) @ w1 + b1) / 2, rtol=1e-5, atol=1e-6)


def test_variables_of_layers_come_before_bare_ones() -> None:
    model = Classifier(name="c")
    assert [v.name for v in model.variables] == ["temperature:0"]
    model(ag.zeros([1, 2]))
    assert [v.name for v in model.variables] == [
        "c/hidden/kernel:0",
        "c/hidden/bias:0",
        "c/logits/kernel:0",
        "c/logits/bias:0",
        "temperature:0",
    ]
    assert model.trainable_variables == model.variables


def test_training_argument_reaches_dropout() -> None:
    model = Classifier()
    x = ag.ones([1, 2])
    assert model(x).numpy().tolist() == model(x, training=False).numpy().tolist()
    ag.set_random_seed(1)
    first = model(x, training=True).numpy()
    ag.set_random_seed(1)
    np.testing.assert_array_equal(model(x, training=True).numpy(), first)


def test_models_nest_and_are_named_by_the_calls() -> None:
    class Pair(Model):
        def __init__(self) -> None:
            super().__init__(name="pair")
            self.left, self.right = Classifier("left"), Classifier("right")
            self.late: list[Layer] = []

        def call(self, inputs: Any) -> Any:
            outputs = self.left(inputs) + self.right(inputs)
            for layer in self.late:
                outputs = layer(outputs)
            return outputs

    pair = Pair()
    pair(ag.zeros([1, 2]))
    assert [v.name for v in pair.variables] == [
        *(f"pair/left/{weight}:0" for weight in ("hidden/kernel", "hidden/bias", "logits/kernel", "logits/bias")),
        "temperature:0",
        *(f"pair/right/{weight}:0" for weight in ("hidden/kernel", "hidden/bias", "logits/kernel", "logits/bias")),
        "temperature:0",
    ]
    pair.late.append(Dense(1, name="late"))
    pair(ag.zeros([1, 2]))
    assert pair.variables[-1].name == "pair/late/bias:0"


def test_layers_and_get_layer() -> None:
    model = Classifier(name="c")
    assert model.layers == [model.hidden, model.dropout, model.logits]
    assert model.get_layer("logits") is model.logits
    assert model.get_layer(index=0) is model.hidden
    assert model.get_layer(index=-1) is model.logits
    known = f"'hidden', '{model.dropout.name}', 'logits'"
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "Classifier.get_layer: Provide either a layer name or layer index."),
        (
            {"name": "hidden", "index": 0},
            "Classifier.get_layer: Exactly one of 'index' or 'name' must be provided.",
        ),
        ({"index": 3}, "Classifier.get_layer: no layer has index 3; there are 3 layers."),
        ({"name": "x"}, f"Classifier.get_layer: no layer has the name 'x'; the layers are {known}."),
    ]
    for arguments, text in cases:
        with says(ValueError, text):
            model.get_layer(**arguments)


def test_build_makes_the_variables() -> None:
    model = Classifier(name="c")
    model.build((None, 2))
    assert model.built
    assert [v.shape.as_list() for v in model.variables] == [[2, 4], [4], [4, 3], [3], []]
    assert model.variables[0].name == "c/hidden/kernel:0"


def test_own_build_runs_on_the_first_call() -> None:
    class Built(Model):
        def build(self, input_shape: Any) -> None:
            self.layer = Dense(int(input_shape[-1]))

        def call(self, inputs: Any) -> Any:
            return self.layer(inputs)

    assert Built()(ag.zeros([2, 3])).shape == [2, 3]


def test_call_can_be_replaced() -> None:
    model = Classifier()
    original = model.call
    model.call = lambda inputs: original(inputs) + 100.0  # type: ignore[method-assign]
    assert float(ag.reduce_min(model(ag.zeros([1, 2])))) == 100.0


def test_checkpoint_dependencies() -> None:
    assert list(Classifier().checkpoint_dependencies()) == ["temperature", "hidden", "dropout", "logits"]
    model = Sequential([Dense(1), Flatten()])
    assert model.checkpoint_dependencies() == {"layers": model.layers}


def test_forgotten_init() -> None:
    class Forgetful(Model):
        def __init__(self) -> None:
            self.dense = Dense(1)

    with says(
        RuntimeError,
        "It looks like you are subclassing `Model` and you forgot to call `super().__init__()` in Forgetful.__init__. "
        "Always start with this line.",
    ):
        Forgetful()


def test_what_models_do_not_have() -> None:
    class Empty(Model):
        pass

    model = Empty(name="e")
    text = "Model 'e': a model has no add_weight or add_variable; assign a tf.Variable or a layer to an attribute."
    for method in (model.add_weight, model.add_variable):
        with says(NotImplementedError, text):
            method("w", [1])
    with says(NotImplementedError, "Empty has no `call`: a subclass of Model implements it, call(self, inputs)."):
        model(ag.zeros([1]))


def test_list_is_many_inputs() -> None:
    model = Classifier(name="c")
    with says(
        ValueError,
        "Dense layer 'hidden' takes one tensor; got a list of 1, which would be that many inputs. "
        "Make one tensor of it with tf.convert_to_tensor.",
    ):
        model([[1.0, 2.0]])


def test_losses_of_parts() -> None:
    class Regularized(Model):
        def __init__(self) -> None:
            super().__init__()
            self.parts = [Dense(1, kernel_initializer="ones", kernel_regularizer=ag.reduce_sum) for _ in range(2)]

        def call(self, inputs: Any) -> Any:
            return self.parts[1](self.parts[0](inputs))

    model = Regularized()
    model(ag.zeros([1, 3]))
    assert [float(loss) for loss in model.losses] == [3.0, 1.0]


def test_sequential() -> None:
    model = Sequential([Flatten(), Dense(4, activation="relu"), Dense(2)], name="s")
    assert model.variables == []
    x = np.random.default_rng(2).normal(size=(3, 2, 2))
    y = model(ag.constant(x))
    w0, b0, w1, b1 = (v.numpy() for v in model.variables)
    np.testing.assert_allclose(y.numpy(), np.maximum(x.reshape(3, 4) @ w0 + b0, 0) @ w1 + b1, rtol=1e-12)
    assert [v.name.split("/")[0] for v in model.variables] == ["s"] * 4
    model.add(Activation("softmax"))
    np.testing.assert_allclose(model(x).numpy().sum(-1), 1, rtol=1e-12)
    assert len(model.layers) == 4


def test_sequential_with_an_input_shape_is_built_at_once() -> None:
    model = Sequential(name="s")
    model.add(Flatten(input_shape=(2, 3)))
    assert model.built
    model.add(Dense(4, name="a"))
    model.add(Sequential([Dense(5, name="b")], name="inner"))
    model.add(Dense(1, name="c"))
    assert [(v.name, v.shape.as_list()) for v in model.variables[::2]] == [
        ("s/a/kernel:0", [6, 4]),
        ("s/inner/b/kernel:0", [4, 5]),
        ("s/c/kernel:0", [5, 1]),
    ]
    variables = model.variables
    assert model(ag.zeros([7, 2, 3])).shape == [7, 1]
    assert model.variables == variables


def test_sequential_keeps_the_dtype_of_the_first_layer() -> None:
    model = Sequential([Dense(2, input_shape=(3,), dtype="float64"), Dense(1)])
    assert [v.dtype for v in model.variables] == [ag.float64] * 4


def test_sequential_build() -> None:
    model = Sequential([Dense(2), Dense(1)])
    model.build((None, 3))
    assert [v.shape.as_list() for v in model.variables] == [[3, 2], [2], [2, 1], [1]]


def test_sequential_passes_training_on() -> None:
    seen: list[Any] = []

    class Spy(Layer):
        def call(self, inputs: Any, training: Any = "default") -> Any:
            seen.append(training)
            return inputs

    model = Sequential([Dense(1), Spy(), Sequential([Spy()])])
    model(ag.zeros([1, 1]))
    model(ag.zeros([1, 1]), training=True)
    assert seen == ["default", "default", True, True]


def test_sequential_errors() -> None:
    model = Sequential(name="s")
    with says(TypeError, "Sequential 's' takes layers; got 'relu' of type str."):
        model.add("relu")  # type: ignore[arg-type]
    with says(ValueError, "Sequential 's' has no layers; add one first."):
        model(ag.zeros([1, 1]))


def test_reset_states_reaches_all_layers_that_have_some() -> None:
    layer = LSTM(2, stateful=True, return_sequences=True)
    model = Sequential([layer, Sequential([LSTM(2, stateful=True)]), Dense(1)])
    x = ag.ones([1, 3, 2])
    first = model(x).numpy()
    assert not np.array_equal(model(x).numpy(), first)
    model.reset_states()
    np.testing.assert_array_equal(model(x).numpy(), first)


def test_inputs_that_programs_set() -> None:
    class Double(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(2)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs) * 2

    model = Double()
    model._set_inputs(np.ones((3, 4)))
    assert model.built
    assert [variable.shape.as_list() for variable in model.weights] == [[4, 2], [2]]
    assert {variable.dtype for variable in model.weights} == {ag.float32}
    assert not model._is_graph_network
    x = Input((4,))
    assert Model(x, Dense(2)(x))._is_graph_network


def test_what_a_called_model_took_and_gave() -> None:
    class Two(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(2)

        def call(self, inputs: Any) -> Any:
            a, b = inputs
            return {"sum": self.dense(a), "count": b}

    model = Two()
    assert (model.inputs, model.outputs) == (None, None)
    model([ag.ones([3, 4]), ag.constant([[1], [2], [3]])])
    assert [(spec.shape.as_list(), spec.dtype) for spec in model.inputs] == [
        ([None, 4], ag.float32),
        ([None, 1], ag.int32),
    ]
    assert sorted(spec.shape.as_list()[1] for spec in model.outputs) == [1, 2]
    assert not model._is_graph_network
    assert model.input_names == model.output_names == []
