"""``tf.keras.initializers``: initial values of weights."""

from agog_layers.initializers import (
    Constant,
    Initializer,
    Ones,
    RandomNormal,
    RandomUniform,
    VarianceScaling,
    Zeros,
    get,
    glorot_uniform,
    he_uniform,
)

__all__ = [
    "Constant",
    "Initializer",
    "Ones",
    "RandomNormal",
    "RandomUniform",
    "VarianceScaling",
    "Zeros",
    "get",
    "glorot_uniform",
    "he_uniform",
]
