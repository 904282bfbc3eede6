"""Lookup of activation functions by name, as in ``tf.keras.activations``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.nn import leaky_relu, log_softmax, relu, relu6, selu, softmax, softplus, softsign, swish
from agog_layers.activations.piecewise import (
    h_sigmoid,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    linear,
    soft_shrink,
    sparse_plus,
    sparse_sigmoid,
    threshold,
)
from agog_layers.activations.smooth import celu, elu, gelu, glu, log_sigmoid, mish, sparsemax, squareplus, tanh_shrink
from agog_layers.serialization.lookup import Lookup
from agog_layers.serialization.registry import functions

__all__ = [
    "Activation",
    "deserialize",
    "get",
    "serialize",
]

Activation = Callable[[Tensor], Tensor]


def fused(activation: Activation) -> str:
    """The name by which a product with a bias takes an activation into its op; ``"linear"`` where it takes none."""
    if activation is relu:
        return "relu"
    if activation is ag.tanh:
        return "tanh"
    if activation is ag.sigmoid:
        return "sigmoid"
    return "relu6" if activation is relu6 else "linear"


_BY_NAME: dict[str, Any] = {
    function.__name__: function
    for function in (
        *(elu, ag.exp, gelu, hard_sigmoid, leaky_relu, linear, log_softmax, mish, relu, relu6, selu, ag.sigmoid),
        *(softmax, softplus, softsign, swish, ag.tanh),
        *(celu, glu, log_sigmoid, sparsemax, squareplus, tanh_shrink),
        *(h_sigmoid, hard_shrink, hard_silu, hard_tanh, soft_shrink, sparse_plus, sparse_sigmoid, threshold),
    )
} | {"exponential": ag.exp, "hard_swish": hard_silu, "silu": swish}
functions.update(_BY_NAME)
ACTIVATIONS = Lookup("activation", _BY_NAME, default=linear)
get, serialize, deserialize = ACTIVATIONS.get, ACTIVATIONS.serialize, ACTIVATIONS.deserialize
