"""``tf.keras.activations``: activation functions, and how they are named."""

from agog_compat.advice import taught as _taught
from agog_core.ops.math.elementary import exp as exponential
from agog_core.ops.math.elementary import sigmoid, softplus, tanh
from agog_core.ops.nn import leaky_relu, log_softmax, relu, relu6, selu, softmax, softsign, swish
from agog_core.ops.nn import swish as silu
from agog_layers.base.activations import deserialize, elu, gelu, get, hard_sigmoid, linear, mish, serialize

__all__ = [
    "deserialize",
    "elu",
    "exponential",
    "gelu",
    "get",
    "hard_sigmoid",
    "leaky_relu",
    "linear",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "selu",
    "serialize",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "swish",
    "tanh",
]

__getattr__ = _taught(__name__)
