"""Dense, against NumPy in float64 and numerical differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, dense
from agog_testing import says

SEED = 20


def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def numeric_gradient(f: Any, x: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        high, low = x.copy(), x.copy()
        high[index] += eps
        low[index] -= eps
        gradient[index] = (f(high) - f(low)) / (2 * eps)
    return gradient


@pytest.mark.parametrize("shape", [(4, 3), (2, 5, 3), (2, 1, 2, 3), (0, 3), (0, 2, 3)])
@pytest.mark.parametrize("use_bias", [True, False])
def test_output(shape: tuple[int, ...], use_bias: bool) -> None:
    x = rng().normal(size=shape)
    layer = Dense(2, use_bias=use_bias, bias_initializer="ones")
    y = layer(ag.constant(x))
    kernel = layer.kernel.numpy()
    assert y.dtype == ag.float64
    np.testing.assert_allclose(y.numpy(), x @ kernel + (1 if use_bias else 0), rtol=1e-12, err_msg=f"seed {SEED}")
    assert (layer.bias is not None) is use_bias


@pytest.mark.parametrize("shape", [(4, 3), (2, 2, 3)])
@pytest.mark.parametrize("activation", [None, "tanh", "sigmoid", "softmax"])
def test_gradients(shape: tuple[int, ...], activation: str | None) -> None:
    numbers = rng()
    x, kernel, bias = numbers.normal(size=shape), numbers.normal(size=(3, 2)), numbers.normal(size=2)
    upstream = numbers.normal(size=(*shape[:-1], 2))

    def oracle(x: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> float:
        z = x @ kernel + bias
        if activation == "tanh":
            z = np.tanh(z)
        elif activation == "sigmoid":
            z = 1 / (1 + np.exp(-z))
        elif activation == "softmax":
            z = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
        return float((z * upstream).sum())

    layer = Dense(2, activation)
    layer(ag.constant(x))
    layer.kernel.assign(kernel)
    assert layer.bias is not None
    layer.bias.assign(bias)
    inputs = ag.constant(x)
    with ag.GradientTape() as tape:
        tape.watch(inputs)
        loss = ag.reduce_sum(layer(inputs) * ag.constant(upstream))
    np.testing.assert_allclose(loss.numpy(), oracle(x, kernel, bias), rtol=1e-12)
    got = tape.gradient(loss, [inputs, *layer.trainable_variables])
    expected = [
        numeric_gradient(lambda v: oracle(v, kernel, bias), x),
        numeric_gradient(lambda v: oracle(x, v, bias), kernel),
        numeric_gradient(lambda v: oracle(x, kernel, v), bias),
    ]
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-6, atol=1e-8, err_msg=f"seed {SEED}")


def test_build_by_shape() -> None:
    layer = Dense(4, name="d")
    assert not layer.built
    assert layer.variables == []
    layer.build(ag.TensorShape([None, 3]))
    assert layer.built
    assert [v.name for v in layer.variables] == ["d/kernel:0", "d/bias:0"]
    assert [v.shape.as_list() for v in layer.variables] == [[3, 4], [4]]
    assert layer.variables == layer.weights == layer.trainable_variables == layer.trainable_weights
    assert layer.non_trainable_variables == layer.non_trainable_weights == []
    kernel = layer.kernel
    layer(ag.zeros([2, 3]))
    assert layer.kernel is kernel


def test_default_initializers() -> None:
    layer = Dense(200)
    layer(ag.zeros([1, 100]))
    kernel = layer.kernel.numpy()
    limit = np.sqrt(6 / 300)
    assert np.abs(kernel).max() <= limit
    assert np.abs(kernel).max() > 0.99 * limit
    assert np.std(kernel) == pytest.approx(limit / np.sqrt(3), rel=0.02)
    assert layer.bias is not None
    assert layer.bias.numpy().tolist() == [0.0] * 200


def test_dtype_follows_the_first_input() -> None:
    layer = Dense(2)
    assert layer.dtype is None
    layer(ag.ones((1, 3), "float64"))
    assert layer.dtype == ag.float64
    assert [v.dtype for v in layer.variables] == [ag.float64, ag.float64]
    assert Dense(2, dtype="float16").dtype == ag.float16


def test_integer_input_is_an_error_and_builds_nothing() -> None:
    layer = Dense(2, name="d")
    expected = (
        "Dense layer 'd' takes floats; got an input of dtype int32 and shape (1, 3). Cast it with "
        "tf.cast(x, tf.float32)."
    )
    with says(TypeError, expected):
        layer(ag.constant([[1, 2, 3]]))
    assert not layer.built
    assert layer.variables == []
    assert layer.dtype is None
    layer(ag.constant([[1.0, 2.0, 3.0]]))
    with says(TypeError, expected):
        layer(ag.constant([[1, 2, 3]]))


def test_wrong_rank() -> None:
    layer = Dense(2, name="d")
    with says(
        ValueError, "Dense layer 'd' takes inputs of shape (batch, ..., features) with known features; got shape (2,)."
    ):
        layer(ag.constant([1.0, 2.0]))
    assert layer.dtype is None
    layer(ag.zeros([1, 2]))
    with says(ValueError, "Dense layer 'd' takes inputs of shape (batch, ..., 2); got shape (2,)."):
        layer(ag.constant([1.0, 2.0]))


@pytest.mark.parametrize("shape", [(4, 5), (2, 2, 5)])
def test_wrong_width(shape: tuple[int, ...]) -> None:
    layer = Dense(2, name="d")
    layer(ag.zeros([1, 3]))
    with says(ValueError, f"Dense layer 'd' takes inputs of shape (batch, ..., 3); got shape {shape}."):
        layer(ag.zeros(shape))


def test_wrong_dtype() -> None:
    layer = Dense(2, name="d")
    layer(ag.zeros([1, 3]))
    with says(
        ag.errors.InvalidArgumentError,
        "Dense layer 'd' has a kernel of dtype float32; got an input of dtype float64 and shape (1, 3). "
        "Cast it with tf.cast(x, tf.float32).",
    ):
        layer(ag.zeros([1, 3], "float64"))


def test_a_list_is_not_one_input() -> None:
    with says(
        ValueError,
        "Dense layer 'd' takes one tensor; got a list of 1, which would be that many inputs. "
        "Make one tensor of it with tf.convert_to_tensor.",
    ):
        Dense(2, name="d")([[1.0, 2.0]])


def test_unknown_features() -> None:
    with says(
        ValueError,
        "Dense layer 'd' takes inputs of shape (batch, ..., features) with known features; got shape (3, ?).",
    ):
        Dense(2, name="d").build(ag.TensorShape([3, None]))


@pytest.mark.parametrize("units", [0, -1])
def test_units_must_be_positive(units: int) -> None:
    with says(ValueError, f"Dense: units must be above 0; got {units}."):
        Dense(units)


def test_activity_regularizer_sees_the_outputs_of_the_last_call() -> None:
    layer = Dense(1, kernel_initializer="ones", activity_regularizer=ag.reduce_sum)
    for inputs, expected in (([[1.0, 2.0]], 3.0), ([[1.0, 2.0], [3.0, 4.0]], 10.0)):
        layer(ag.constant(inputs))
        assert [float(loss) for loss in layer.losses] == [expected]


def test_regularizers_and_constraints() -> None:
    layer = Dense(
        2,
        kernel_initializer="ones",
        kernel_regularizer=lambda w: 0.5 * ag.reduce_sum(ag.square(w)),
        bias_regularizer=lambda b: ag.reduce_sum(b),
        kernel_constraint=ag.nn.relu,
    )
    assert layer.losses == []
    layer(ag.zeros([1, 3]))
    assert [float(loss) for loss in layer.losses] == [3.0, 0.0]
    assert layer.kernel.constraint is ag.nn.relu
    layer.kernel.assign(ag.zeros([3, 2]))
    assert [float(loss) for loss in layer.losses] == [0.0, 0.0]


def test_regularizer_is_differentiable() -> None:
    layer = Dense(1, kernel_initializer="ones", kernel_regularizer=lambda w: ag.reduce_sum(ag.square(w)))
    layer(ag.zeros([1, 2]))
    with ag.GradientTape() as tape:
        (loss,) = layer.losses
    assert tape.gradient(loss, layer.kernel).numpy().tolist() == [[2.0], [2.0]]


def test_trainable() -> None:
    layer = Dense(2, trainable=False)
    layer(ag.zeros([1, 3]))
    assert layer.trainable_variables == []
    assert layer.non_trainable_variables == [layer.kernel, layer.bias]
    assert not layer.kernel.trainable
    layer.trainable = True
    assert layer.trainable_variables == [layer.kernel, layer.bias]
    assert layer.kernel.trainable
    layer.trainable = False
    assert layer.variables == layer.non_trainable_variables == [layer.kernel, layer.bias]
    assert not layer.kernel.trainable


def test_frozen_layer_is_not_watched() -> None:
    layer = Dense(2, use_bias=False)
    layer(ag.zeros([1, 3]))
    layer.trainable = False
    with ag.GradientTape() as tape:
        loss = ag.reduce_sum(layer(ag.ones([1, 3])))
    assert tape.watched_variables() == ()
    assert tape.gradient(loss, layer.kernel) is None


def test_compute_output_shape() -> None:
    layer = Dense(7)
    assert layer.compute_output_shape((None, 3)) == ag.TensorShape([None, 7])
    assert layer.compute_output_shape(ag.TensorShape([2, 5, 3])).as_list() == [2, 5, 7]
    assert not layer.built


def test_variables_are_on_the_device_of_the_first_input() -> None:
    x = ag.zeros([1, 3])
    layer = Dense(2)
    layer(x)
    assert [v.device for v in layer.variables] == [x.device, x.device]


def test_functional_form() -> None:
    x = ag.constant([[1.0, 2.0]])
    y = dense(
        x, 3, activation="relu", kernel_initializer="ones", bias_initializer=lambda shape, dtype: -ag.ones(shape, dtype)
    )
    assert y.numpy().tolist() == [[2.0, 2.0, 2.0]]
    with says(
        RuntimeError,
        "dense: variables are found again by name only while an EagerVariableStore is active "
        "(tfe.EagerVariableStore().as_default()); or make a Dense layer and call that twice.",
    ):
        dense(x, 3, reuse=True)


def test_what_is_unknown_before_a_layer_is_built_is_an_error() -> None:
    layer = Dense(2, name="unknown")
    with pytest.raises(
        ValueError, match=r"^count_params: layer 'unknown' has no variables yet, since it was not built"
    ):
        layer.count_params()
    for shape in (None, [], [1], [3, None]):
        with pytest.raises(
            ValueError, match=r"^unknown: the input shape must have at least 2 axes, the last one of a k"
        ):
            layer.compute_output_shape(ag.TensorShape(shape))
    layer.build([None, 3])
    assert layer.count_params() == 8
