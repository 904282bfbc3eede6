"""Arithmetic and elementary functions, elementwise."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core import dtypes
from agog_core.call import call
from agog_core.convert import convert_to_tensor
from agog_core.dtypes import FLOATING, INTEGERS, ORDERED
from agog_core.elementwise import binary, unary
from agog_core.errors import InvalidArgumentError
from agog_core.op import Op
from agog_core.shapes import Shape
from agog_core.tensor import Tensor, TensorLike


@binary(x=lambda g: g, y=lambda g: g, dtypes=ORDERED)
def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Sum of two tensors, elementwise.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x + y``, of the broadcast shape.

    >>> print(add([1.0, 2.0], 3.0))
    tf.Tensor([4. 5.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g: g, y=lambda g: negative(g), dtypes=ORDERED)
def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Difference of two tensors, elementwise.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x - y``, of the broadcast shape.

    >>> print(subtract([1.0, 2.0], 3.0))
    tf.Tensor([-2. -1.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g, y: multiply(g, y), y=lambda g, x: multiply(g, x), dtypes=ORDERED)
def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Product of two tensors, elementwise.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x * y``, of the broadcast shape.

    >>> print(multiply([1.0, 2.0], 3.0))
    tf.Tensor([3. 6.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g, y: realdiv(g, y), y=lambda g, x, y: negative(multiply(g, realdiv(realdiv(x, y), y))), dtypes=FLOATING)
def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors of floats, elementwise.

    Args:
        x: a tensor of floats.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x / y``, of the broadcast shape; infinite or NaN where ``y`` is zero.

    >>> print(realdiv([1.0, 3.0], 2.0))
    tf.Tensor([0.5 1.5], shape=(2,), dtype=float32)
    """


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors, elementwise; integers are converted to floats first, as Python's ``/`` does.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x / y``: float64 for integers (float32 for those of 8 and 16 bits), else of the inputs' dtype.

    >>> print(truediv(7, 2))
    tf.Tensor(3.5, shape=(), dtype=float64)
    """
    if not isinstance(x, Tensor):
        x = convert_to_tensor(x, preferred_dtype=y.dtype if isinstance(y, Tensor) else None)
    if not isinstance(y, Tensor):
        y = convert_to_tensor(y, preferred_dtype=x.dtype)
    if x.dtype is y.dtype and x.dtype.is_integer:
        to = dtypes.float32 if x.dtype.size <= 2 else dtypes.float64
        x, y = cast(x, to), cast(y, to)
    return realdiv(x, y)


divide = truediv


@binary(dtypes=ORDERED)
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors, rounded down, elementwise; it has no gradient.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x // y``, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    >>> print(floordiv([7, -7], 2))
    tf.Tensor([ 3 -4], shape=(2,), dtype=int32)
    """


@binary(x=lambda g: g, y=lambda g, x, y: negative(multiply(g, floordiv(x, y))), dtypes=ORDERED)
def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Remainder of the rounded-down quotient, elementwise; it has the divisor's sign.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x - (x // y) * y``, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    >>> print(floormod([7, -7], 3))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """


mod = floormod


