"""Variables: their methods as functions."""

from __future__ import annotations

from agog_core.tensors.tensor import Tensor, TensorLike
from agog_core.variables.variable import Variable

__all__ = ["assign", "assign_add", "assign_sub", "count_up_to"]


def assign(
    ref: Variable,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Variable:
    """Replace the value of a variable. See `Variable.assign`.

    >>> import agog_core as ag
    >>> float(assign(ag.Variable(1.0), 5.0))
    5.0
    """
    return ref.assign(value)


def assign_add(ref: Variable, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Variable:
    """Add to the value of a variable. See `Variable.assign_add`.

    >>> import agog_core as ag
    >>> float(assign_add(ag.Variable(1.0), 5.0))
    6.0
    """
    return ref.assign_add(value)


def assign_sub(ref: Variable, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Variable:
    """Subtract from the value of a variable. See `Variable.assign_sub`.

    >>> import agog_core as ag
    >>> float(assign_sub(ag.Variable(1.0), 5.0))
    -4.0
    """
    return ref.assign_sub(value)


def count_up_to(ref: Variable, limit: int, name: str | None = None) -> Tensor:
    """Add one to a variable, unless it has reached a limit.

    Args:
        ref: a variable of one integer, int32 or int64.
        limit: the value that is not passed.

    Returns:
        The value before, a scalar.

    Raises:
        OutOfRangeError: the value is the limit, or above.

    >>> import agog_core as ag
    >>> counter = ag.Variable(0)
    >>> print(ag.count_up_to(counter, 1), int(counter))
    tf.Tensor(0, shape=(), dtype=int32) 1
    """
    return ref.count_up_to(limit)
