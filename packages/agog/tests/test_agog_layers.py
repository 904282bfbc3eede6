"""`tf.keras.layers` and `tf.layers`: TensorFlow 1.12's arguments and defaults, descriptions, symbolic inputs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

import agog as tf

_CONV = (
    "activation=None, use_bias=True, kernel_initializer='glorot_uniform', bias_initializer='zeros', "
    "kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, "
    "bias_constraint=None"
)
_SEPARABLE = (
    "depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer='glorot_uniform', "
    "pointwise_initializer='glorot_uniform', bias_initializer='zeros', depthwise_regularizer=None, "
    "pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, "
    "pointwise_constraint=None, bias_constraint=None"
)
_BATCH = (
    "axis=-1, momentum=0.99, epsilon=0.001, center=True, scale=True, beta_initializer='zeros', "
    "gamma_initializer='ones', moving_mean_initializer='zeros', moving_variance_initializer='ones', "
    "beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None"
)
_RENORM = "renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None"

KERAS = {
    "Dense": f"units, {_CONV}",
    "Conv1D": (
        f"filters, kernel_size, strides=1, padding='valid', data_format='channels_last', dilation_rate=1, {_CONV}"
    ),
    "Conv2D": f"filters, kernel_size, strides=(1, 1), padding='valid', data_format=None, dilation_rate=(1, 1), {_CONV}",
    "Conv3D": (
        f"filters, kernel_size, strides=(1, 1, 1), padding='valid', data_format=None, dilation_rate=(1, 1, 1), {_CONV}"
    ),
    "Conv2DTranspose": f"filters, kernel_size, strides=(1, 1), padding='valid', data_format=None, {_CONV}",
    "Conv3DTranspose": f"filters, kernel_size, strides=(1, 1, 1), padding='valid', data_format=None, {_CONV}",
    "SeparableConv1D": (
        f"filters, kernel_size, strides=1, padding='valid', data_format=None, dilation_rate=1, {_SEPARABLE}"
    ),
    "SeparableConv2D": (
        f"filters, kernel_size, strides=(1, 1), padding='valid', data_format=None, dilation_rate=(1, 1), {_SEPARABLE}"
    ),
    "DepthwiseConv2D": (
        "kernel_size, strides=(1, 1), padding='valid', depth_multiplier=1, data_format=None, activation=None, "
        "use_bias=True, depthwise_initializer='glorot_uniform', bias_initializer='zeros', depthwise_regularizer=None, "
        "bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, bias_constraint=None"
    ),
    "LocallyConnected1D": f"filters, kernel_size, strides=1, padding='valid', data_format=None, {_CONV}",
    "LocallyConnected2D": f"filters, kernel_size, strides=(1, 1), padding='valid', data_format=None, {_CONV}",
    "MaxPooling1D": "pool_size=2, strides=None, padding='valid', data_format=None",
    "MaxPooling2D": "pool_size=(2, 2), strides=None, padding='valid', data_format=None",
    "MaxPooling3D": "pool_size=(2, 2, 2), strides=None, padding='valid', data_format=None",
    "AveragePooling1D": "pool_size=2, strides=None, padding='valid', data_format=None",
    "AveragePooling2D": "pool_size=(2, 2), strides=None, padding='valid', data_format=None",
    "AveragePooling3D": "pool_size=(2, 2, 2), strides=None, padding='valid', data_format=None",
    "GlobalMaxPooling1D": "",
    "GlobalAveragePooling1D": "",
    "GlobalMaxPooling2D": "data_format=None",
    "GlobalAveragePooling2D": "data_format=None",
    "GlobalMaxPooling3D": "data_format=None",
    "GlobalAveragePooling3D": "data_format=None",
    "ZeroPadding1D": "padding=1",
    "ZeroPadding2D": "padding=(1, 1), data_format=None",
    "ZeroPadding3D": "padding=(1, 1, 1), data_format=None",
    "Cropping1D": "cropping=(1, 1)",
    "Cropping2D": "cropping=((0, 0), (0, 0)), data_format=None",
    "Cropping3D": "cropping=((1, 1), (1, 1), (1, 1)), data_format=None",
    "UpSampling1D": "size=2",
    "UpSampling2D": "size=(2, 2), data_format=None",
    "UpSampling3D": "size=(2, 2, 2), data_format=None",
    "BatchNormalization": f"{_BATCH}, {_RENORM}, trainable=True, virtual_batch_size=None, adjustment=None, name=None",
    "Dropout": "rate, noise_shape=None, seed=None",
    "SpatialDropout1D": "rate",
    "SpatialDropout2D": "rate, data_format=None",
    "SpatialDropout3D": "rate, data_format=None",
    "GaussianNoise": "stddev",
    "GaussianDropout": "rate",
    "AlphaDropout": "rate, noise_shape=None, seed=None",
    "Embedding": (
        "input_dim, output_dim, embeddings_initializer='uniform', embeddings_regularizer=None, "
        "activity_regularizer=None, embeddings_constraint=None, mask_zero=False, input_length=None"
    ),
    "Activation": "activation",
    "Reshape": "target_shape",
    "Permute": "dims",
    "RepeatVector": "n",
    "Flatten": "data_format=None",
    "Lambda": "function, output_shape=None, mask=None, arguments=None",
    "Masking": "mask_value=0.0",
    "ActivityRegularization": "l1=0.0, l2=0.0",
    "LeakyReLU": "alpha=0.3",
    "PReLU": "alpha_initializer='zeros', alpha_regularizer=None, alpha_constraint=None, shared_axes=None",
    "ELU": "alpha=1.0",
    "ThresholdedReLU": "theta=1.0",
    "Softmax": "axis=-1",
    "ReLU": "max_value=None",
    "Add": "",
    "Subtract": "",
    "Multiply": "",
    "Average": "",
    "Maximum": "",
    "Minimum": "",
    "Concatenate": "axis=-1",
    "Dot": "axes, normalize=False",
    "add": "inputs",
    "subtract": "inputs",
    "multiply": "inputs",
    "average": "inputs",
    "maximum": "inputs",
    "minimum": "inputs",
    "concatenate": "inputs, axis=-1",
    "dot": "inputs, axes, normalize=False",
}

_VARIABLES = "trainable=True, name=None, reuse=None"
_POOL = "inputs, pool_size, strides, padding='valid', data_format='channels_last', name=None"
FUNCTIONS = {
    "dense": f"inputs, units, {_CONV}, {_VARIABLES}",
    "conv1d": (
        "inputs, filters, kernel_size, strides=1, padding='valid', data_format='channels_last', dilation_rate=1, "
        f"{_CONV}, {_VARIABLES}"
    ),
    "conv2d": (
        "inputs, filters, kernel_size, strides=(1, 1), padding='valid', data_format='channels_last', "
        f"dilation_rate=(1, 1), {_CONV}, {_VARIABLES}"
    ),
    "conv3d": (
        "inputs, filters, kernel_size, strides=(1, 1, 1), padding='valid', data_format='channels_last', "
        f"dilation_rate=(1, 1, 1), {_CONV}, {_VARIABLES}"
    ),
    "conv2d_transpose": (
        "inputs, filters, kernel_size, strides=(1, 1), padding='valid', data_format='channels_last', "
        f"{_CONV}, {_VARIABLES}"
    ),
    "conv3d_transpose": (
        "inputs, filters, kernel_size, strides=(1, 1, 1), padding='valid', data_format='channels_last', "
        f"{_CONV}, {_VARIABLES}"
    ),
    "separable_conv1d": (
        "inputs, filters, kernel_size, strides=1, padding='valid', data_format='channels_last', dilation_rate=1, "
        f"{_SEPARABLE}, {_VARIABLES}"
    ),
    "separable_conv2d": (
        "inputs, filters, kernel_size, strides=(1, 1), padding='valid', data_format='channels_last', "
        f"dilation_rate=(1, 1), {_SEPARABLE}, {_VARIABLES}"
    ),
    **{f"{kind}_pooling{axes}d": _POOL for kind in ("max", "average") for axes in (1, 2, 3)},
    "batch_normalization": (
        f"inputs, {_BATCH}, training=False, {_VARIABLES}, {_RENORM}, virtual_batch_size=None, adjustment=None"
    ),
    "dropout": "inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None",
    "flatten": "inputs, name=None",
}

# Arguments of which several values mean the same.
_SAME = {
    "data_format": (None, "channels_last"),
    "kernel_initializer": (None, "glorot_uniform"),
    "depthwise_initializer": (None, "glorot_uniform"),
    "pointwise_initializer": (None, "glorot_uniform"),
}


def plain(value: Any) -> Any:
    """(1, 1) is the same as 1, and ((0, 0), (0, 0)) as 0."""
    while isinstance(value, tuple) and len(set(value)) == 1:
        value = value[0]
    return value


def check(function: Callable[..., Any], expected: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f({expected}): ...", scope)
    ours = list(inspect.signature(function).parameters.values())
    theirs = list(inspect.signature(scope["f"]).parameters.values())
    assert [p.name for p in ours[: len(theirs)]] == [p.name for p in theirs]
    for mine, its in zip(ours, theirs, strict=False):
        same = _SAME.get(its.name, ())
        if its.default is not its.empty and not (mine.default in same and its.default in same):
            assert plain(mine.default) == plain(its.default), its.name


@pytest.mark.parametrize("name", KERAS)
def test_arguments_of_keras(name: str) -> None:
    check(getattr(tf.keras.layers, name), KERAS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_of_functions(name: str) -> None:
    check(getattr(tf.layers, name), FUNCTIONS[name])


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("dropout", "flatten")])
def test_functions_have_classes(name: str) -> None:
    """The classes of `tf.layers` take the functions' arguments, in their order."""
    kind = next(each for each in tf.layers.__all__ if each != name and each.lower() == name.replace("_", ""))
    skipped = ("inputs", "reuse", "training", "trainable", "name")
    wanted = [n for n in inspect.signature(getattr(tf.layers, name)).parameters if n not in skipped]
    got = [n for n in inspect.signature(getattr(tf.layers, kind)).parameters if n in wanted]
    assert got == wanted


