"""Activations: activation functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.ops import nn
from agog_core.ops.nn import leaky_relu, log_softmax, relu, relu6, selu, softmax, softplus, softsign, swish
from agog_layers.base.lookup import Lookup
from agog_layers.base.piecewise_activations import (
    h_sigmoid,
    hard_shrink,
    hard_silu,
    hard_tanh,
    soft_shrink,
    sparse_plus,
    sparse_sigmoid,
    threshold,
)
from agog_layers.base.smooth_activations import celu, glu, log_sigmoid, sparsemax, squareplus, tanh_shrink

__all__ = [
    "Activation",
    "deserialize",
    "elu",
    "gelu",
    "get",
    "hard_sigmoid",
    "linear",
    "mish",
    "serialize",
]

Activation = Callable[[Tensor], Tensor]


def linear(x: ag.TensorLike) -> Any:
    """The identity.

    Args:
        x: anything.

    Returns:
        ``x`` itself.

    >>> linear(3.0)
    3.0
    """
    return x


def elu(x: ag.TensorLike, alpha: float = 1.0) -> Tensor:
    """Exponential linear unit, elementwise.

    Args:
        x: a tensor of floats.
        alpha: the factor where ``x`` is negative.

    Returns:
        ``alpha * (exp(x) - 1)`` where ``x`` is negative, else ``x``.

    >>> print(elu([-1.0, 2.0], alpha=2.0))
    tf.Tensor([-1.2642411  2.       ], shape=(2,), dtype=float32)
    """
    unit = nn.elu(x)
    return unit if alpha == 1 else ag.where(unit > 0, unit, unit * alpha)


def hard_sigmoid(x: ag.TensorLike) -> Tensor:
    """Three lines that are near the sigmoid, elementwise; at the corners the gradient is that of the middle line.

    Args:
        x: a tensor of floats.

    Returns:
        ``0.2 * x + 0.5``, but not less than 0 nor more than 1.

    >>> print(hard_sigmoid([-3.0, 0.0, 1.0, 3.0]))
    tf.Tensor([0.  0.5 0.7 1. ], shape=(4,), dtype=float32)
    """
    return ag.minimum(ag.maximum(ag.convert_to_tensor(x) * 0.2 + 0.5, 0.0), 1.0)


def gelu(x: ag.TensorLike, approximate: bool = False) -> Tensor:
    """Gaussian error linear unit, elementwise. See `agog_core.ops.nn.gelu`.

    >>> print(gelu([-1.0, 0.0, 2.0]))
    tf.Tensor([-0.15865526  0.          1.9544997 ], shape=(3,), dtype=float32)
    """
    return nn.gelu(x, approximate)


def mish(x: ag.TensorLike) -> Tensor:
    """``x * tanh(softplus(x))``, elementwise.

    D. Misra, "Mish: a self regularized non-monotonic activation function", BMVC 2020.

    Args:
        x: a tensor of floats.

    Returns:
        A tensor of the same shape.

    >>> print(mish([0.0, 1.0]))
    tf.Tensor([0.        0.8650984], shape=(2,), dtype=float32)
    """
    tensor = ag.convert_to_tensor(x)
    return tensor * ag.tanh(softplus(tensor))


_BY_NAME: dict[str, Any] = {
    function.__name__: function
    for function in (
        *(elu, ag.exp, gelu, hard_sigmoid, leaky_relu, linear, log_softmax, mish, relu, relu6, selu, ag.sigmoid),
        *(softmax, softplus, softsign, swish, ag.tanh),
        *(celu, glu, log_sigmoid, sparsemax, squareplus, tanh_shrink),
        *(h_sigmoid, hard_shrink, hard_silu, hard_tanh, soft_shrink, sparse_plus, sparse_sigmoid, threshold),
    )
} | {"exponential": ag.exp, "hard_swish": hard_silu, "silu": swish}
ACTIVATIONS = Lookup("activation", _BY_NAME, default=linear)
get, serialize, deserialize = ACTIVATIONS.get, ACTIVATIONS.serialize, ACTIVATIONS.deserialize
