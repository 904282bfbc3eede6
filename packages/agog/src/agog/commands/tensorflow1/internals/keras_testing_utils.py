"""Keras testing utils: TensorFlow's ``python.keras.testing_utils``, for tests of layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import agog as tf

__all__ = ["get_small_functional_mlp", "get_small_sequential_mlp", "get_test_data", "layer_test"]


def get_test_data(
    train_samples: int,
    test_samples: int,
    input_shape: tuple[int, ...],
    num_classes: int,
    random_seed: int | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Examples that can be told apart: those of a class are noise around one point.

    Args:
        train_samples: how many examples there are to train.
        test_samples: how many there are to test.
        input_shape: the shape of an example.
        num_classes: how many classes there are.
        random_seed: what seeds NumPy's random numbers; None for nothing.

    Returns:
        Two pairs of examples and their classes.
    """
    if random_seed is not None:
        np.random.seed(random_seed)
    centers = 2 * num_classes * np.random.random((num_classes, *input_shape))
    classes = np.random.randint(0, num_classes, size=train_samples + test_samples)
    examples = (centers[classes] + np.random.normal(size=(len(classes), *input_shape))).astype(np.float32)
    return (examples[:train_samples], classes[:train_samples]), (examples[train_samples:], classes[train_samples:])


def layer_test(
    layer_cls: Any,
    kwargs: Mapping[str, Any] | None = None,
    input_shape: Any = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
) -> Any:
    """Check a layer of one input and one output: its weights, shapes and dtype, its description, and that it trains.

    Args:
        layer_cls: the layer's class.
        kwargs: the arguments to make it with.
        input_shape: the input's shape, with the batch axis; None for that of ``input_data``.
        input_dtype: the input's dtype; None for that of ``input_data``, or float32.
        input_data: the input; None for random numbers.
        expected_output: what the layer must return.
        expected_output_dtype: its dtype; None for the input's.

    Returns:
        What the layer returned, an array.

    Raises:
        AssertionError: the layer does otherwise.
    """
    data = _random_input(input_shape, input_dtype or "float32") if input_data is None else input_data
    shape = data.shape if input_shape is None else tuple(input_shape)
    dtype = tf.as_dtype(input_dtype or data.dtype)
    layer = layer_cls(**(kwargs or {}))
    layer.set_weights(layer.get_weights())

    inputs = tf.keras.Input(shape=shape[1:], dtype=dtype)
    outputs = layer(inputs)
    wanted = tf.as_dtype(expected_output_dtype or dtype)
    assert outputs.dtype == wanted, f"{layer.name} returned dtype {outputs.dtype.name}, not {wanted.name}."
    model = tf.keras.Model(inputs, outputs)
    result = _checked(model, layer, data, shape, expected_output)
    if model.trainable_weights:
        model.compile(tf.train.RMSPropOptimizer(0.01), "mse")
        model.train_on_batch(data, result)

    again = layer.__class__.from_config({**layer.get_config(), "batch_input_shape": shape})
    return _checked(tf.keras.Sequential([again]), layer, data, shape, expected_output)


def _checked(model: Any, layer: Any, data: Any, shape: Any, expected: Any) -> Any:
    """What a model of one layer returns, after a look at its shape, its value and a copy from its description."""
    result = model.predict(data)
    sizes = tuple(layer.compute_output_shape(tf.TensorShape(shape)).as_list())
    fits = all(size in (None, found) for size, found in zip(sizes, result.shape, strict=True))
    assert fits, f"{layer.name} returned shape {result.shape}, but compute_output_shape says {sizes}."
    if expected is not None:
        np.testing.assert_allclose(result, expected, rtol=1e-3)
    copy = type(model).from_config(model.get_config())
    if model.weights:
        copy.set_weights(model.get_weights())
        np.testing.assert_allclose(copy.predict(data), result, rtol=1e-3)
    return result


def _random_input(shape: Any, dtype: str) -> Any:
    sizes = [np.random.randint(1, 4) if size is None else size for size in shape]
    numbers = 10 * np.random.random(sizes)
    return (numbers - 0.5 if dtype.startswith("float") else numbers).astype(dtype)


def get_small_sequential_mlp(num_hidden: int, num_classes: int, input_dim: int | None = None) -> Any:
    """A small model of two dense layers, as a `Sequential`.

    Args:
        num_hidden: the units of the first.
        num_classes: the units of the second.
        input_dim: the size of an example; None to learn it from the first.

    Returns:
        The model.
    """
    sizes: dict[str, Any] = {} if input_dim is None else {"input_dim": input_dim}
    return tf.keras.Sequential(
        [
            tf.keras.layers.Dense(num_hidden, activation="relu", **sizes),
            tf.keras.layers.Dense(num_classes, activation="sigmoid" if num_classes == 1 else "softmax"),
        ]
    )


def get_small_functional_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """A small model of two dense layers, made of its input and its output.

    Args:
        num_hidden: the units of the first.
        num_classes: the units of the second.
        input_dim: the size of an example.

    Returns:
        The model.
    """
    inputs = tf.keras.Input(shape=(input_dim,))
    hidden = tf.keras.layers.Dense(num_hidden, activation="relu")(inputs)
    activation = "sigmoid" if num_classes == 1 else "softmax"
    return tf.keras.Model(inputs, tf.keras.layers.Dense(num_classes, activation=activation)(hidden))
