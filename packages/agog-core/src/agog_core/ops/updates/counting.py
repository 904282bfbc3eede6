"""Counting: integer variables that count up to a limit."""

from __future__ import annotations

from agog_core.errors import OutOfRangeError
from agog_core.tensors.tensor import Tensor
from agog_core.variables.memory import updating
from agog_core.variables.variable import Variable

__all__ = ["count_up_to"]


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
    with updating:  # two threads never count the same
        before = ref.value()
        if int(before) >= limit:
            raise OutOfRangeError(f"count_up_to: variable {ref.name!r} has reached the limit {limit}: it is {before}.")
        ref.assign_add(1)
    return before
