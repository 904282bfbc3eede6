"""Functional models: layers called on symbolic inputs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.random import generator
from agog_layers import (
    Dense,
    Dropout,
    Flatten,
    Input,
    InputLayer,
    Layer,
    Model,
    Operation,
    Sequential,
    model_from_config,
    model_from_json,
)
from agog_layers.layer.symbolic import Symbolic
from agog_testing import says


def numbers(*shape: int) -> Any:
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


def two_inputs() -> Model:
    """A shared layer, an operator, two inputs and two outputs."""
    a, b = Input((4,), name="a"), Input((4,), name="b")
    shared = Dense(3, activation="relu", name="shared")
    x, y = shared(a), shared(b)
    return Model([a, b], [Dense(2, name="head")(x + 2.0 * y), x], name="m")


def test_functional_model_computes_what_its_layers_do() -> None:
    model = two_inputs()
    a, b = numbers(5, 4), numbers(5, 4)[::-1].copy()
    kernel, bias, head, head_bias = (v.numpy().astype(np.float64) for v in model.variables)
    x, y = (np.maximum(value @ kernel + bias, 0) for value in (a, b))
    for inputs in ([a, b], (a, b), {"a": a, "b": b}, [ag.constant(a), b.astype(np.float64)]):
        first, second = model(inputs)
        np.testing.assert_allclose(first.numpy(), (x + 2 * y) @ head + head_bias, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(second.numpy(), x, rtol=1e-5, atol=1e-6)
        assert first.dtype == ag.float32


def test_functional_and_derived_models_are_equal() -> None:
    hidden, logits = Dense(4, activation="relu"), Dense(3)

    class Derived(Model):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.logits = hidden, logits

        def call(self, inputs: Any) -> Any:
            return self.logits(self.hidden(inputs))

    x = Input((2,))
    functional, derived = Model(x, logits(hidden(x))), Derived()
    batch = numbers(6, 2)
    np.testing.assert_array_equal(functional(batch).numpy(), derived(batch).numpy())
    with ag.GradientTape(persistent=True) as tape:
        losses = [ag.reduce_sum(ag.square(model(batch))) for model in (functional, derived)]
    assert [id(v) for v in functional.variables] == [id(v) for v in derived.variables]
    gradients = [tape.gradient(loss, functional.variables) for loss in losses]
    for one, two in zip(*gradients, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


def test_what_a_functional_model_says_of_itself() -> None:
    model = two_inputs()
    assert model.built
    assert (model.input_names, model.output_names) == (["a", "b"], ["head", "shared"])
    assert [layer.name for layer in model.layers if not isinstance(layer, Operation)] == ["a", "b", "shared", "head"]
    assert [v.name for v in model.variables] == [
        f"{layer}/{weight}:0" for layer in ("shared", "head") for weight in ("kernel", "bias")
    ]
    shared = model.get_layer("shared")
    assert shared.output.shape == [None, 3]
    assert shared.input is model.inputs[0]  # type: ignore[index]
    assert shared.get_input_at(1) is model.inputs[1]  # type: ignore[index]
    assert shared.get_output_at(0) is shared.output
    assert (shared.input_shape, shared.output_shape) == (ag.TensorShape([None, 4]), ag.TensorShape([None, 3]))
    assert model.checkpoint_dependencies() == {"layers": model.layers}


def test_part_of_a_model_is_a_model() -> None:
    inner = Sequential([Dense(3, input_shape=(4,)), Dense(2)])
    part = Model(inner.inputs, inner.layers[0].output)
    batch = numbers(5, 4)
    np.testing.assert_array_equal(part(batch).numpy(), inner.layers[0](batch).numpy())


def test_models_are_layers() -> None:
    inner = Sequential([Dense(3, input_shape=(4,), name="one"), Dropout(0.5), Dense(2, name="two")], name="inner")
    x = Input((4,))
    outer = Model(x, inner(inner(x) @ ag.ones([2, 4]))[:, 0])
    batch = numbers(5, 4)
    once = inner(batch)
    np.testing.assert_array_equal(outer(batch).numpy(), inner(ag.matmul(once, ag.ones([2, 4])))[:, 0].numpy())
    assert [v.name for v in outer.variables] == [v.name for v in inner.variables]
    inner.trainable = False
    assert outer.trainable_variables == []
    assert len(outer.non_trainable_variables) == 4


def test_training_argument_reaches_layers_of_nested_models() -> None:
    seen: list[Any] = []

    class Spy(Layer):
        def call(self, inputs: Any, training: Any = "default") -> Any:
            seen.append(training)
            return inputs

    x = Input((1,))
    inner = Model(x, Spy()(x))
    y = Input((1,))
    outer = Model(y, Spy()(inner(y), training=False))
    seen.clear()
    outer(ag.zeros([1, 1]), training=True)
    outer(ag.zeros([1, 1]))
    assert seen == [True, False, "default", False]


def test_several_outputs_and_unknown_sizes() -> None:
    class Ends(Layer):
        """No compute_output_shape: shapes are found by calls."""

        def call(self, inputs: Any) -> Any:
            return {"first": inputs[:, 0], "all": inputs, "count": ag.size(inputs)}

    x = Input((None, 3), dtype="int32")
    out = Ends()(x)
    assert {key: (str(symbol.shape), symbol.dtype.name) for key, symbol in out.items()} == {
        "first": ("(?, 3)", "int32"),
        "all": ("(?, ?, 3)", "int32"),
        "count": ("()", "int32"),
    }
    model = Model(x, out)
    assert model(np.arange(12, dtype=np.int32).reshape(2, 2, 3))["first"].numpy().tolist() == [[0, 1, 2], [6, 7, 8]]


def test_symbolic_calls_leave_no_traces() -> None:
    class Counting(Layer):
        def build(self, input_shape: Any) -> None:
            self.calls = self.add_weight("calls", initializer="zeros", trainable=False)
            self.factor = self.add_weight("factor", initializer="ones")

        def call(self, inputs: Any, training: Any = None) -> Any:
            assert not training
            self.calls.assign_add(1.0)
            self.add_loss(ag.reduce_sum(inputs))
            return inputs * self.factor * ag.random_uniform([])

    layer = Counting()
    layer(ag.ones([1, 3]))
    state = generator().get_state()
    with ag.GradientTape() as tape:
        layer(Input((3,)), training=True)
    assert tape.watched_variables() == ()
    assert float(layer.calls) == 1.0
    assert generator().get_state() == state
    assert layer.losses == []


def test_operators() -> None:
    x = Input((2, 2), name="x")
    y = Input((2, 2), name="y")
    model = Model(
        [x, y], [1.0 - x, x / y, x // 2.0, x % y, x**2.0, x @ y, -x, abs(x), x > y, np.ones(2, np.float32) + x]
    )
    a, b = numbers(3, 2, 2), numbers(3, 2, 2) + 3
    expected = [1 - a, a / b, a // 2, a % b, a**2, a @ b, -a, abs(a), a > b, a + 1]
    for got, wanted in zip(model([a, b]), expected, strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "make", [two_inputs, lambda: Sequential([InputLayer((2, 2)), Flatten(), Dense(3), Dropout(0.5)])]
)
def test_descriptions_go_round(make: Any) -> None:
    model = make()
    text = model.to_json()
    again = model_from_json(text)
    assert again.to_json() == text
    assert type(again) is type(model)
    again.set_weights(model.get_weights())
    inputs = [numbers(5, *symbol.shape[1:]) for symbol in model.inputs]
    inputs = inputs if len(inputs) > 1 else inputs[0]
    for one, two in zip(ag.nest.flatten(model(inputs)), ag.nest.flatten(again(inputs)), strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


def test_description_of_nested_models_with_a_layer_of_the_program() -> None:
    class Twice(Layer):
        def call(self, inputs: Any) -> Any:
            return 2.0 * inputs

    x = Input((3,), name="x")
    inner = Sequential([Twice(name="twice"), Dense(3, name="d")], name="inner")
    model = Model(x, inner(inner(x)), name="outer")
    with pytest.raises(ValueError, match=r"Unknown class 'Twice'; a class of the program must be named"):
        Model.from_config(model.get_config())
    config = json.loads(json.dumps({"class_name": "Model", "config": model.get_config()}))
    again = model_from_config(config, {"Twice": Twice})
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again(numbers(2, 3)).numpy(), model(numbers(2, 3)).numpy())


def test_symbolic_values_have_no_value() -> None:
    x = Input((4,), name="x")
    text = (
        "<Symbolic 'x' shape=(?, 4) dtype=float32> has no value: it stands for what layers will be called on. Call the "
        "function of tensors in a layer: tf.keras.layers.Lambda(lambda x: ...)(x); give terms of the loss to "
        "model.add_loss."
    )
    for use in (ag.reduce_sum, np.asarray, bool, lambda x: ag.ones([4]) + x):
        with says(TypeError, text):
            use(x)
    with pytest.raises(TypeError, match="not iterable"):
        list(x)  # type: ignore[call-overload]


def test_errors() -> None:
    x, y = Input((4,), name="x"), Input((4,), name="y")
    hidden = Dense(3, name="hidden")(x)
    cases: list[tuple[type[Exception], Any, str]] = [
        (
            ValueError,
            lambda: Input(),
            "Input: say the shape of one example, tf.keras.Input(shape=...); () is that of a number.",
        ),
        (
            NotImplementedError,
            lambda: Input((1,), sparse=True),
            "Input: sparse and tensor are not supported; make a dense Input, and call the model.",
        ),
        (TypeError, lambda: Model(x, name="m"), "Model 'm': inputs without outputs; a functional model needs both."),
        (
            TypeError,
            lambda: Model(outputs=x, name="m"),
            "Model 'm': outputs without inputs; a functional model needs both.",
        ),
        (
            TypeError,
            lambda: Model(x, 1.0, name="m"),
            "Model 'm': outputs must be symbolic: tf.keras.Input(...), or what layers make of it; got 1.0 "
            "of type float.",
        ),
        (
            ValueError,
            lambda: Model(hidden, Dense(1)(hidden), name="m"),
            "Model 'm': inputs must come from tf.keras.Input; <Symbolic 'hidden' shape=(?, 3) dtype=float32> is an "
            "output of layer 'hidden'.",
        ),
        (
            ValueError,
            lambda: Model(x, hidden + Dense(3)(y), name="m"),
            "Model 'm': the outputs depend on input 'y', which is not among the inputs ['x'].",
        ),
        (
            ValueError,
            lambda: Model(x, Dense(1, name="hidden")(hidden), name="m"),
            "Model 'm': several layers have the names ['hidden'], by which descriptions tell them apart; name them "
            "differently.",
        ),
        (
            ValueError,
            lambda: Model([x, y], hidden, name="m")([numbers(2, 4)]),
            "Model 'm' has the 2 inputs ['x', 'y']; got 1 values.",
        ),
        (
            ValueError,
            lambda: Model([x, y], hidden, name="m")({"x": numbers(2, 4)}),
            "Model 'm': no value for the inputs ['y']; got ['x'].",
        ),
        (
            ValueError,
            lambda: Model(x, hidden, name="m")(numbers(2, 5)),
            "Model 'm': input 'x' has shape (?, 4); got a value of shape (2, 5).",
        ),
        (
            ValueError,
            lambda: hidden.node.layer.get_output_at(1),
            "Dense layer 'hidden': there is no call 1 on symbolic values; there are 1.",
        ),
        (
            ValueError,
            lambda: Operation("exec", ["1"]),
            "Operation: operator must be one of abs, neg, add, floordiv, ge, getitem, gt, le, lt, matmul, mod, mul, "
            "pow, sub, truediv; got 'exec'.",
        ),
        (
            ValueError,
            lambda: Sequential([Dense(1), InputLayer((3,), name="late")], name="s"),
            "Sequential 's': InputLayer 'late' must be the first layer.",
        ),
        (TypeError, Sequential(name="s").pop, "Sequential 's' has no layers to remove."),
    ]
    for kind, make, text in cases:
        with says(kind, text):
            make()
    with says(
        AttributeError, "Dense layer 'd' has no output: it was not called on a tf.keras.Input, or on what comes of one."
    ):
        _ = Dense(2, name="d").output


def test_wrong_width_is_found_where_the_model_is_made() -> None:
    shared = Dense(2, name="shared")
    shared(Input((3,)))
    with says(ValueError, "Dense layer 'shared' takes inputs of shape (batch, ..., 3); got shape (1, 4)."):
        shared(Input((4,)))


def test_input_shape_of_a_sequential() -> None:
    model = Sequential([InputLayer((2, 2), name="i"), Flatten(), Dense(3)])
    assert [type(layer) for layer in model.layers] == [Flatten, Dense]
    assert isinstance(model.outputs[0], Symbolic)  # type: ignore[index]
    model.pop()
    assert model.outputs[0].shape == [None, 4]  # type: ignore[index]
    assert model(ag.zeros([3, 2, 2])).shape == [3, 4]
    nested = Sequential([model, Dense(1)])
    assert nested.built
    assert nested(ag.zeros([3, 2, 2])).shape == [3, 1]


def lines_of(model: Model) -> list[str]:
    lines: list[str] = []
    model.summary(print_fn=lines.append)
    return lines


def test_summary_of_a_functional_model() -> None:
    x, y = Input((4,), name="x"), Input((4,), name="y")
    shared = Dense(3, name="shared")
    model = Model([x, y], Dense(2, name="head")(Operation("add", [None, None], name="sum")([shared(x), shared(y)])))
    assert lines_of(model)[1:] == [
        "─" * 64,
        "layer (type)     output shape  parameters  bytes  called on",
        "─" * 64,
        "x (InputLayer)   (?, 4)                 0      0",
        "y (InputLayer)   (?, 4)                 0      0",
        "shared (Dense)   (?, 3)                15     60  x, y",
        "sum (Operation)  (?, 3)                 0      0  shared, shared",
        "head (Dense)     (?, 2)                 8     32  sum",
        "─" * 64,
        "Total params: 23 (92 bytes)",
        "Trainable params: 23 (92 bytes)",
        "Non-trainable params: 0 (0 bytes)",
        "─" * 64,
    ]


def test_summary_of_a_range_of_layers() -> None:
    model = Sequential([Dense(3, input_shape=(4,), name="a"), Dense(3, name="b"), Dense(3, name="c")], name="m")
    lines: list[str] = []
    model.summary(print_fn=lines.append, layer_range=["b", "c"])
    assert [line.split()[0] for line in lines[4:6]] == ["b", "c"]
    with says(
        ValueError,
        "summary: layer_range must be two patterns that begin names of layers; got ['a', 'd'], and the layers are "
        "a, b, c.",
    ):
        model.summary(print_fn=lines.append, layer_range=["a", "d"])


@pytest.mark.parametrize(("positions", "line_length"), [([16, 29, 39, 46], None), ([0.5, 0.75, 0.875, 1.0], 32)])
def test_columns_of_a_summary_end_where_it_is_said(positions: list[float], line_length: int | None) -> None:
    lines: list[str] = []
    Sequential([Dense(3, input_shape=(4,), name="a_name_that_is_long")], name="m").summary(
        line_length, positions, lines.append
    )
    row = lines[4]
    if line_length is None:
        assert row == "a_name_that_is_l  (?, 3)             15     60"
        assert len(lines[1]) == 46
    else:
        assert row == "a_name_that_is_l  (?, 3)  15  60"
        assert len(lines[1]) == 32


@pytest.mark.parametrize("positions", [[10, 20], [10, 9, 30, 40], [0, 20, 30, 40]])
def test_columns_of_a_summary_have_an_end_each(positions: list[float]) -> None:
    with says(
        ValueError,
        "summary: positions must be 4 ascending ends of columns, for layer (type), output shape, parameters, bytes, in "
        f"characters or as parts of the line up to 1, with room for what is in them; got {positions}.",
    ):
        Sequential([Dense(3, input_shape=(4,))]).summary(positions=positions, print_fn=lambda line: None)


def test_summary_of_a_derived_model() -> None:
    class Derived(Model):
        def __init__(self) -> None:
            super().__init__(name="derived")
            self.dense = Dense(2, name="dense", dtype="float64", trainable=False)
            self.scale = ag.Variable([1.0, 2.0], name="scale")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs) * ag.cast(self.scale, "float64")

    model = Derived()
    with says(
        ValueError,
        "Model 'derived' has not been built, so the shapes are unknown: call it on a batch, or call "
        "model.build(input_shape).",
    ):
        model.summary()
    model(np.zeros((3, 4)))
    assert lines_of(model) == [
        "Model: derived",
        "─" * 51,
        "layer (type)        output shape  parameters  bytes",
        "─" * 51,
        "dense (Dense)       (?, 2)                10     80",
        "scale:0 (Variable)  (2,)                   2      8",
        "─" * 51,
        "Total params: 12 (88 bytes)",
        "Trainable params: 2 (8 bytes)",
        "Non-trainable params: 10 (80 bytes)",
        "─" * 51,
    ]


def test_summary_of_models_inside_and_of_what_is_trained() -> None:
    base = Sequential([Dense(2, name="a"), Dense(3, name="b")], name="base")
    base.trainable = False
    model = Sequential([base, Dense(1, name="head")], name="whole")
    model.build((None, 4))
    lines: list[str] = []
    model.summary(print_fn=lines.append, expand_nested=True, show_trainable=True)
    assert [line.split() for line in lines[2:3] + lines[4:8]] == [
        ["layer", "(type)", "output", "shape", "parameters", "bytes", "trained"],
        ["base", "(Sequential)", "(?,", "3)", "19", "76", "no"],
        ["a", "(Dense)", "(?,", "2)", "10", "40", "no"],
        ["b", "(Dense)", "(?,", "3)", "9", "36", "no"],
        ["head", "(Dense)", "(?,", "1)", "4", "16", "yes"],
    ]
