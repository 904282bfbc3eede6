"""``tf.keras.activations``: activation functions, and how they are named."""

from agog_compat.advice import taught as _taught
from agog_core.ops.math.elementary import exp as exponential
from agog_core.ops.math.elementary import sigmoid, softplus, tanh
from agog_core.ops.nn import leaky_relu, log_softmax, relu, relu6, selu, softmax, softsign, swish
from agog_core.ops.nn import swish as silu
from agog_layers.base.activations import deserialize, elu, gelu, get, hard_sigmoid, linear, mish, serialize
from agog_layers.base.gating import celu, glu, log_sigmoid, sparsemax, squareplus, tanh_shrink
from agog_layers.base.piecewise import (
    hard_shrink,
    hard_silu,
    hard_tanh,
    soft_shrink,
    sparse_plus,
    sparse_sigmoid,
    threshold,
)
from agog_layers.base.piecewise import hard_silu as hard_swish

__all__ = [
    "celu",
    "deserialize",
    "elu",
    "exponential",
    "gelu",
    "get",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "selu",
    "serialize",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "sparse_plus",
    "sparse_sigmoid",
    "sparsemax",
    "squareplus",
    "swish",
    "tanh",
    "tanh_shrink",
    "threshold",
]

__getattr__ = _taught(__name__)
