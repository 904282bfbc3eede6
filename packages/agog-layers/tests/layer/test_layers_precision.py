"""Layers with policies: what they compute in, and what their variables are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import agog_core as ag
import agog_layers as layers
from agog_layers import Policy, global_policy, set_global_policy
from agog_testing import says

SEED = 31
HALVES = {"mixed_float16": np.float16, "mixed_bfloat16": ml_dtypes.bfloat16}


@pytest.fixture(autouse=True)
def own_policy() -> Iterator[None]:
    yield
    set_global_policy(None)


@pytest.mark.parametrize(
    ("name", "compute", "variable"),
    [
        ("mixed_float16", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
        ("float64", "float64", "float64"),
        (ag.float16, "float16", "float16"),
    ],
)
def test_policies(name: Any, compute: str, variable: str) -> None:
    policy = Policy(name)
    assert (policy.compute_dtype, policy.variable_dtype) == (compute, variable)
    assert Policy.from_config(policy.get_config()) == policy
    assert policy != Policy("float32")


@pytest.mark.parametrize("name", ["mixed_float8", "int32", 3])
def test_unknown_policies(name: Any) -> None:
    with says(
        ValueError, f"Policy: name must be one of mixed_float16, mixed_bfloat16, or a dtype of floats; got {name!r}."
    ):
        set_global_policy(name)
    assert global_policy() == Policy("float32")


@pytest.mark.parametrize("name", HALVES)
def test_a_layer_computes_in_half_precision_with_variables_in_float32(name: str) -> None:
    half = HALVES[name]
    x = np.random.default_rng(SEED).normal(size=(3, 4)).astype(np.float32)
    layer = layers.Dense(2, dtype=name)
    with ag.GradientTape() as tape:
        y = layer(ag.constant(x))
    (kernel, bias), (kernel_gradient, _) = layer.get_weights(), tape.gradient(y, layer.trainable_variables)
    assert y.dtype.name == layer.compute_dtype.name == Policy(name).compute_dtype
    assert layer.dtype == layer.variable_dtype == layer.kernel.dtype == "float32"
    expected = x.astype(half).astype(np.float64) @ kernel.astype(half).astype(np.float64) + bias
    np.testing.assert_allclose(y.numpy().astype(np.float64), expected, rtol=0.02, atol=0.02)
    assert kernel_gradient.dtype == "float32"
    sums = x.astype(half).astype(np.float64).sum(0)
    np.testing.assert_allclose(kernel_gradient, np.stack([sums, sums], 1), rtol=0.02, atol=0.02)


def test_only_floats_are_cast() -> None:
    class Keep(layers.Layer):
        def call(self, inputs: Any, other: Any) -> Any:
            return [*inputs, other]

    outputs = Keep(dtype="mixed_float16")([ag.ones([1]), ag.constant([1]), ag.constant(["a"])], ag.ones([1]))
    assert [out.dtype.name for out in outputs] == ["float16", "int32", "string", "float16"]


def test_the_global_policy_is_that_of_new_layers_alone() -> None:
    before = layers.Dense(1)
    set_global_policy("mixed_float16")
    inside, plain, whole = layers.Dense(1), layers.Dense(1, dtype="float32"), layers.Layer(dtype="int32")
    set_global_policy(None)
    x = ag.ones([1, 2], "float16")
    assert [layer(x).dtype.name for layer in (inside, plain, whole)] == ["float16", "float32", "float16"]
    assert [layer.dtype_policy.name for layer in (inside, plain)] == ["mixed_float16", "float32"]
    assert before(ag.ones([1, 2], "float64")).dtype == before.compute_dtype == "float64"


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: layers.BatchNormalization(), (4, 3)),
        (lambda: layers.LayerNormalization(), (4, 3)),
        (lambda: layers.LSTM(2), (2, 3, 2)),
        (lambda: layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)]), (2, 3, 2)),
        (lambda: layers.Bidirectional(layers.GRU(2)), (2, 3, 2)),
        (lambda: layers.ConvLSTM2D(1, 2), (1, 2, 3, 3, 1)),
        (lambda: layers.SeparableConv2D(2, 2), (1, 3, 3, 2)),
    ],
)
def test_every_kind_of_layer_follows_the_policy(make: Any, shape: tuple[int, ...]) -> None:
    x = ag.constant(np.random.default_rng(SEED).normal(size=shape).astype(np.float32))
    ag.set_random_seed(SEED)
    exact = make()
    exact(x)
    set_global_policy("mixed_float16")
    layer = make()
    with ag.GradientTape() as tape:
        y = layer(x)
    layer.set_weights(exact.get_weights())
    np.testing.assert_allclose(layer(x), exact(x), rtol=0.02, atol=0.02)
    gradients = tape.gradient(y, layer.trainable_variables)
    assert y.dtype == "float16"
    assert {v.dtype.name for v in layer.variables} <= {"float32"}
    assert {gradient.dtype.name for gradient in gradients} <= {"float32"}


def test_a_lookup_reads_rows_and_not_the_whole_table() -> None:
    layer = layers.Embedding(5, 2, dtype="mixed_float16")
    with ag.GradientTape() as tape:
        y = layer(ag.constant([[1, 3]]))
    assert y.dtype == "float16"
    assert isinstance(tape.gradient(y, layer.embeddings), ag.IndexedSlices)


def test_masks_go_along_with_what_is_cast() -> None:
    x = ag.constant(np.random.default_rng(SEED).normal(size=(1, 3, 2)).astype(np.float32))
    masked = layers.Masking()(ag.concat([x, ag.zeros([1, 2, 2])], 1))
    layer = layers.LSTM(2, dtype="mixed_float16")
    np.testing.assert_array_equal(layer(masked), layer(x))


def test_what_is_assigned_in_a_call_takes_the_dtype_of_the_variable() -> None:
    class Last(layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.last = self.add_weight(shape=input_shape, initializer="zeros", trainable=False)

        def call(self, inputs: Any) -> Any:
            self.last.assign(inputs + self.last)
            return inputs

    layer = Last(dtype="mixed_float16")
    layer(ag.ones([2]))
    layer(ag.ones([2]))
    assert layer.last.name == "last/variable:0"
    assert layer.last.numpy().tolist() == [2.0, 2.0]
    assert layer.last.dtype == "float32"


def test_descriptions_keep_policies() -> None:
    set_global_policy("mixed_float16")
    x = layers.Input(shape=[4])
    model = layers.Model(x, layers.Dense(2, dtype="float32")(layers.Dense(3)(x)))
    set_global_policy(None)
    again = layers.Model.from_config(model.get_config())
    names = ["float32", "mixed_float16", "float32"]
    assert [layer.dtype_policy.name for layer in again.layers] == names
    assert model.get_config()["layers"][1]["config"]["dtype"] == {
        "class_name": "Policy",
        "config": {"name": "mixed_float16"},
    }
    assert [symbol.dtype.name for symbol in again.outputs] == ["float32"]


def test_a_traced_layer_gives_the_same_bits() -> None:
    layer = layers.Dense(3, activation="tanh", dtype="mixed_bfloat16")
    x = ag.constant(np.random.default_rng(SEED).normal(size=(2, 4)).astype(np.float32))
    expected = layer(x)
    np.testing.assert_array_equal(ag.function(layer)(x), expected)


def test_the_name_of_a_weight_is_a_string() -> None:
    with says(
        TypeError,
        "Layer layer 'mine': the name of a weight must be a string; got (3, 4) of type tuple. By name, shapes are "
        "given as add_weight(shape=(3, 4)).",
    ):
        layers.Layer(name="mine").add_weight((3, 4))  # type: ignore[arg-type]
