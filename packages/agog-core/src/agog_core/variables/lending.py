"""Lending: memory that variables hold without owning it."""

from __future__ import annotations

from agog_core.tensors.tensor import Tensor
from agog_core.variables.variable import Variable, updating
from agog_core.variables.versions import keep


def lend(tensor: Tensor, variable: Variable) -> None:
    """Give a variable a value without a copy, in memory that must never be written, such as that of a mapped file.

    The first update in place copies it, and the variable lets go of that memory then.

    >>> import agog_core as ag
    >>> v, tensor = ag.Variable([1.0, 2.0]), ag.constant([3.0, 4.0])
    >>> lend(tensor, v)
    >>> v.assign_add([1.0, 1.0]).numpy(), tensor.numpy()
    (array([4., 5.], dtype=float32), array([3., 4.], dtype=float32))
    """
    with updating:
        # Held twice, it looks as if somebody else had it, so that an update in place begins with a copy.
        variable._tensor = variable._lent = tensor
        variable._taken = None
        keep(variable, tensor._array)
