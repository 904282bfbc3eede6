"""Unread: variables that were made while a restore waits, and that nobody has read yet.

A plain list tells nobody that it has got a variable. So the first read asks whether a restore has a value for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from agog_core.variables.variable import Variable

# Variables made while a restore waits, until the first read, update or release.
unread: WeakSet[Variable] = WeakSet()


def hold_back(variable: Variable) -> None:
    """Take a new variable's value away, as an update does, until somebody wants it."""
    variable._taken = variable._tensor
    del variable._tensor
    unread.add(variable)


def release(variables: Iterable[Variable]) -> None:
    """Let variables be read without asking, since whoever waits for them has been told of them."""
    for variable in variables:
        if variable in unread:
            unread.discard(variable)
            if variable._taken is not None:
                variable._tensor, variable._taken = variable._taken, None
