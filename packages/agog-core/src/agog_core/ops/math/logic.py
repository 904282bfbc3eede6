"""Logic: comparisons, logic, and the choice between two tensors."""

from __future__ import annotations

from agog_core import dtypes
from agog_core.calls.broadcasting import sum_to
from agog_core.calls.call import call
from agog_core.calls.elementwise import binary, operands, unary
from agog_core.dispatch.devices.lookup import scopes
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.resolution import run_next
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import ALL, FLOATING, NUMERIC_OR_BOOL, ORDERED
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import reshape, zeros_like
from agog_core.recording import active
from agog_core.shapes import Shape, TensorShape, broadcast_shapes
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike, wrap

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "is_finite",
    "is_inf",
    "is_nan",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "where",
]

_BOOL = frozenset({dtypes.bool_})


@binary(dtypes=ALL, dtype=dtypes.bool_)
def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether two tensors are equal, elementwise.

    Returns:
        A bool tensor of the broadcast shape; False where either is NaN.

    >>> print(equal([1, 2], 2))
    tf.Tensor([False  True], shape=(2,), dtype=bool)
    """


@binary(dtypes=ALL, dtype=dtypes.bool_)
def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether two tensors differ, elementwise.

    Returns:
        A bool tensor of the broadcast shape; True where either is NaN.

    >>> print(not_equal([1, 2], 2))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """


@binary(dtypes=ORDERED, dtype=dtypes.bool_)
def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether the first tensor is smaller, elementwise.

    Returns:
        ``x < y``, a bool tensor of the broadcast shape.

    >>> print(less([1, 2, 3], 2))
    tf.Tensor([ True False False], shape=(3,), dtype=bool)
    """


@binary(dtypes=ORDERED, dtype=dtypes.bool_)
def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether the first tensor is not larger, elementwise.

    Returns:
        ``x <= y``, a bool tensor of the broadcast shape.

    >>> print(less_equal([1, 2, 3], 2))
    tf.Tensor([ True  True False], shape=(3,), dtype=bool)
    """


@binary(dtypes=ORDERED, dtype=dtypes.bool_)
def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether the first tensor is larger, elementwise.

    Returns:
        ``x > y``, a bool tensor of the broadcast shape.

    >>> print(greater([1, 2, 3], 2))
    tf.Tensor([False False  True], shape=(3,), dtype=bool)
    """


@binary(dtypes=ORDERED, dtype=dtypes.bool_)
def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether the first tensor is not smaller, elementwise.

    Returns:
        ``x >= y``, a bool tensor of the broadcast shape.

    >>> print(greater_equal([1, 2, 3], 2))
    tf.Tensor([False  True  True], shape=(3,), dtype=bool)
    """


@binary(dtypes=_BOOL)
def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether both are true, elementwise.

    Returns:
        A bool tensor of the broadcast shape.

    >>> print(logical_and([True, False], True))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """


@binary(dtypes=_BOOL)
def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether at least one is true, elementwise.

    Returns:
        A bool tensor of the broadcast shape.

    >>> print(logical_or([True, False], False))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """


@binary(dtypes=_BOOL)
def logical_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether exactly one is true, elementwise.

    Returns:
        A bool tensor of the broadcast shape.

    >>> print(logical_xor([True, False], True))
    tf.Tensor([False  True], shape=(2,), dtype=bool)
    """


@unary(dtypes=_BOOL)
def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """The opposite, elementwise.

    Returns:
        A bool tensor.

    >>> print(logical_not([True, False]))
    tf.Tensor([False  True], shape=(2,), dtype=bool)
    """


@unary(dtypes=FLOATING, dtype=dtypes.bool_)
def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is not a number.

    Returns:
        A bool tensor of the same shape.

    >>> print(is_nan([1.0, float("nan")]))
    tf.Tensor([False  True], shape=(2,), dtype=bool)
    """


