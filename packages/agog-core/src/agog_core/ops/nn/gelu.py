"""Gelu: the Gaussian error linear unit, elementwise, and its gradient."""

from __future__ import annotations

import math

from agog_core.calls.call import call
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.math.elementary import exp, sigmoid, square
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["gelu"]


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """Gaussian error linear unit, elementwise: a number times the probability that a normal one is less.

    D. Hendrycks and K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415, 2016.

    Args:
        features: a tensor of floats.
        approximate: whether the probability is that of the paper's formula with ``tanh``.

    Returns:
        A tensor of the same shape.

    >>> print(gelu([-1.0, 0.0, 2.0]))
    tf.Tensor([-0.15865526  0.          1.9544997 ], shape=(3,), dtype=float32)
    """
    return call(_gelu, convert_to_tensor(features), approximate=bool(approximate))


def _vjp(g: Tensor, features: Tensor, out: Tensor, approximate: bool) -> Tensor:
    return call(_gelu_grad, g, features, out, approximate=approximate)


_gelu = define(
    gelu, shape=lambda features, approximate: features, dtypes=FLOATING, vjp={"features": _vjp}, elementwise=True
)


def gelu_grad(gradients: TensorLike, features: TensorLike, approximate: bool = False) -> Tensor:
    """The gradient of `gelu`, elementwise, by its input; it runs `gelu` first, whose kernel has the probabilities.

    >>> print(gelu_grad([2.0, 2.0], [0.0, 20.0]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    g, x = convert_to_tensor(gradients), convert_to_tensor(features)
    return _vjp(g, x, gelu(x, approximate), bool(approximate))


def _grad_shape(gradients: Shape, features: Shape, outputs: Shape, approximate: bool) -> Shape:
    if gradients != features:
        raise InvalidArgumentError(
            f"gelu_grad: gradients and features must be of one shape; got {gradients} and {features}."
        )
    return features


def _grad_vjp(g: Tensor, gradients: Tensor, features: Tensor, approximate: bool) -> Tensor:
    """By the second derivative; the outputs are the features' too."""
    curvature = _approximate_curvature if approximate else _curvature
    return g * gradients * curvature(features)


def _curvature(x: Tensor) -> Tensor:
    """The normal density times ``2 - x**2``."""
    density = exp(square(x) * -0.5) * (1 / math.sqrt(2 * math.pi))
    return density * (2.0 - square(x))


def _approximate_curvature(x: Tensor) -> Tensor:
    """The second derivative of ``x * p`` for p, the sigmoid of a cubic polynomial; its slopes are products with p."""
    cubic, root = 0.044715, 2 * math.sqrt(2 / math.pi)
    p = sigmoid(x * root * (square(x) * cubic + 1.0))
    inner = (square(x) * (3 * cubic) + 1.0) * root
    change = p * (1.0 - p)
    second = square(inner) * (1.0 - p * 2.0) + x * (6 * cubic * root)
    return change * (inner * 2.0 + x * second)


_gelu_grad: Op = Op(
    "gelu_grad",
    gelu_grad,
    inputs=["gradients", "features", "outputs"],
    shape=_grad_shape,
    dtypes=FLOATING,
    vjp={
        "gradients": lambda g, features, outputs, approximate: _vjp(g, features, outputs, approximate),
        "features": _grad_vjp,
    },
    elementwise=True,
)
