"""Normalisations, against NumPy and numerical differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import (
    BatchNormalization,
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    batch_normalization,
    constraints,
    regularizers,
)
from agog_testing import says

SEED = 23


def normal(*shape: int) -> Any:
    return np.random.default_rng(SEED).normal(2.0, 3.0, shape)


def standardized(x: Any, axes: tuple[int, ...], epsilon: float = 1e-3) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def along(weight: Any, axis: int, rank: int) -> Any:
    return weight.reshape([-1 if place == axis % rank else 1 for place in range(rank)])


def randomized(layer: Any) -> list[Any]:
    numbers = np.random.default_rng(SEED + 1)
    for variable in layer.variables:
        variable.assign(numbers.uniform(0.5, 2.0, size=variable.shape.as_list()))
    return [variable.numpy() for variable in layer.variables]


@pytest.mark.parametrize(
    ("shape", "axis"), [((7, 3), -1), ((4, 5, 3), 2), ((4, 5, 3), 1), ((2, 3, 4, 5), 3), ((2, 3, 4, 5), 1), ((6, 1), 1)]
)
def test_batch_normalization(shape: tuple[int, ...], axis: int) -> None:
    x, rank = normal(*shape), len(shape)
    layer = BatchNormalization(axis, momentum=0.75)
    layer.build(ag.TensorShape([None, *shape[1:]]))
    others = tuple(place for place in range(rank) if place != axis % rank)
    gamma, beta, mean, variance = randomized(layer)
    spread = [along(weight, axis, rank) for weight in (gamma, beta, mean, variance)]

    trained = layer(ag.constant(x, "float32"), training=True)
    expected = standardized(x, others) * spread[0] + spread[1]
    np.testing.assert_allclose(trained.numpy(), expected, rtol=1e-4, atol=1e-5, err_msg=f"seed {SEED}")
    count = x.size / x.shape[axis]
    factor = count / (count - 1) if rank == 4 else 1  # the fused op's variance is that of the population
    mean, variance = 0.75 * mean + 0.25 * x.mean(others), 0.75 * variance + 0.25 * factor * x.var(others)
    np.testing.assert_allclose(layer.moving_mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(layer.moving_variance.numpy(), variance, rtol=1e-5)

    for inferred in (layer(ag.constant(x, "float32")), layer(ag.constant(x, "float32"), training=False)):
        expected = (x - along(mean, axis, rank)) / np.sqrt(along(variance, axis, rank) + 1e-3) * spread[0] + spread[1]
        np.testing.assert_allclose(inferred.numpy(), expected, rtol=1e-4, atol=1e-5, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(layer.moving_mean.numpy(), mean, rtol=1e-5)
    assert layer.compute_output_shape((None, *shape[1:])).as_list() == [None, *shape[1:]]


def test_several_axes() -> None:
    x = normal(4, 5, 3)
    layer = BatchNormalization([1, 2])
    got = layer(ag.constant(x), training=True)
    np.testing.assert_allclose(got.numpy(), standardized(x, (0,)), rtol=1e-12, atol=1e-12)
    assert [v.shape.as_list() for v in layer.variables] == [[1, 5, 3]] * 4


def test_weights_as_keras_has_them() -> None:
    layer = BatchNormalization(name="bn")
    layer.build((None, 4, 4, 3))
    assert [v.name for v in layer.weights] == ["bn/gamma:0", "bn/beta:0", "bn/moving_mean:0", "bn/moving_variance:0"]
    assert layer.trainable_weights == [layer.gamma, layer.beta]
    assert layer.non_trainable_weights == [layer.moving_mean, layer.moving_variance]
    assert [v.numpy().tolist() for v in layer.weights] == [[1.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3]
    plain = BatchNormalization(center=False, scale=False)
    x = normal(5, 2)
    np.testing.assert_allclose(plain(ag.constant(x), training=True).numpy(), standardized(x, (0,)), rtol=1e-12)
    assert plain.trainable_weights == []
    assert [v.name.rpartition("/")[2] for v in LayerNormalization(name="n").variables] == []


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("shape", "axis"), [((4, 2), -1), ((2, 2, 1, 3), -1), ((2, 2, 3), 1)])
def test_batch_gradients(
    shape: tuple[int, ...], axis: int, training: bool, check_gradients: Callable[..., None]
) -> None:
    layer = BatchNormalization(axis, momentum=1.0)  # which leaves the moving averages as they are
    layer(ag.constant(normal(*shape)))
    randomized(layer)
    check_gradients(lambda x: layer(x, training=training), [normal(*shape)], layer.trainable_variables)


def test_moving_averages_are_not_part_of_the_gradient() -> None:
    layer = BatchNormalization()
    x = ag.constant(normal(5, 2))
    with ag.GradientTape() as tape:
        tape.watch(x)
        layer(x, training=True)
        loss = ag.reduce_sum(ag.square(layer.moving_mean))
    assert tape.gradient(loss, x) is None
    assert set(tape.watched_variables()) == {layer.gamma, layer.beta}


def test_a_layer_that_is_not_trainable_still_updates() -> None:
    layer = BatchNormalization(trainable=False, momentum=0.0)
    x = normal(5, 2)
    got = layer(ag.constant(x), training=True)
    np.testing.assert_allclose(got.numpy(), standardized(x, (0,)), rtol=1e-12)
    np.testing.assert_allclose(layer.moving_mean.numpy(), x.mean(0), rtol=1e-12)
    assert layer.trainable_variables == []


def test_fused() -> None:
    x = normal(2, 3, 4, 5)
    layer = BatchNormalization(momentum=0.0, fused=False)
    layer(ag.constant(x), training=True)
    np.testing.assert_allclose(layer.moving_variance.numpy(), x.var((0, 1, 2)), rtol=1e-12)
    layer = BatchNormalization(momentum=0.0, fused=True)
    layer(ag.constant(x), training=True)
    np.testing.assert_allclose(layer.moving_variance.numpy(), x.var((0, 1, 2), ddof=1), rtol=1e-12)
    with says(
        ValueError,
        "BatchNormalization layer 'b': fused=True takes inputs of rank 4 whose axis is 1 or 3; got rank 2 and axis -1. "
        "Leave fused out.",
    ):
        BatchNormalization(fused=True, name="b")(ag.zeros([2, 3]))


def test_half_precision_keeps_averages_in_float32() -> None:
    layer = BatchNormalization()
    x = ag.constant(normal(64, 2), "float16")
    assert layer(x, training=True).dtype == layer(x).dtype == ag.float16
    assert [v.dtype for v in layer.variables] == [ag.float32] * 4


def test_empty_batch() -> None:
    layer = BatchNormalization()
    assert layer(ag.zeros([0, 3]), training=True).shape == (0, 3)
    assert layer.moving_mean.numpy().tolist() == [0.0, 0.0, 0.0]


def test_regularizers_and_constraints() -> None:
    layer = BatchNormalization(gamma_regularizer="l2", beta_constraint="non_neg", gamma_initializer="zeros")
    layer(ag.zeros([2, 3]))
    assert [float(loss) for loss in layer.losses] == [0.0]
    assert isinstance(layer.gamma_regularizer, regularizers.L1L2)
    assert layer.beta is not None
    assert isinstance(layer.beta.constraint, constraints.NonNeg)


def test_function() -> None:
    x = normal(5, 2)
    got = batch_normalization(ag.constant(x), -1, 0.9, training=True, name="b")
    np.testing.assert_allclose(got.numpy(), standardized(x, (0,)), rtol=1e-12)
    got = batch_normalization(ag.constant(x), epsilon=0.0)
    np.testing.assert_array_equal(got.numpy(), x)
    with pytest.raises(RuntimeError) as caught:
        batch_normalization(x, reuse=True)
    assert str(caught.value).startswith("batch_normalization: variables are found again by name only while")


@pytest.mark.parametrize("argument", [{"renorm": True}, {"virtual_batch_size": 8}, {"adjustment": abs}])
def test_what_is_not_supported(argument: dict[str, Any]) -> None:
    ((name, value),) = argument.items()
    with says(NotImplementedError, f"BatchNormalization: {name} is not supported; got {value!r}."):
        BatchNormalization(**argument)


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (LayerNormalization(), (3, 4), lambda x: standardized(x, (1,))),
        (LayerNormalization([1, 2], 0.5), (3, 4, 2), lambda x: standardized(x, (1, 2), 0.5)),
        (LayerNormalization(1), (3, 4, 2), lambda x: standardized(x, (1,))),
        (InstanceNormalization(), (2, 3, 4, 2), lambda x: standardized(x, (1, 2))),
        (InstanceNormalization(1), (2, 3, 4, 2), lambda x: standardized(x, (2, 3))),
        (
            GroupNormalization(2),
            (2, 3, 4),
            lambda x: standardized(x.reshape(2, 3, 2, 2), (1, 3)).reshape(2, 3, 4),
        ),
        (
            GroupNormalization(3, axis=1),
            (2, 6, 4),
            lambda x: standardized(x.reshape(2, 3, 2, 4), (2, 3)).reshape(2, 6, 4),
        ),
        (GroupNormalization(-1), (2, 3, 4), lambda x: standardized(x, (1,))),
    ],
)
def test_other_normalizations(
    layer: Any, shape: tuple[int, ...], expected: Callable[[Any], Any], check_gradients: Callable[..., None]
) -> None:
    x = normal(*shape)
    layer(ag.constant(x))
    gamma, beta = randomized(layer)
    axes = layer.axis if isinstance(layer.axis, list) else [layer.axis % len(shape)]
    spread = [weight.reshape([n if axis in axes else 1 for axis, n in enumerate(shape)]) for weight in (gamma, beta)]
    want = expected(x) * spread[0] + spread[1]
    np.testing.assert_allclose(layer(ag.constant(x)).numpy(), want, rtol=1e-10, atol=1e-10, err_msg=f"seed {SEED}")
    assert [v.name for v in layer.variables] == [f"{layer.name}/gamma:0", f"{layer.name}/beta:0"]
    assert gamma.shape == tuple(shape[axis] for axis in axes)
    check_gradients(layer, [x], layer.variables)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: BatchNormalization(2, name="b")(ag.zeros([2, 3])),
            "BatchNormalization layer 'b': axis must be of axes that an input of shape (2, 3) has, each once; got 2.",
        ),
        (
            lambda: LayerNormalization([1, -1], name="b")(ag.zeros([2, 3])),
            "LayerNormalization layer 'b': axis must be of axes that an input of shape (2, 3) has, each once; got "
            "[1, -1].",
        ),
        (
            lambda: BatchNormalization(name="b").build((2, None)),
            "BatchNormalization layer 'b' needs known sizes along axis -1; got shape (2, ?).",
        ),
        (
            lambda: GroupNormalization(2, name="b")(ag.zeros([2, 3])),
            "GroupNormalization layer 'b': axis -1 of shape (2, 3) must be the last one or 1, and its channels must "
            "make 2 groups of one size.",
        ),
    ],
)
def test_wrong_axes(make: Callable[[], Any], text: str) -> None:
    with says(ValueError, text):
        make()


def test_wrong_inputs() -> None:
    layer = BatchNormalization(name="b")
    layer(ag.zeros([2, 5, 3]))
    for shape in ((2, 5, 1), (2, 3)):
        with says(ValueError, f"BatchNormalization layer 'b' takes inputs of shape (?, ?, 3); got shape {shape}."):
            layer(ag.zeros(shape))
    with says(
        TypeError,
        "BatchNormalization layer 'b' takes floats; got an input of dtype int32 and shape (2, 3). Cast it with "
        "tf.cast(x, tf.float32).",
    ):
        BatchNormalization(name="b")(ag.zeros([2, 3], "int32"))
    with says(
        ag.errors.InvalidArgumentError,
        "BatchNormalization layer 'b' has the dtype float32; got an input of dtype float64 and shape (2, 5, 3). Cast "
        "it with tf.cast(x, tf.float32).",
    ):
        layer(ag.zeros([2, 5, 3], "float64"))