L = tf.keras.layers
INSTANCES: list[tuple[Callable[[], Any], list[tuple[int, ...]]]] = [
    (lambda: L.Conv1D(2, 3, padding="causal", dilation_rate=2, activation="relu"), [(8, 3)]),
    (lambda: L.Conv2D(2, 3, kernel_regularizer="l2", kernel_constraint="max_norm"), [(8, 8, 3)]),
    (lambda: L.Conv3D(2, 2, strides=(1, 2, 1), use_bias=False), [(4, 4, 4, 2)]),
    (lambda: L.Conv2DTranspose(2, 3, 2, "same"), [(4, 4, 3)]),
    (lambda: L.Conv3DTranspose(2, 2, dilation_rate=2), [(2, 2, 2, 3)]),
    (lambda: L.DepthwiseConv2D(3, depth_multiplier=2, dilation_rate=2), [(8, 8, 3)]),
    (lambda: L.SeparableConv1D(2, 3, activity_regularizer="l1"), [(8, 3)]),
    (lambda: L.SeparableConv2D(2, 3, pointwise_initializer=tf.keras.initializers.he_normal(3)), [(8, 8, 3)]),
    (lambda: L.LocallyConnected1D(2, 3, bias_constraint="non_neg"), [(8, 3)]),
    (lambda: L.LocallyConnected2D(2, (2, 3), data_format="channels_first"), [(3, 4, 5)]),
    (lambda: L.MaxPooling1D(3, 1, "same"), [(8, 3)]),
    (lambda: L.AveragePooling2D(data_format="channels_first"), [(3, 8, 8)]),
    (lambda: L.GlobalMaxPooling3D(), [(2, 3, 4, 5)]),
    (lambda: L.ZeroPadding2D(((1, 0), (2, 3))), [(4, 4, 3)]),
    (lambda: L.Cropping1D(), [(4, 3)]),
    (lambda: L.Cropping3D((1, 0, 1)), [(4, 4, 4, 3)]),
    (lambda: L.UpSampling1D(3), [(4, 3)]),
    (lambda: L.UpSampling2D(interpolation="bilinear"), [(4, 4, 3)]),
    (lambda: L.BatchNormalization(1, 0.9, gamma_regularizer="l1_l2"), [(4, 4, 3)]),
    (lambda: L.LayerNormalization([1, 2]), [(4, 4)]),
    (lambda: L.GroupNormalization(2), [(4, 4)]),
    (lambda: L.InstanceNormalization(epsilon=0.1), [(4, 4)]),
    (lambda: L.GaussianNoise(0.1), [(4,)]),
    (lambda: L.GaussianDropout(0.1), [(4,)]),
    (lambda: L.AlphaDropout(0.1, (None, 1)), [(4,)]),
    (lambda: L.SpatialDropout1D(0.1), [(4, 2)]),
    (lambda: L.Embedding(5, 3, mask_zero=True, input_length=4), [(4,)]),
    (lambda: L.Reshape((2, -1)), [(4, 3)]),
    (lambda: L.Permute((2, 1)), [(4, 3)]),
    (lambda: L.RepeatVector(3), [(4,)]),
    (lambda: L.Masking(0.5), [(4, 3)]),
    (lambda: L.ActivityRegularization(0.1, 0.2), [(4,)]),
    (lambda: L.LeakyReLU(0.1), [(4,)]),
    (lambda: L.PReLU(shared_axes=[1]), [(4, 3)]),
    (lambda: L.ELU(0.5), [(4,)]),
    (lambda: L.ThresholdedReLU(0.5), [(4,)]),
    (lambda: L.Softmax(), [(4,)]),
    (lambda: L.ReLU(6, 0.1, 0.5), [(4,)]),
    (lambda: L.Add(), [(4, 3), (4, 3), (4, 3)]),
    (lambda: L.Concatenate(1), [(4, 3), (2, 3)]),
    (lambda: L.Dot((1, 2), normalize=True), [(4, 3), (2, 4)]),
    (lambda: L.Dense(3, kernel_constraint=tf.keras.constraints.UnitNorm(1), bias_regularizer="l2"), [(4,)]),
]


