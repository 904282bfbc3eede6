"""The networks of `tf.keras.applications`: onnxruntime computes what they compute, at three sizes of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running import change, check

import agog as tf

# The smallest images that each network takes.
SIZES = {
    "DenseNet121": 32,
    "EfficientNetB0": 32,
    "InceptionV3": 75,
    "MobileNetV2": 32,
    "ResNet50": 32,
    "VGG16": 32,
}


@pytest.mark.parametrize("name", SIZES)
def test_the_network_computes_the_same(name: str) -> None:
    tf.set_random_seed(1)
    shape = (SIZES[name], SIZES[name], 3)
    model = getattr(tf.keras.applications, name)(weights=None, classes=10, input_shape=shape)

    def examples(batch: int) -> list[np.ndarray[Any, Any]]:
        return [np.random.default_rng(batch).normal(size=(batch, *shape)).astype(np.float32)]

    change([variable for variable in model.variables if "kernel" not in variable.name])
    check(model, examples, lambda x: model(x, training=False))
