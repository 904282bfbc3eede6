"""Taking: the arrays of variables while they are updated in place."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

from agog_core.tensors.tensor import Tensor, wrap
from agog_core.variables.holders import OWN_ARRAY_HOLDERS, OWN_HOLDERS, is_seen
from agog_core.variables.variable import Variable
from agog_core.variables.versions import asked, keep


def take(variables: Sequence[Variable]) -> list[Any]:
    """Take the arrays of variables to update them in place, while `updating` is held, for which other threads that read
    the variables wait.

    Args:
        variables: the variables.

    Returns:
        Their arrays, which nobody else holds.
    """
    arrays = []
    for variable in variables:
        try:
            tensor = variable._taken = variable._tensor
        except AttributeError:  # an interrupt has ended the update that took it
            tensor = variable._taken = variable._tensor = variable._await()
        del variable._tensor  # so that no other thread begins to read what is being written
        array = tensor._array
        if (
            getrefcount(tensor) > OWN_HOLDERS
            or getrefcount(array) > OWN_ARRAY_HOLDERS
            or (tensor._table.base is not None and is_seen(tensor))
        ):
            array = _in_a_copy(variable, tensor)
        else:
            if tensor._watch is not None:  # no tape has seen the value that it will have
                tensor._watch = None
                del tensor._id
            variable._version = None  # nor any kernel
        arrays.append(array)
    return arrays


def _in_a_copy(variable: Variable, tensor: Tensor) -> Any:
    """The array of a copy that a variable has from now on."""
    array = tensor._table.device.copy(tensor._array)
    variable._taken = wrap(array, tensor._table, tensor._shape)
    variable._lent = None
    if asked:
        keep(variable, array)
    return array


def give_back(variables: Sequence[Variable], updated: Sequence[Any] | None = None) -> None:
    """Let the variables that `take` took be read again, with new arrays where the old ones have not been written."""
    if updated is None:
        for variable in variables:
            if (taken := variable._taken) is not None:
                variable._tensor, variable._taken = taken, None
        return
    for variable, array in zip(variables, updated):  # noqa: B905  # strict takes as long as the rest
        if (taken := variable._taken) is not None:
            if array is not taken._array:
                taken = wrap(array, taken._table, taken._shape)
            variable._tensor = taken
            variable._taken = None
            if asked:
                keep(variable, array)
