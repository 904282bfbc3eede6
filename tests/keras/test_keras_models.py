"""Whole models in files that Keras has written: they predict here what they predict there."""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "jax"

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import agog as tf
import agog.keras.ops  # its operations may be in files
from agog_checkpoint.warning import CheckpointWarning

# Keras's own variables speak an older NumPy's.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")
layers = keras.layers


def uniform(*shape: int) -> np.ndarray:
    return np.random.RandomState(3).uniform(-1, 1, shape).astype(np.float32)


def randomize(model: Any) -> None:
    random = np.random.RandomState(0)
    model.set_weights(
        [w if w.dtype.kind in "iu" else random.rand(*w.shape).astype(w.dtype) for w in model.get_weights()]
    )


def same(model: Any, x: Any, path: Path, **options: Any) -> Any:
    """What agog makes of the file of a model of Keras predicts what that does."""
    randomize(model)
    model.save(path)
    ours = tf.keras.models.load_model(path, **options)
    expected, found = model.predict(x, verbose=0), ours.predict(x)
    if isinstance(expected, (list, tuple)):
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_allclose(other, one, rtol=2e-4, atol=2e-5)
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)
    return ours


IMAGES, SEQUENCES, FEATURES = (2, 8, 8, 4), (2, 6, 4), (3, 4)
VOLUMES = (2, 5, 5, 5, 2)
LAYERS: dict[str, tuple[tuple[int, ...], Callable[[], Any]]] = {
    "Dense": (FEATURES, lambda: layers.Dense(3, activation="gelu", kernel_regularizer=keras.regularizers.L2(0.1))),
    "Dense of sequences": (SEQUENCES, lambda: layers.Dense(3, use_bias=False, kernel_constraint="max_norm")),
    "EinsumDense": (SEQUENCES, lambda: layers.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d")),
    "Conv1D": (SEQUENCES, lambda: layers.Conv1D(3, 2, padding="causal", dilation_rate=2)),
    "Conv2D": (IMAGES, lambda: layers.Conv2D(6, 3, strides=2, padding="same", groups=2, activation="silu")),
    "Conv3D": (VOLUMES, lambda: layers.Conv3D(3, 2)),
    "Conv1DTranspose": (SEQUENCES, lambda: layers.Conv1DTranspose(3, 3, strides=2, padding="same")),
    "Conv2DTranspose": (IMAGES, lambda: layers.Conv2DTranspose(3, 3, strides=2)),
    "Conv3DTranspose": (VOLUMES, lambda: layers.Conv3DTranspose(3, 2)),
    "DepthwiseConv2D": (IMAGES, lambda: layers.DepthwiseConv2D(3, depth_multiplier=2)),
    "SeparableConv1D": (SEQUENCES, lambda: layers.SeparableConv1D(5, 3)),
    "SeparableConv2D": (IMAGES, lambda: layers.SeparableConv2D(5, 3, depth_multiplier=2)),
    "BatchNormalization": (IMAGES, lambda: layers.BatchNormalization(epsilon=0.1, center=False)),
    "LayerNormalization": (SEQUENCES, lambda: layers.LayerNormalization()),
    "GroupNormalization": (IMAGES, lambda: layers.GroupNormalization(2)),
    "UnitNormalization": (FEATURES, lambda: layers.UnitNormalization()),
    "RMSNormalization": (FEATURES, lambda: layers.RMSNormalization()),
    "SpectralNormalization": (IMAGES, lambda: layers.SpectralNormalization(layers.Conv2D(3, 2))),
    "LSTM": (SEQUENCES, lambda: layers.LSTM(3)),
    "LSTM with hard gates": (SEQUENCES, lambda: layers.LSTM(3, recurrent_activation="hard_sigmoid", activation="relu")),
    "GRU": (SEQUENCES, lambda: layers.GRU(3, return_sequences=True)),
    "GRU that resets before": (SEQUENCES, lambda: layers.GRU(3, reset_after=False, go_backwards=True)),
    "SimpleRNN": (SEQUENCES, lambda: layers.SimpleRNN(3)),
    "RNN of cells": (SEQUENCES, lambda: layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)])),
    "Bidirectional": (SEQUENCES, lambda: layers.Bidirectional(layers.GRU(3, return_sequences=True))),
    "Bidirectional of two": (
        SEQUENCES,
        lambda: layers.Bidirectional(
            layers.LSTM(3), merge_mode="sum", backward_layer=layers.LSTM(3, go_backwards=True)
        ),
    ),
    "TimeDistributed": (SEQUENCES, lambda: layers.TimeDistributed(layers.Dense(3))),
    "ConvLSTM2D": ((2, 3, 5, 5, 2), lambda: layers.ConvLSTM2D(3, 2)),
    "Activation": (FEATURES, lambda: layers.Activation("hard_sigmoid")),
    "ReLU": (FEATURES, lambda: layers.ReLU(max_value=0.5, negative_slope=0.1)),
    "LeakyReLU": (FEATURES, lambda: layers.LeakyReLU(negative_slope=0.1)),
    "PReLU": (IMAGES, lambda: layers.PReLU(shared_axes=[1, 2])),
    "ELU": (FEATURES, lambda: layers.ELU(0.5)),
    "Softmax": (FEATURES, lambda: layers.Softmax()),
    "Dropout": (FEATURES, lambda: layers.Dropout(0.5, seed=3)),
    "SpatialDropout2D": (IMAGES, lambda: layers.SpatialDropout2D(0.5)),
    "GaussianNoise": (FEATURES, lambda: layers.GaussianNoise(0.5)),
    "Flatten": (IMAGES, lambda: layers.Flatten()),
    "Reshape": (IMAGES, lambda: layers.Reshape((4, -1))),
    "Permute": (SEQUENCES, lambda: layers.Permute((2, 1))),
    "RepeatVector": (FEATURES, lambda: layers.RepeatVector(3)),
    "MaxPooling2D": (IMAGES, lambda: layers.MaxPooling2D(3, padding="same")),
    "AveragePooling1D": (SEQUENCES, lambda: layers.AveragePooling1D(2, strides=1)),
    "GlobalAveragePooling2D": (IMAGES, lambda: layers.GlobalAveragePooling2D()),
    "GlobalMaxPooling1D": (SEQUENCES, lambda: layers.GlobalMaxPooling1D()),
    "ZeroPadding2D": (IMAGES, lambda: layers.ZeroPadding2D((1, 2))),
    "Cropping1D": (SEQUENCES, lambda: layers.Cropping1D(1)),
    "UpSampling2D": (IMAGES, lambda: layers.UpSampling2D(2, interpolation="nearest")),
    "Rescaling": (IMAGES, lambda: layers.Rescaling(0.5, offset=1.0)),
    "RandomFlip": (IMAGES, lambda: layers.RandomFlip()),
    "Masking": (SEQUENCES, lambda: layers.Masking(0.5)),
    "a model": (FEATURES, lambda: keras.Sequential([layers.Dense(3), layers.Dense(2)])),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(tmp_path: Path, name: str) -> None:
    shape, make = LAYERS[name]
    model = keras.Sequential([keras.Input(shape[1:]), make()])
    same(model, uniform(*shape), tmp_path / "m.keras")


