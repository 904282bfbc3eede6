"""Arithmetic: sums, products, quotients, extrema and signs, elementwise."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.calls.elementwise import binary, operands, unary
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import DIFFERENTIABLE, INTEGERS, NUMERIC, ORDERED
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, conj, zeros_like
from agog_core.ops.math.logic import equal, greater, greater_equal, keep, less, less_equal
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "abs",
    "add",
    "add_n",
    "approximate_equal",
    "cross",
    "divide",
    "floordiv",
    "floormod",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "realdiv",
    "sign",
    "squared_difference",
    "subtract",
    "truediv",
]

# The vjps of this file are on most walks back: functions spare them the 30 ns of an operator.


@binary(x=lambda g: g, y=lambda g: g, dtypes=NUMERIC | {dtypes.string})
def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Sum of two tensors, elementwise; strings are joined.

    Args:
        x, y: tensors of numbers or strings, of one dtype, whose shapes broadcast.

    Returns:
        ``x + y``, of the broadcast shape.

    >>> print(add([1.0, 2.0], 3.0))
    tf.Tensor([4. 5.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g: g, y=lambda g: negative(g))
def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Difference of two tensors, elementwise.

    Returns:
        ``x - y``, of the broadcast shape.

    >>> print(subtract([1.0, 2.0], 3.0))
    tf.Tensor([-2. -1.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g, y: multiply(g, y), y=lambda g, x: multiply(g, x))
def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Product of two tensors, elementwise.

    Returns:
        ``x * y``, of the broadcast shape.

    >>> print(multiply([1.0, 2.0], 3.0))
    tf.Tensor([3. 6.], shape=(2,), dtype=float32)
    """


@binary(
    x=lambda g, x, y: multiply(multiply(g, 2), subtract(x, y)),
    y=lambda g, x, y: multiply(multiply(g, 2), subtract(y, x)),
)
def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The square of the difference of two tensors, elementwise.

    Returns:
        ``(x - y) * (x - y)``, of the broadcast shape.

    >>> print(squared_difference([1.0, 2.0], 4.0))
    tf.Tensor([9. 4.], shape=(2,), dtype=float32)
    """


@binary(
    x=lambda g, y: realdiv(g, y),
    y=lambda g, x, y: negative(multiply(g, realdiv(realdiv(x, y), y))),
    dtypes=DIFFERENTIABLE,
)
def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors of floats or complex numbers, elementwise.

    Returns:
        ``x / y``, of the broadcast shape; infinite or NaN where ``y`` is zero.

    >>> print(realdiv([1.0, 3.0], 2.0))
    tf.Tensor([0.5 1.5], shape=(2,), dtype=float32)
    """


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors, elementwise; integers are converted to floats first, as Python's ``/`` does.

    Args:
        x, y: tensors of numbers, of one dtype, whose shapes broadcast.

    Returns:
        ``x / y``: float64 for integers (float32 for those of 8 and 16 bits), else of the inputs' dtype.

    >>> print(truediv(7, 2))
    tf.Tensor(3.5, shape=(), dtype=float64)
    """
    if type(x) is Tensor:
        given = x
    else:
        given = y = convert_to_tensor(y) if hasattr(type(y), "__tensor__") else y  # or a variable
    if type(given) is Tensor and given._table.dtype.is_differentiable:
        return realdiv(x, y)
    x, y = operands("truediv", ("x", "y"), x, y)
    if x.dtype.is_integer:
        to = dtypes.float32 if x.dtype.size <= 2 else dtypes.float64
        x, y = cast(x, to), cast(y, to)
    return realdiv(x, y)


divide = truediv


@binary(dtypes=ORDERED, may_fail=INTEGERS)
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of two tensors, rounded down, elementwise; it has no gradient.

    Returns:
        ``x // y``, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    >>> print(floordiv([7, -7], 2))
    tf.Tensor([ 3 -4], shape=(2,), dtype=int32)
    """


