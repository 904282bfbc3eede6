"""Functions of ``tf.keras.backend`` over tensors, and its settings, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_keras import settings
from agog_keras.backend import tensors as backend
from agog_testing import says

rng = np.random.default_rng(17)


def test_values_of_the_backend() -> None:
    assert backend.variable(np.arange(3)).dtype.name == "float32"
    v = backend.variable(np.arange(3), "int64")
    assert (v.dtype.name, backend.get_value(v).tolist()) == ("int64", [0, 1, 2])
    backend.batch_set_value([(v, [5, 6, 7])])
    backend.update_sub(backend.update_add(v, [1, 1, 1]), [2, 2, 2])
    assert backend.batch_get_value([v, 3])[0].tolist() == [4, 5, 6]
    assert backend.update(v, [1, 2, 3]) is v
    with says(TypeError, "set_value: x must be a variable; got 3 of type int."):
        backend.set_value(3, 4)


def test_products_of_the_backend() -> None:
    x, y = rng.normal(size=(2, 3, 4)), rng.normal(size=(5, 4, 6))
    np.testing.assert_allclose(backend.dot(x, y).numpy(), np.dot(x, y), rtol=1e-12)
    np.testing.assert_allclose(backend.dot(x, y[0]).numpy(), x @ y[0], rtol=1e-12)
    assert backend.repeat_elements(x, 2, 1).shape.as_list() == [2, 6, 4]
    assert backend.arange(2, 6, 2).numpy().tolist() == [2, 4]


def test_cross_entropies_of_the_backend() -> None:
    y, logits = np.array([0.0, 1.0, 0.25]), np.array([-1.0, 2.0, 0.5])
    p = 1 / (1 + np.exp(-logits))
    expected = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    np.testing.assert_allclose(backend.binary_crossentropy(y, p).numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(backend.binary_crossentropy(y, logits, from_logits=True).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (
            settings.set_floatx,
            "float16",
            "set_floatx: floats are float32 where nothing else is said; got 'float16'. Give layers dtype='float16', "
            "and inputs of that dtype.",
        ),
        (
            settings.set_image_data_format,
            "channels_first",
            "set_image_data_format: channels are last where nothing else is said; got 'channels_first'. Give layers "
            "data_format='channels_first'.",
        ),
    ],
)
def test_what_layers_are_told_instead(function: Any, value: str, text: str) -> None:
    with says(ValueError, text):
        function(value)
