"""Arithmetic, elementwise."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core import dtypes
from agog_core.call import call
from agog_core.convert import convert_to_tensor
from agog_core.dtypes import FLOATING, ORDERED
from agog_core.elementwise import binary, operands, unary
from agog_core.errors import InvalidArgumentError
from agog_core.op import Op
from agog_core.ops.casting import cast
from agog_core.ops.logic import greater, greater_equal, less, less_equal
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


@binary(
    x=lambda g, y: realdiv(g, y), y=lambda g, x, y: negative(multiply(g, realdiv(realdiv(x, y), y))), dtypes=FLOATING
)
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
    if hasattr(type(y), "__tensor__"):  # a variable
        y = convert_to_tensor(y)
    given = x if type(x) is Tensor else y
    if type(given) is Tensor and given._table.dtype.is_floating:
        return realdiv(x, y)
    x, y = operands("truediv", ("x", "y"), x, y)
    if x.dtype.is_integer:
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
    return call(_add_n, *tensors)


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
