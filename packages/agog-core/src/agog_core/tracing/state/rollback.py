"""Rollback: takes back what a call gave to variables before its end, where the call fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from agog_core.tensors.tensor import Tensor
from agog_core.variables.memory import updating
from agog_core.variables.variable import Variable

T = TypeVar("T")


class Rollback:
    """The values of variables before a call has written them, and those that it has given them."""

    def __init__(self) -> None:
        self._before: dict[Variable, Tensor] = {}
        self._given: dict[Variable, Tensor] = {}

    def writing(self, variables: Sequence[Variable], write: Callable[[], T]) -> T:
        """Call what gives variables new values while nobody else can; a Ctrl-C in it leaves those from before."""
        with updating:
            for variable in variables:
                present = held(variable)
                if self._given.get(variable) is not present:  # another thread has written it, if it was given before
                    self._before[variable] = present
            try:
                found = write()
                for variable in variables:
                    self._given[variable] = held(variable)
            except Exception:
                raise
            except BaseException:  # a Ctrl-C
                give({variable: self._before[variable] for variable in variables})
                raise
        return found

    def take_back(self) -> None:
        """Give variables their values from before, but for those that another thread has written since."""
        with updating:
            give({v: self._before[v] for v, given in self._given.items() if held(v) is given})


def held(variable: Variable) -> Tensor:
    """What a variable has, whatever a trace makes of it."""
    try:
        return variable._tensor
    except AttributeError:
        return variable._await()


def give(values: Mapping[Variable, Tensor]) -> None:
    """Let variables have values, while `updating` is held."""
    for variable, tensor in values.items():
        variable._put(tensor)