@unary(dtypes=FLOATING, dtype=dtypes.bool_)
def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is infinite, of either sign.

    Returns:
        A bool tensor of the same shape.

    >>> print(is_inf([1.0, float("-inf")]))
    tf.Tensor([False  True], shape=(2,), dtype=bool)
    """


@unary(dtypes=FLOATING, dtype=dtypes.bool_)
def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is a finite number: neither infinite nor NaN.

    Returns:
        A bool tensor of the same shape.

    >>> print(is_finite([1.0, float("inf")]))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Elements of one tensor where a condition holds, of another elsewhere; or the positions where it holds.

    Args:
        condition: a bool tensor; without ``x`` and ``y`` also one of numbers, whose elements hold when they are not 0.
        x: a tensor, or None.
        y: a tensor of the same dtype; all three shapes broadcast. A condition of rank 1 chooses whole rows of an ``x``
            and ``y`` of one higher rank.

    Returns:
        A tensor of the broadcast shape. Without ``x`` and ``y``: the positions of the elements that hold, in order, an
        int64 tensor of shape ``(count, rank)``.

    Raises:
        ValueError: one of ``x`` and ``y`` is None.
        InvalidArgumentError: the condition is not bool, the dtypes differ, or the shapes do not fit.

    >>> print(where([True, False], [1.0, 2.0], [3.0, 4.0]))
    tf.Tensor([1. 4.], shape=(2,), dtype=float32)
    >>> print(where([[True, False], [False, True]]))
    tf.Tensor(
    [[0 0]
     [1 1]], shape=(2, 2), dtype=int64)
    """
    choice = convert_to_tensor(condition)
    if x is None and y is None:
        return call(_argwhere, choice)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or neither; got only one of them.")
    if not choice.dtype.is_bool:
        raise InvalidArgumentError(
            f"where: condition must be bool; got dtype {choice.dtype.name} and shape {choice._shape}. Compare first."
        )
    chosen, other = operands("where", ("x", "y"), x, y)
    if len(choice._shape) == 1 < len(chosen._shape) and chosen._shape == other._shape:
        choice = _for_rows(choice, chosen._shape)
    return call(_where, choice, chosen, other)


def _for_rows(choice: Tensor, shape: Shape) -> Tensor:
    if choice._shape[0] != shape[0]:
        raise InvalidArgumentError(
            f"where: a condition of rank 1 chooses rows, so it must have one element for each; got shape "
            f"{choice._shape} for x and y of shape {shape}."
        )
    return reshape(choice, (shape[0], *(1,) * (len(shape) - 1)))


_where: Op = Op(
    "where",
    where,
    inputs=["condition", "x", "y"],
    shape=lambda condition, x, y: broadcast_shapes("where", broadcast_shapes("where", condition, x), y),
    alike=["x", "y"],
    vjp={
        "x": lambda g, condition, x_shape: sum_to(call(_where, condition, g, zeros_like(g)), x_shape),
        "y": lambda g, condition, y_shape: sum_to(call(_where, condition, zeros_like(g), g), y_shape),
    },
    elementwise=True,
)


def masked(x: TensorLike, mask: TensorLike, name: str | None = None) -> Tensor:
    """Floats where a mask holds, else 0, also in the place of NaN and infinities; the shapes broadcast.

    >>> print(masked([float("inf"), 2.0], [False, True]))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """
    choice = convert_to_tensor(mask)
    if not choice.dtype.is_bool:
        raise InvalidArgumentError(
            f"masked: mask must be bool; got dtype {choice.dtype.name} and shape {choice._shape}. Compare first."
        )
    return keep(convert_to_tensor(x), choice)


def keep(g: Tensor, mask: Tensor) -> Tensor:
    """What a gradient keeps where a function is not flat; `masked` for tensors that fit."""
    table = g._table
    kernel = table.kernels.get("masked")
    # The way of `call`, shorter: losses ask for it in each step.
    if kernel and g._shape is mask._shape and table.device is mask._table.device and not (scopes or active):
        arrays = g._array, mask._array
        try:
            array = kernel(*arrays)
        except Exception as error:
            note_failure(error, _masked, table, arrays)
            raise
        if type(array) is not table.array_type:
            is_declined = array is NotImplemented
            array = run_next(_masked, table, arrays, {}) if is_declined else table.adopt("masked", array)
        return wrap(array, table, g._shape)
    return call(_masked, g, mask)


_masked: Op = define(
    masked,
    shape=lambda x, mask: broadcast_shapes("masked", x, mask),
    alike=["x"],
    dtypes=FLOATING,
    vjp={"x": lambda g, mask, x_shape: sum_to(call(_masked, g, mask), x_shape)},
)


_argwhere = Op(
    "argwhere",
    where,
    inputs=["condition"],
    shape=lambda condition: TensorShape([None, len(condition)]),
    dtype=dtypes.int64,
    dtypes=NUMERIC_OR_BOOL,
    host_reads=["condition"],
)