@binary(x=lambda g: g, y=lambda g, x, y: negative(multiply(g, floordiv(x, y))), dtypes=ORDERED, may_fail=INTEGERS)
def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Remainder of the rounded-down quotient, elementwise; it has the divisor's sign.

    Returns:
        ``x - (x // y) * y``, of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    >>> print(floormod([7, -7], 3))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """


mod = floormod


@binary(x=lambda g, x, y: keep(g, greater_equal(x, y)), y=lambda g, x, y: keep(g, less(x, y)), dtypes=ORDERED)
def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger of two tensors, elementwise; where they are equal, ``x`` gets the gradient.

    Returns:
        The maximum, of the broadcast shape; NaN where either is NaN.

    >>> print(maximum([1.0, 5.0], 3.0))
    tf.Tensor([3. 5.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g, x, y: keep(g, less_equal(x, y)), y=lambda g, x, y: keep(g, greater(x, y)), dtypes=ORDERED)
def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller of two tensors, elementwise; where they are equal, ``x`` gets the gradient.

    Returns:
        The minimum, of the broadcast shape; NaN where either is NaN.

    >>> print(minimum([1.0, 5.0], 3.0))
    tf.Tensor([1. 3.], shape=(2,), dtype=float32)
    """


@unary(lambda g: negative(g))
def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """The value with the other sign, elementwise.

    Returns:
        ``-x``.

    >>> print(negative([1.0, -2.0]))
    tf.Tensor([-1.  2.], shape=(2,), dtype=float32)
    """


def _abs_vjp(g: Tensor, x: Tensor) -> Tensor:
    if x._table.dtype.is_complex:
        return multiply(cast(g, x._table.dtype), conj(sign(x)))
    return multiply(g, sign(x))


@unary(_abs_vjp, dtype=lambda given: given.real_dtype if given.is_complex else given)
def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """Absolute value, elementwise; of a complex number, its distance from 0. Its gradient at 0 is 0.

    Returns:
        ``|x|``, of the input's dtype, or of the dtype of the parts of complex numbers.

    >>> print(abs([1.0, -2.0]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """


def _sign_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    if not x._table.dtype.is_complex:
        return zeros_like(x)  # at infinities too
    # Moving along the sign does not change it: only what is left of g counts, over the distance from 0; at 0, nothing.
    length = abs(x)
    is_zero = cast(equal(length, 0), length._table.dtype)
    scale = realdiv(multiply(subtract(1, is_zero), 0.5), add(length, is_zero))
    along = multiply(multiply(conj(out), conj(out)), conj(g))
    return multiply(cast(scale, x._table.dtype), subtract(g, along))


@unary(_sign_vjp)
def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """The sign, elementwise: ``x / |x|``, or 0 where ``x`` is 0. For real numbers its gradient is 0.

    Returns:
        -1, 0 or 1, or a complex number of absolute value 1, in the input's dtype; NaN for NaN.

    >>> print(sign([3.0, 0.0, -2.0]))
    tf.Tensor([ 1.  0. -1.], shape=(3,), dtype=float32)
    """


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Sum of any number of tensors of one shape, elementwise.

    Args:
        inputs: at least one tensor; all of one shape and dtype.

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
    dtypes=NUMERIC,
    vjp={"inputs": lambda g, shapes: (g,) * len(shapes)},
    elementwise=True,
)


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross product of vectors of three elements, along the last axis.

    Args:
        a: a tensor of numbers, of shape ``(..., 3)``.
        b: a tensor of the same shape and dtype.

    Returns:
        The vectors that are perpendicular to both, of the same shape.

    Raises:
        InvalidArgumentError: the shapes differ, or the last axis does not have 3 elements.

    >>> print(cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    tf.Tensor([0. 0. 1.], shape=(3,), dtype=float32)
    """
    return call(_cross, *operands("cross", ("a", "b"), a, b))


def _cross_shape(a: Shape, b: Shape) -> Shape:
    if a != b or a[-1:] != (3,):
        raise InvalidArgumentError(f"cross: a and b must be of one shape (..., 3); got {a} and {b}.")
    return a


_cross = define(
    cross, shape=_cross_shape, dtypes=ORDERED, vjp={"a": lambda g, b: cross(b, g), "b": lambda g, a: cross(g, a)}
)


def approximate_equal(x: TensorLike, y: TensorLike, tolerance: float = 1e-5, name: str | None = None) -> Tensor:
    """Whether two tensors differ by less than a tolerance, elementwise.

    Args:
        x, y: tensors of numbers, of one dtype, whose shapes broadcast.
        tolerance: the difference from which on they count as different.

    Returns:
        ``|x - y| < tolerance``, a bool tensor of the broadcast shape.

    >>> print(approximate_equal([1.0, 2.0], [1.0, 2.1]))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """
    x, y = operands("approximate_equal", ("x", "y"), x, y)
    # The larger minus the smaller: unsigned integers have no negative differences.
    difference = abs(subtract(x, y)) if x.dtype.is_complex else maximum(x, y) - minimum(x, y)
    return (cast(difference, dtypes.float64) if x.dtype.is_integer else difference) < tolerance