@pytest.mark.parametrize(("make", "shapes"), INSTANCES)
def test_descriptions(make: Callable[[], Any], shapes: list[tuple[int, ...]]) -> None:
    """A layer that is made of a description has the same description, weights of the same shapes, and output."""
    layer = make()
    described = json.loads(json.dumps(layer.get_config()))
    again = type(layer).from_config(described)
    assert again.get_config() == layer.get_config()
    inputs = [tf.random_uniform((2, *shape)) for shape in shapes]
    given: Any = inputs if len(inputs) > 1 else inputs[0]
    first = layer(given)
    again.build(tf.TensorShape(given.shape) if len(inputs) == 1 else [x.shape for x in inputs])
    for new, old in zip(again.weights, layer.weights, strict=True):
        new.assign(old)
    assert first.shape == again(given).shape
    assert tf.reduce_all(tf.equal(first, again(given))).numpy()


@pytest.mark.parametrize(("make", "shapes"), INSTANCES)
def test_symbolic_inputs(make: Callable[[], Any], shapes: list[tuple[int, ...]]) -> None:
    symbols = [tf.keras.Input(shape=shape) for shape in shapes]
    layer = make()
    output = layer(symbols if len(symbols) > 1 else symbols[0])
    model = tf.keras.Model(inputs=symbols, outputs=output)
    inputs = [tf.random_uniform((2, *shape)) for shape in shapes]
    got = model(inputs if len(inputs) > 1 else inputs[0])
    assert output.shape.as_list() == [None, *got.shape.as_list()[1:]]
    given = [(None, *shape) for shape in shapes]
    assert layer.compute_output_shape(given if len(given) > 1 else given[0]) == output.shape


def test_names_begin_anew_in_a_new_graph_and_in_each_test_case() -> None:
    class Case(tf.test.TestCase):
        def test_names(self) -> None:
            assert [tf.keras.layers.Dense(1).name for _ in range(2)] == ["dense", "dense_1"]

    for _ in range(2):
        tf.reset_default_graph()
        assert [tf.layers.Dense(1).name, tf.layers.Flatten().name] == ["dense_1", "flatten_1"]
        assert Case("test_names").run().wasSuccessful()