def test_names_of_activations(tmp_path: Path) -> None:
    names = (
        "celu",
        "elu",
        "exponential",
        "gelu",
        "hard_shrink",
        "hard_sigmoid",
        "hard_silu",
        "hard_tanh",
        "leaky_relu",
    )
    names += ("linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_shrink")
    names += ("softmax", "softplus", "softsign", "squareplus", "tanh", "tanh_shrink")
    x = keras.Input((4,))
    model = keras.Model(x, [layers.Activation(name, name=name)(layers.Rescaling(4.0)(x)) for name in names])
    same(model, uniform(5, 4), tmp_path / "m.keras")


def test_attention_masks_and_shared_layers(tmp_path: Path) -> None:
    x = keras.Input((5,), dtype="int32", name="ids")
    y = layers.Embedding(10, 4, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(2, return_sequences=True))(y)
    y = layers.Add()([y, layers.MultiHeadAttention(2, 3)(y, y)])
    y = layers.LayerNormalization()(y)
    shared = layers.Dense(4, activation="relu")
    y = layers.Concatenate()([shared(y), shared(shared(y))])
    model = keras.Model(x, [layers.GlobalAveragePooling1D()(y), layers.GRU(3)(y)])
    ids = np.array([[1, 2, 3, 0, 0], [9, 8, 7, 6, 5]], "int32")
    same(model, ids, tmp_path / "m.keras")


def test_operators_and_operations(tmp_path: Path) -> None:
    x, y = keras.Input((4,), name="x"), keras.Input((4,), name="y")
    z = keras.ops.relu(x * 2.0 + y) - 1.0 / (keras.ops.abs(y) + 2.0)
    z = keras.ops.concatenate([z, x], axis=-1)
    model = keras.Model({"x": x, "y": y}, layers.Dense(2)(z) * keras.ops.mean(z, axis=-1, keepdims=True))
    same(model, {"x": uniform(3, 4), "y": uniform(3, 4)}, tmp_path / "m.keras")


def test_branches_and_models_inside(tmp_path: Path) -> None:
    def block(filters: int) -> Any:
        x = keras.Input((8, 8, 4))
        left = layers.Conv2D(filters, 1)(x)
        right = layers.Conv2D(filters, 3, padding="same")(layers.Conv2D(filters, 1)(x))
        return keras.Model(x, layers.Add()([left, layers.BatchNormalization()(right)]))

    x = keras.Input((8, 8, 4))
    y = block(4)(block(4)(x))
    y = keras.Sequential([layers.Flatten(), layers.Dense(4)])(y)
    same(keras.Model(x, [layers.Dense(2)(y), layers.Dense(2)(y)]), uniform(2, 8, 8, 4), tmp_path / "m.keras")


