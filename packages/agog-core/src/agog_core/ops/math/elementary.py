"""Elementary: powers, exponentials and the most frequent functions of angles, elementwise."""

from __future__ import annotations

from agog_core.calls.elementwise import binary, unary
from agog_core.dtypes import DIFFERENTIABLE, FLOATING, INTEGERS
from agog_core.ops.array import cast, ones_like
from agog_core.ops.math.arithmetic import add, multiply, negative, realdiv, subtract
from agog_core.ops.math.logic import equal, greater, logical_and, not_equal, where
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = [
    "cos",
    "exp",
    "expm1",
    "floor",
    "log",
    "log1p",
    "log_sigmoid",
    "pow",
    "rsqrt",
    "sigmoid",
    "sin",
    "sqrt",
    "square",
    "tanh",
]

# The vjps of this file are on most walks back: functions spare them the 30 ns of an operator.


def _pow_vjp_x(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    # Where y is 0 the power is constant; 0 ** -1 would make NaN of it at x = 0, and there 1 stands for it.
    is_origin = logical_and(equal(y, 0), equal(x, 0))
    return multiply(multiply(g, y), pow(add(x, cast(is_origin, x._table.dtype)), subtract(y, 1)))


def _pow_vjp_y(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    # A real logarithm's limit counts only where x > 0; 0 ** y does not depend on y.
    has_logarithm = not_equal(x, 0) if x._table.dtype.is_complex else greater(x, 0)
    return multiply(g, multiply(out, log(where(has_logarithm, x, ones_like(x)))))


@binary(x=_pow_vjp_x, y=_pow_vjp_y, may_fail=INTEGERS)
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Power of two tensors, elementwise.

    Args:
        x: the bases, a tensor of numbers.
        y: the exponents, a tensor of the same dtype whose shape broadcasts with ``x``'s.

    Returns:
        ``x ** y``, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is raised to a negative power.

    >>> print(pow([2.0, 3.0], 2.0))
    tf.Tensor([4. 9.], shape=(2,), dtype=float32)
    """


@unary(dtypes=FLOATING)
def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The largest integer that is not larger, elementwise; it has no gradient.

    Returns:
        The integers, in the input's dtype.

    >>> print(floor([1.5, -1.5]))
    tf.Tensor([ 1. -2.], shape=(2,), dtype=float32)
    """


@unary(lambda g, x: multiply(g, multiply(x, 2)))
def square(x: TensorLike, name: str | None = None) -> Tensor:
    """The square, elementwise.

    Returns:
        ``x * x``.

    >>> print(square([1.0, -2.0]))
    tf.Tensor([1. 4.], shape=(2,), dtype=float32)
    """


@unary(lambda g, out: realdiv(multiply(g, 0.5), out), dtypes=DIFFERENTIABLE)
def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root, elementwise.

    Returns:
        The root; NaN where a float is negative.

    >>> print(sqrt([1.0, 4.0]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """


@unary(lambda g, out: multiply(multiply(g, -0.5), multiply(square(out), out)), dtypes=DIFFERENTIABLE)
def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """One divided by the square root, elementwise.

    Returns:
        ``1 / sqrt(x)``; infinite at 0, NaN where a float is negative.

    >>> print(rsqrt([1.0, 4.0]))
    tf.Tensor([1.  0.5], shape=(2,), dtype=float32)
    """


@unary(lambda g, out: multiply(g, out), dtypes=DIFFERENTIABLE)
def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential, elementwise.

    Returns:
        ``e ** x``.

    >>> print(exp([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


@unary(lambda g, out: multiply(g, add(out, 1)), dtypes=DIFFERENTIABLE)
def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential minus one, elementwise, exact also near 0.

    Returns:
        ``e ** x - 1``.

    >>> print(expm1([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: realdiv(g, x), dtypes=DIFFERENTIABLE)
def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm, elementwise.

    Returns:
        The logarithm; minus infinity at 0, NaN where a float is negative.

    >>> print(log([1.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: realdiv(g, add(x, 1)), dtypes=DIFFERENTIABLE)
def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm of one plus the input, elementwise, exact also near 0.

    Returns:
        ``log(1 + x)``.

    >>> print(log1p([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: multiply(g, cos(x)), dtypes=DIFFERENTIABLE)
def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine, elementwise.

    Args:
        x: a tensor of floats or complex numbers, in radians.

    Returns:
        The sine.

    >>> print(sin([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: negative(multiply(g, sin(x))), dtypes=DIFFERENTIABLE)
def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine, elementwise.

    Args:
        x: a tensor of floats or complex numbers, in radians.

    Returns:
        The cosine.

    >>> print(cos([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


@unary(lambda g, out: tanh_grad(g, out), dtypes=DIFFERENTIABLE)
def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent, elementwise.

    Returns:
        The hyperbolic tangent, in [-1, 1] for floats.

    >>> print(tanh([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@binary(
    x=lambda g, outputs: tanh_grad(g, outputs),
    y=lambda g, gradients, outputs: multiply(multiply(g, gradients), multiply(outputs, -2)),
    dtypes=DIFFERENTIABLE,
)
def tanh_grad(gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `tanh`, elementwise: ``gradients * (1 - outputs ** 2)``, by the outputs of `tanh`.

    >>> print(tanh_grad([2.0], [0.5]))
    tf.Tensor([1.5], shape=(1,), dtype=float32)
    """


@unary(lambda g, out: sigmoid_grad(g, out), dtypes=DIFFERENTIABLE)
def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """The logistic function, elementwise.

    Returns:
        ``1 / (1 + e ** -x)``, in [0, 1] for floats, without overflow.

    >>> print(sigmoid([0.0]))
    tf.Tensor([0.5], shape=(1,), dtype=float32)
    """


@binary(
    x=lambda g, outputs: sigmoid_grad(g, outputs),
    y=lambda g, gradients, outputs: multiply(multiply(g, gradients), subtract(1, multiply(outputs, 2))),
    dtypes=DIFFERENTIABLE,
)
def sigmoid_grad(gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `sigmoid`, elementwise: ``gradients * outputs * (1 - outputs)``, by the outputs of `sigmoid`.

    >>> print(sigmoid_grad([2.0], [0.5]))
    tf.Tensor([0.5], shape=(1,), dtype=float32)
    """


@unary(lambda g, features: multiply(g, sigmoid(features)), dtypes=FLOATING)
def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """A smooth form of the rectified linear unit, elementwise.

    Returns:
        ``log(1 + e ** features)``, without overflow.

    >>> print(softplus([0.0]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the logistic function, elementwise.

    Args:
        x: a tensor of floats.

    Returns:
        ``log(1 / (1 + e ** -x))``, without overflow.

    >>> print(log_sigmoid([0.0]))
    tf.Tensor([-0.6931472], shape=(1,), dtype=float32)
    """
    return negative(softplus(negative(x)))
