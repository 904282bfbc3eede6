"""``tf.keras.constraints``: functions that optimizers apply to weights after each update."""

from agog_compat.advice import taught as _taught
from agog_layers.weights.constraints import (
    Constraint,
    MaxNorm,
    MinMaxNorm,
    NonNeg,
    UnitNorm,
    deserialize,
    get,
    max_norm,
    min_max_norm,
    non_neg,
    serialize,
    unit_norm,
)

# The names that Keras 1 had.
maxnorm, nonneg, unitnorm = max_norm, non_neg, unit_norm

__all__ = [
    "Constraint",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "UnitNorm",
    "deserialize",
    "get",
    "max_norm",
    "maxnorm",
    "min_max_norm",
    "non_neg",
    "nonneg",
    "serialize",
    "unit_norm",
    "unitnorm",
]

__getattr__ = _taught(__name__)
