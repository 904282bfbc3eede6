"""Activations, elementwise, and their gradients."""

from __future__ import annotations

from typing import Any

from agog_core.calls.call import call
from agog_core.calls.elementwise import binary, unary
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING, ORDERED, float32
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, concat
from agog_core.ops.math.arithmetic import abs as absolute
from agog_core.ops.math.elementary import sigmoid, square
from agog_core.ops.math.logic import masked
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["crelu", "elu", "leaky_relu", "relu", "relu6", "selu", "softsign", "swish"]


@unary(lambda g, out: relu_grad(g, out), dtypes=ORDERED)
def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """Rectified linear unit, elementwise; its gradient at 0 is 0.

    Returns:
        ``max(features, 0)``; NaN for NaN.

    >>> print(relu([-1.0, 2.0]))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g, features: relu_grad(g, features), dtypes=ORDERED)
def relu_grad(gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `relu`, elementwise. By its input or output: ``gradients`` where ``features`` is positive, else
    0.

    >>> print(relu_grad([5.0, 5.0], [-1.0, 2.0]))
    tf.Tensor([0. 5.], shape=(2,), dtype=float32)
    """


@unary(lambda g, out: relu6_grad(g, out), dtypes=ORDERED)
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """Rectified linear unit that is cut off at 6, elementwise; its gradient at 0 and at 6 is 0.

    A. Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.

    Returns:
        ``min(max(features, 0), 6)``; NaN for NaN.

    >>> print(relu6([-1.0, 2.0, 7.0]))
    tf.Tensor([0. 2. 6.], shape=(3,), dtype=float32)
    """


