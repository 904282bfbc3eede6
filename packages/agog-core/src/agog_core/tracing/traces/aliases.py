"""Aliases: results that are no new tensors, but arguments, values of variables, constants, or one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.source import Source
from agog_core.tracing.state.device import TracedArray
from agog_core.variables.variable import Variable


class Echoes:
    """Which results of a function are tensors that were there before.

    Args:
        results: the tensors that the function has returned, while it was traced.
        inputs: the traced tensors of its arguments.
        values: traced tensors that are values of variables which the function does not write.
        finals: those that are values which it has written last.
    """

    def __init__(
        self,
        results: Sequence[Tensor],
        inputs: Sequence[Tensor],
        values: Sequence[tuple[Variable, Tensor]] = (),
        finals: Sequence[tuple[Variable, Tensor]] = (),
    ) -> None:
        owners = {id(x): variable for variable, x in values}
        writers = {id(x): variable for variable, x in finals}
        places = {id(x): place for place, x in reversed(list(enumerate(inputs)))}
        firsts = {id(x): place for place, x in reversed(list(enumerate(results)))}
        self._arguments = [(place, places[id(x)]) for place, x in enumerate(results) if id(x) in places]
        self._variables = [(place, owners[id(x)]) for place, x in enumerate(results) if id(x) in owners]
        self._finals = [(place, writers[id(x)]) for place, x in enumerate(results) if id(x) in writers]
        self._constants = [(place, x) for place, x in enumerate(results) if type(x._array) is not TracedArray]
        self._again = [(place, firsts[id(x)]) for place, x in enumerate(results) if firsts[id(x)] != place]

    @classmethod
    def of_variables(
        cls, present: Mapping[Variable, Any], finals: Mapping[Variable, Any], results: Sequence[Any]
    ) -> Echoes:
        """Those of a graph whose results are values of variables, on entry or at the end.

        >>> bool(Echoes.of_variables({}, {}, [])), Echoes.of_variables({}, {}, [1])([2], [], {}, {})
        (False, [2])
        """
        found = cls([], [])
        places = {value: place for place, value in enumerate(results)}
        found._variables = [(places[value], variable) for variable, value in present.items() if value in places]
        found._finals = [(places[value], variable) for variable, value in finals.items() if value in places]
        return found

    def __bool__(self) -> bool:
        return bool(self._arguments or self._variables or self._finals or self._constants or self._again)

    def is_like(self, other: Echoes) -> bool:
        """Whether the same results are the same tensors; constants are compared elsewhere."""
        constants = [[place for place, _ in each._constants] for each in (self, other)]
        return constants[0] == constants[1] and (self._arguments, self._variables, self._finals, self._again) == (
            *(other._arguments, other._variables),
            *(other._finals, other._again),
        )

    def names(self, names: Sequence[str], source: Source) -> list[str] | None:
        """What a function that is written calls the results: these names, but for those that are ``tensors`` or
        constants; None where some are values of variables."""
        if self._variables or self._finals:
            return None
        found = list(names)
        for place, argument in self._arguments:
            found[place] = f"tensors[{argument}]"
        for place, constant in self._constants:
            found[place] = source.constant(constant)
        for place, first in self._again:
            found[place] = found[first]
        return found

    def present(self) -> dict[Variable, Tensor]:
        """The present values of the variables, asked for before a run."""
        return {variable: variable._current() for _, variable in self._variables}

    def __call__(
        self,
        results: list[Tensor],
        tensors: Sequence[Tensor],
        values: Mapping[Variable, Tensor],
        written: Mapping[Variable, Any],
    ) -> list[Tensor]:
        """The results of a call: those in a list, but for those that are arguments, or values of variables.

        Args:
            results: new tensors.
            tensors: the arguments.
            values: the values of variables before the call.
            written: the arrays that it has given variables.
        """
        for place, argument in self._arguments:
            results[place] = tensors[argument]
        for place, variable in self._variables:
            if variable._current() is values[variable]:  # no other thread has changed it meanwhile
                results[place] = values[variable]
        for place, variable in self._finals:
            present, array = variable._current(), written.get(variable)
            if present._array is results[place]._array or present._array is array:  # as above
                results[place] = present
        for place, constant in self._constants:
            results[place] = constant
        for place, first in self._again:
            results[place] = results[first]
        return results
