"""The models of the examples: onnxruntime computes what they compute, at three sizes of the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from running import ROOT, change, check, module

import agog as tf

Shape = tuple[int, ...]


def example(name: str) -> Any:
    return module(ROOT / "examples" / f"{name}.py")


def mlp() -> Any:
    dense = tf.keras.layers.Dense
    return tf.keras.Sequential([dense(128, "relu"), dense(64, "relu"), tf.keras.layers.Dropout(0.1), dense(10)])


# How each model is made, the shape of an example, and below which number its integers are; 0 for floats.
MODELS: dict[str, tuple[Callable[[], Any], Shape, int]] = {
    "char_rnn": (lambda: example("char_rnn").Reader(30, 16), (12,), 30),
    "cnn": (lambda: example("cnn").Network(), (28, 28, 1), 0),
    "cnn_lstm": (lambda: example("cnn_lstm").Network(), (16, 16, 1), 0),
    "fit": (lambda: example("fit").make_model((28, 28, 1)), (28, 28, 1), 0),
    "gan": (lambda: example("gan").network(2), (4,), 0),
    "mlp": (mlp, (64,), 0),
    "mnist": (lambda: example("mnist").NeuralNet(), (784,), 0),
    "transformer": (lambda: example("transformer").Transformer(64, 4, 2), (16,), 10),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_model_computes_the_same(name: str) -> None:
    make, shape, most = MODELS[name]
    tf.set_random_seed(1)
    model = make()

    def examples(batch: int) -> list[np.ndarray[Any, Any]]:
        rng = np.random.default_rng(batch)
        if most:
            return [rng.integers(0, most, (batch, *shape)).astype(np.int32)]
        return [rng.normal(size=(batch, *shape)).astype(np.float32)]

    model(tf.constant(examples(2)[0]))
    change(model.variables)
    check(model, examples, lambda x: model(x, training=False))


def test_the_line_of_linear_regression() -> None:
    line = example("linear_regression").Line()
    check(lambda x: line(x), lambda batch: [np.arange(batch, dtype=np.float32)], line)