@binary(x=lambda g, features: relu6_grad(g, features), dtypes=ORDERED)
def relu6_grad(gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `relu6`, elementwise. By its input or output: ``gradients`` where that is in (0, 6), else 0.

    >>> print(relu6_grad([5.0, 5.0, 5.0], [-1.0, 2.0, 7.0]))
    tf.Tensor([0. 5. 0.], shape=(3,), dtype=float32)
    """


@unary(lambda g, out: elu_grad(g, out), dtypes=FLOATING)
def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """Exponential linear unit, elementwise; its gradient at 0 is 1.

    D.-A. Clevert et al., "Fast and accurate deep network learning by exponential linear units", ICLR 2016.

    Returns:
        ``exp(features) - 1`` where ``features`` is negative, else ``features``.

    >>> print(elu([-1.0, 2.0]))
    tf.Tensor([-0.63212055  2.        ], shape=(2,), dtype=float32)
    """


@binary(
    x=lambda g, outputs: elu_grad(g, outputs),
    y=lambda g, gradients, outputs: _where_negative(outputs, g * gradients),
    dtypes=FLOATING,
)
def elu_grad(gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `elu`, elementwise. By its output: ``gradients * (outputs + 1)`` where that is negative, else
    ``gradients``.

    >>> print(elu_grad([2.0, 2.0], [-0.5, 3.0]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """


def _where_negative(outputs: Tensor, gradient: Tensor) -> Tensor:
    return masked(gradient, outputs < 0)


@unary(lambda g, out: selu_grad(g, out), dtypes=FLOATING)
def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """Scaled exponential linear unit, elementwise; its gradient at 0 is that from above.

    G. Klambauer et al., "Self-normalizing neural networks", NIPS 2017.

    Returns:
        ``scale * alpha * (exp(features) - 1)`` where ``features`` is negative, else ``scale * features``, with scale
        1.0507 and alpha 1.6733.

    >>> print(selu([-1.0, 2.0]))
    tf.Tensor([-1.1113307  2.101402 ], shape=(2,), dtype=float32)
    """


@binary(
    x=lambda g, outputs: selu_grad(g, outputs),
    y=lambda g, gradients, outputs: _where_negative(outputs, g * gradients),
    dtypes=FLOATING,
)
def selu_grad(gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `selu`, elementwise. By its output: ``gradients * (outputs + scale * alpha)`` where that is
    negative, else ``gradients * scale``.

    >>> print(selu_grad([1.0, 1.0], [-1.0, 3.0]))
    tf.Tensor([0.7580993 1.050701 ], shape=(2,), dtype=float32)
    """


def leaky_relu(features: TensorLike, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """Rectified linear unit with a slope below 0 too; its gradient at 0 is that from below.

    A. Maas et al., "Rectifier nonlinearities improve neural network acoustic models", ICML 2013.

    Args:
        features: a tensor of numbers; integers are converted to float32.
        alpha: the slope below 0: a number.

    Returns:
        ``max(alpha * features, features)``; NaN for NaN.

    >>> print(leaky_relu([-1.0, 2.0]))
    tf.Tensor([-0.2  2. ], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(features)
    if x.dtype.is_integer:
        x = cast(x, float32)
    return call(_leaky_relu, x, alpha=float(alpha))


_leaky_relu = define(
    leaky_relu,
    shape=lambda features, alpha: features,
    dtypes=FLOATING,
    vjp={"features": lambda g, features, alpha: call(_leaky_relu_grad, g, features, alpha=alpha)},
    elementwise=True,
)


def leaky_relu_grad(gradients: TensorLike, features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """The gradient of `leaky_relu`. By its input: ``gradients`` times ``max(alpha, 1)`` where that is positive, else
    times ``min(alpha, 1)``.

    >>> print(leaky_relu_grad([1.0, 1.0], [-1.0, 2.0]))
    tf.Tensor([0.2 1. ], shape=(2,), dtype=float32)
    """
    return call(_leaky_relu_grad, convert_to_tensor(gradients), convert_to_tensor(features), alpha=float(alpha))


def _leaky_relu_grad_shape(gradients: Shape, features: Shape, alpha: float) -> Shape:
    if gradients != features:
        raise InvalidArgumentError(
            f"leaky_relu_grad: gradients and features must be of one shape; got {gradients} and {features}."
        )
    return features


_leaky_relu_grad: Op = define(
    leaky_relu_grad,
    shape=_leaky_relu_grad_shape,
    dtypes=FLOATING,
    vjp={"gradients": lambda g, features, alpha: call(_leaky_relu_grad, g, features, alpha=alpha)},
    elementwise=True,
)


@unary(lambda g, features: g / square(absolute(features) + 1), dtypes=FLOATING)
def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """The quotient of a number and one more than its size, elementwise.

    Returns:
        ``features / (abs(features) + 1)``.

    >>> print(softsign([1.0, -3.0]))
    tf.Tensor([ 0.5  -0.75], shape=(2,), dtype=float32)
    """


def _swish_vjp(g: Tensor, features: Tensor) -> Tensor:
    s = sigmoid(features)
    return g * (s * (features * (1 - s) + 1))


@unary(_swish_vjp, dtypes=FLOATING)
def swish(features: TensorLike, name: str | None = None) -> Tensor:
    """The product of a number and its sigmoid, elementwise.

    P. Ramachandran et al., "Searching for activation functions", arXiv:1710.05941, 2017.

    Returns:
        ``features * sigmoid(features)``.

    >>> print(swish([0.0, 1.0]))
    tf.Tensor([0.        0.7310586], shape=(2,), dtype=float32)
    """


def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """The rectified positive and the rectified negative parts, one behind the other.

    W. Shang et al., "Understanding and improving convolutional neural networks via concatenated rectified linear
    units", ICML 2016.

    Args:
        features: a tensor of numbers.
        axis: the axis along which they are put together.

    Returns:
        A tensor that is twice as long along the axis.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> print(crelu([-1.0, 2.0]))
    tf.Tensor([0. 2. 1. 0.], shape=(4,), dtype=float32)
    """
    x = convert_to_tensor(features)
    return relu(concat([x, -x], axis))
