"""``tf.keras.random``: random numbers with Keras's arguments."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.keras_random import (
    SeedGenerator,
    beta,
    binomial,
    categorical,
    dropout,
    gamma,
    normal,
    randint,
    shuffle,
    truncated_normal,
    uniform,
)

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "dropout",
    "gamma",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]

__getattr__ = _taught(__name__)
