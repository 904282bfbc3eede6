"""Echoes: results of a function that are no new tensors: arguments, values of variables, one another, or constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agog_core.tensors.tensor import Tensor
from agog_core.tracing.device import TracedArray
from agog_core.variables.variable import Variable


class Echoes:
    """Which results of a function are tensors that were there before.

    Args:
        results: the tensors that the function has returned, while it was traced.
        inputs: the traced tensors of its arguments.
        values: traced tensors that are values of variables which the function does not write.
    """

    def __init__(
        self, results: Sequence[Tensor], inputs: Sequence[Tensor], values: Sequence[tuple[Variable, Tensor]] = ()
    ) -> None:
        owners = {id(x): variable for variable, x in values}
        places = {id(x): place for place, x in reversed(list(enumerate(inputs)))}
        firsts = {id(x): place for place, x in reversed(list(enumerate(results)))}
        self._arguments = [(place, places[id(x)]) for place, x in enumerate(results) if id(x) in places]
        self._variables = [(place, owners[id(x)]) for place, x in enumerate(results) if id(x) in owners]
        self._constants = [(place, x) for place, x in enumerate(results) if type(x._array) is not TracedArray]
        self._again = [(place, firsts[id(x)]) for place, x in enumerate(results) if firsts[id(x)] != place]

    def __bool__(self) -> bool:
        return bool(self._arguments or self._variables or self._constants or self._again)

    def present(self) -> dict[Variable, Tensor]:
        """The present values of the variables, asked for before a run."""
        return {variable: variable._current() for _, variable in self._variables}

    def __call__(
        self, results: list[Tensor], tensors: Sequence[Tensor], values: Mapping[Variable, Tensor]
    ) -> list[Tensor]:
        """The results of a call: those in a list, but for those that are arguments, or values of variables."""
        for place, argument in self._arguments:
            results[place] = tensors[argument]
        for place, variable in self._variables:
            if variable._current() is values[variable]:  # no other thread has changed it meanwhile
                results[place] = values[variable]
        for place, constant in self._constants:
            results[place] = constant
        for place, first in self._again:
            results[place] = results[first]
        return results
