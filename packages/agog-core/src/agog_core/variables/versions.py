"""Versions: whether the memory of a variable has been written since somebody looked at it."""

from __future__ import annotations

import gc
import itertools
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from agog_core.tensors.tensor import Tensor
    from agog_core.variables.variable import Variable

# Something from the first question for a version on: until then nobody needs to note where the values of variables are.
asked: list[None] = []
# The variables by the addresses of the arrays that hold their values. What is no longer true is found out by looking at
# the variable, so nobody has to take it out: when there is much of it, `keep` does.
_variables: dict[int, ref[Variable]] = {}
# The next number, one count for all memory, so that an address and a version together never stand for two values.
_next_version = itertools.count(1).__next__
# How many entries there may be before `keep` takes out those that are no longer true.
_most = 1000


def version(array: Any) -> int | None:
    """The version of the value in a variable's memory: another number after each write.

    A kernel may keep what it has made of a weight, such as a blocked copy, by the address of the memory and this
    number together, without a reference to the memory: no two values ever have both in common.

    Args:
        array: an array that a kernel has been given.

    Returns:
        The version, or None where the array is no variable's, of which nothing may be kept.

    >>> from agog_core.variables.variable import Variable
    >>> v = Variable([1.0])
    >>> first = version(v.value()._array)
    >>> first == version(v.value()._array), first == version(v.assign_add([1.0]).value()._array)
    (True, False)
    """
    if not asked:
        _begin()
    found = _variables.get(id(array))
    variable = None if found is None else found()
    if variable is None or not _holds(variable, array):
        return None
    if variable._version is None:
        variable._version = _next_version()
    return variable._version


def _begin() -> None:
    """Note where the values of all variables are that exist by now."""
    from agog_core.variables.variable import Variable  # here, because variables stand on this module

    asked.append(None)  # first, so that none is missed that another thread makes meanwhile
    for each in gc.get_objects():
        if issubclass(type(each), Variable) and (tensor := _value(each)) is not None:
            keep(each, tensor._array)


def _value(variable: Variable) -> Tensor | None:
    """A variable's tensor, also while an update has taken it; None before it has one."""
    return getattr(variable, "_tensor", getattr(variable, "_taken", None))


def keep(variable: Variable, array: Any) -> None:
    """Note that a variable's value is in an array from now on; versions of it are counted from here."""
    variable._version = None
    variable._address = address = id(array)
    _variables[address] = ref(variable)
    if len(_variables) > _most:
        _forget_others()


def _holds(variable: Variable, array: Any) -> bool:
    tensor = getattr(variable, "_tensor", None)  # while it is being updated it has none
    return tensor is not None and tensor._array is array


def _forget_others() -> None:
    """Take out arrays that no variable holds any more."""
    global _most
    known = list(_variables.items())
    for address in [a for a, found in known if (variable := found()) is None or variable._address != a]:
        _variables.pop(address, None)
    _most = 2 * len(_variables) + 1000
