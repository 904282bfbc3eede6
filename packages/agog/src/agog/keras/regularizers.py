"""``tf.keras.regularizers``: what weights or outputs add to the loss."""

from agog_compat.advice import taught as _taught
from agog_layers.weights.regularizers import (
    L1L2,
    OrthogonalRegularizer,
    Regularizer,
    deserialize,
    get,
    l1,
    l1_l2,
    l2,
    serialize,
)
from agog_layers.weights.regularizers import OrthogonalRegularizer as orthogonal_regularizer
from agog_layers.weights.regularizers import l1 as L1
from agog_layers.weights.regularizers import l2 as L2

__all__ = [
    "L1",
    "L1L2",
    "L2",
    "OrthogonalRegularizer",
    "Regularizer",
    "deserialize",
    "get",
    "l1",
    "l1_l2",
    "l2",
    "orthogonal_regularizer",
    "serialize",
]

__getattr__ = _taught(__name__)