def _pow_vjp_x(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    # Where y is 0 the power is constant; x ** -1 would make NaN of it at x = 0.
    is_constant = equal(y, 0)
    return multiply(multiply(g, y), pow(x, where(is_constant, ones_like(y), subtract(y, 1))))


def _pow_vjp_y(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    # The logarithm's limit counts only where x > 0; 0 ** y does not depend on y.
    positive = greater(x, 0)
    return multiply(g, multiply(out, log(where(positive, x, ones_like(x)))))


@binary(x=_pow_vjp_x, y=_pow_vjp_y, dtypes=ORDERED)
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Power of two tensors, elementwise.

    Args:
        x: the bases, a tensor of numbers.
        y: the exponents, a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        ``x ** y``, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is raised to a negative power.

    >>> print(pow([2.0, 3.0], 2.0))
    tf.Tensor([4. 9.], shape=(2,), dtype=float32)
    """


def _maximum_vjp_x(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return multiply(g, cast(greater_equal(x, y), g.dtype))


def _maximum_vjp_y(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return multiply(g, cast(less(x, y), g.dtype))


@binary(x=_maximum_vjp_x, y=_maximum_vjp_y, dtypes=ORDERED)
def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger of two tensors, elementwise; where they are equal, ``x`` gets the gradient.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        The maximum, of the broadcast shape; NaN where either is NaN.

    >>> print(maximum([1.0, 5.0], 3.0))
    tf.Tensor([3. 5.], shape=(2,), dtype=float32)
    """


def _minimum_vjp_x(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return multiply(g, cast(less_equal(x, y), g.dtype))


def _minimum_vjp_y(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return multiply(g, cast(greater(x, y), g.dtype))


@binary(x=_minimum_vjp_x, y=_minimum_vjp_y, dtypes=ORDERED)
def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller of two tensors, elementwise; where they are equal, ``x`` gets the gradient.

    Args:
        x: a tensor of numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        name: not used; kept for compatibility.

    Returns:
        The minimum, of the broadcast shape; NaN where either is NaN.

    >>> print(minimum([1.0, 5.0], 3.0))
    tf.Tensor([1. 3.], shape=(2,), dtype=float32)
    """


@unary(lambda g: negative(g), dtypes=ORDERED)
def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """The value with the other sign, elementwise.

    Args:
        x: a tensor of numbers.
        name: not used; kept for compatibility.

    Returns:
        ``-x``.

    >>> print(negative([1.0, -2.0]))
    tf.Tensor([-1.  2.], shape=(2,), dtype=float32)
    """


@unary(lambda g, x: multiply(g, sign(x)), dtypes=ORDERED)
def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """Absolute value, elementwise; its gradient at 0 is 0.

    Args:
        x: a tensor of numbers.
        name: not used; kept for compatibility.

    Returns:
        ``|x|``.

    >>> print(abs([1.0, -2.0]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """


@unary(lambda g, x: multiply(g, multiply(x, 0)), dtypes=ORDERED)
def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """The sign, elementwise; its gradient is 0.

    Args:
        x: a tensor of numbers.
        name: not used; kept for compatibility.

    Returns:
        -1, 0 or 1 in the input's dtype; NaN for NaN.

    >>> print(sign([3.0, 0.0, -2.0]))
    tf.Tensor([ 1.  0. -1.], shape=(3,), dtype=float32)
    """


@unary(dtypes=FLOATING)
def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The largest integer that is not larger, elementwise; it has no gradient.

    Args:
        x: a tensor of floats.
        name: not used; kept for compatibility.

    Returns:
        The integers, in the input's dtype.

    >>> print(floor([1.5, -1.5]))
    tf.Tensor([ 1. -2.], shape=(2,), dtype=float32)
    """


@unary(lambda g, x: multiply(g, multiply(x, 2)), dtypes=ORDERED)
def square(x: TensorLike, name: str | None = None) -> Tensor:
    """The square, elementwise.

    Args:
        x: a tensor of numbers.
        name: not used; kept for compatibility.

    Returns:
        ``x * x``.

    >>> print(square([1.0, -2.0]))
    tf.Tensor([1. 4.], shape=(2,), dtype=float32)
    """


@unary(lambda g, out: realdiv(multiply(g, 0.5), out), dtypes=FLOATING)
def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root, elementwise.

    Args:
        x: a tensor of floats.
        name: not used; kept for compatibility.

    Returns:
        The root; NaN where ``x`` is negative.

    >>> print(sqrt([1.0, 4.0]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """


@unary(lambda g, out: multiply(g, out), dtypes=FLOATING)
def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential, elementwise.

    Args:
        x: a tensor of floats.
        name: not used; kept for compatibility.

    Returns:
        ``e ** x``.

    >>> print(exp([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: realdiv(g, x), dtypes=FLOATING)
def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm, elementwise.

    Args:
        x: a tensor of floats.
        name: not used; kept for compatibility.

    Returns:
        The logarithm; minus infinity at 0, NaN where ``x`` is negative.

    >>> print(log([1.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: realdiv(g, add(x, 1)), dtypes=FLOATING)
def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm of one plus the input, elementwise, exact also near 0.

    Args:
        x: a tensor of floats.
        name: not used; kept for compatibility.

    Returns:
        ``log(1 + x)``.

    >>> print(log1p([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: multiply(g, cos(x)), dtypes=FLOATING)
def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine, elementwise.

    Args:
        x: a tensor of floats, in radians.
        name: not used; kept for compatibility.

    Returns:
        The sine.

    >>> print(sin([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, x: negative(multiply(g, sin(x))), dtypes=FLOATING)
def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine, elementwise.

    Args:
        x: a tensor of floats, in radians.
        name: not used; kept for compatibility.

    Returns:
        The cosine.

    >>> print(cos([0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """


@unary(lambda g, out: multiply(g, subtract(1, square(out))), dtypes=FLOATING)
def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent, elementwise.

    Args:
        x: a tensor of floats.
        name: not used; kept for compatibility.

    Returns:
        The hyperbolic tangent, in [-1, 1].

    >>> print(tanh([0.0]))
    tf.Tensor([0.], shape=(1,), dtype=float32)
    """


@unary(lambda g, out: multiply(g, multiply(out, subtract(1, out))), dtypes=FLOATING)
def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """The logistic function, elementwise.

    Args:
        x: a tensor of floats.
        name: not used; kept for compatibility.

    Returns:
        ``1 / (1 + e ** -x)``, in [0, 1], without overflow.

    >>> print(sigmoid([0.0]))
    tf.Tensor([0.5], shape=(1,), dtype=float32)
    """


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Sum of any number of tensors of one shape, elementwise.

    Args:
        inputs: at least one tensor; all of one shape and dtype.
        name: not used; kept for compatibility.

    Returns:
        The sum.

    Raises:
        ValueError: there is no input.
        InvalidArgumentError: shapes or dtypes differ.

    >>> print(add_n([[1.0, 2.0], [3.0, 4.0]]))
    tf.Tensor([4. 6.], shape=(2,), dtype=float32)
    """
    tensors = [convert_to_tensor(x) for x in inputs]
    if not tensors:
        raise ValueError("add_n: inputs is empty; give at least one tensor.")
    return call(_add_n, *tensors)  # type: ignore[no-any-return]  # one output


def _add_n_shape(*shapes: Shape) -> Shape:
    if any(shape != shapes[0] for shape in shapes):
        raise InvalidArgumentError(f"add_n: the inputs must be of one shape; got {', '.join(map(str, shapes))}.")
    return shapes[0]


_add_n = Op(
    "add_n",
    add_n,
    inputs=["*inputs"],
    shape=_add_n_shape,
    dtypes=ORDERED,
    vjp={"inputs": lambda g, shapes: (g,) * len(shapes)},
)

# The gradients above use these, and they use the ops above.
from agog_core.ops.array import ones_like  # noqa: E402
from agog_core.ops.casting import cast  # noqa: E402
from agog_core.ops.logic import equal, greater, greater_equal, less, less_equal, where  # noqa: E402