def test_classes_and_functions_of_the_program(tmp_path: Path) -> None:
    def made(framework: Any) -> type:
        class Scale(framework.layers.Layer):  # type: ignore[misc, name-defined]
            def __init__(self, factor: float = 1.0, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                self.factor = factor

            def call(self, x: Any) -> Any:
                return x * self.factor

            def get_config(self) -> dict[str, Any]:
                return {**super().get_config(), "factor": self.factor}

        return Scale

    model = keras.Sequential([keras.Input((4,)), made(keras)(3.0), layers.Dense(2)])
    same(model, uniform(3, 4), tmp_path / "m.keras", custom_objects={"Scale": made(tf.keras)})
    with pytest.raises(ValueError, match="agog does not have the class Scale of layer 'scale"):
        tf.keras.models.load_model(tmp_path / "m.keras")


def test_what_it_was_compiled_with(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(2, activation="softmax")])
    model.compile(
        keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)),
        keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    ours = same(model, uniform(4, 4), tmp_path / "m.keras")
    x, labels = uniform(4, 4), np.array([0, 1, 1, 0])
    np.testing.assert_allclose(
        ours.evaluate(x, labels, verbose=0), model.evaluate(x, labels, verbose=0), rtol=1e-5, atol=1e-6
    )
    model.fit(x, labels, epochs=3, verbose=0, shuffle=False)
    ours.fit(x, labels, epochs=3, verbose=0, shuffle=False)
    np.testing.assert_allclose(ours.get_weights()[0], model.get_weights()[0], rtol=1e-5, atol=1e-6)


OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Adam": ("Adam", {"learning_rate": 0.05}),
    "Adam with the largest mean": ("Adam", {"learning_rate": 0.05, "amsgrad": True, "epsilon": 1e-3}),
    "Adam with a schedule": ("Adam", {}),
    "AdamW": ("AdamW", {"learning_rate": 0.05, "weight_decay": 0.1}),
    "Adamax": ("Adamax", {"learning_rate": 0.05}),
    "Nadam": ("Nadam", {"learning_rate": 0.05}),
    "Adagrad": ("Adagrad", {"learning_rate": 0.1}),
    "Adagrad that begins elsewhere": ("Adagrad", {"initial_accumulator_value": 0.5, "epsilon": 0.01}),
    "Adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "Lamb": ("Lamb", {"learning_rate": 0.05}),
    "Lion": ("Lion", {"learning_rate": 0.01}),
    "RMSprop": ("RMSprop", {"learning_rate": 0.01, "epsilon": 0.01}),
    "RMSprop with all": ("RMSprop", {"learning_rate": 0.01, "momentum": 0.9, "centered": True}),
    "SGD": ("SGD", {"learning_rate": 0.1}),
    "SGD with momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    "SGD with a schedule": ("SGD", {"momentum": 0.9}),
    "SGD with Nesterov's": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True, "clipnorm": 0.5}),
}


@pytest.mark.parametrize("steps", [0, 4])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_go_on(tmp_path: Path, name: str, steps: int) -> None:
    kind, settings = OPTIMIZERS[name]
    if name.endswith("schedule"):
        settings = {**settings, "learning_rate": keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)}
    x = keras.Input((4,))
    branches = [layers.Dense(4, name=n, activation="tanh")(x) for n in ("b", "a")]
    frozen = layers.Dense(4, trainable=False)(layers.BatchNormalization()(layers.add(branches)))
    model = keras.Model(x, layers.Dense(1)(layers.Concatenate()([frozen, branches[1]])))
    model.compile(getattr(keras.optimizers, kind)(**settings), "mse")
    inputs, labels = uniform(8, 4), uniform(8, 1)
    for _ in range(steps):
        model.train_on_batch(inputs, labels)
    model.save(tmp_path / "m.keras")
    ours = tf.keras.models.load_model(tmp_path / "m.keras")
    for _ in range(3):
        expected, found = model.train_on_batch(inputs, labels), ours.train_on_batch(inputs, labels)
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-6)
    np.testing.assert_allclose(ours.predict(inputs), model.predict(inputs, verbose=0), rtol=2e-4, atol=2e-5)
    assert int(ours.optimizer.iterations) == steps + 3


def test_weights_for_other_settings_warn(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((5, 4)), layers.LSTM(3, name="lstm"), layers.Dense(2)])
    model.save(tmp_path / "m.keras")
    ours = tf.keras.Sequential([tf.keras.layers.LSTM(3, input_shape=(5, 4), name="mine"), tf.keras.layers.Dense(2)])
    with pytest.warns(CheckpointWarning) as caught:
        ours.load_weights(tmp_path / "m.keras")
    assert [str(each.message) for each in caught] == [
        "load_weights: layer 'mine' has recurrent_activation='hard_sigmoid', and its weights in "
        f"'{tmp_path}/m.keras' are those of one with recurrent_activation='sigmoid'."
    ]
