"""Echoes: results of a function that are its arguments, one another, or tensors from outside, and no new tensors."""

from __future__ import annotations

from collections.abc import Sequence

from agog_core.tensors.tensor import Tensor
from agog_core.tracing.device import TracedArray


class Echoes:
    """Which results of a function are tensors that were there before.

    Args:
        results: the tensors that the function has returned, while it was traced.
        inputs: the traced tensors of its arguments.
    """

    def __init__(self, results: Sequence[Tensor], inputs: Sequence[Tensor]) -> None:
        places = {id(x): place for place, x in reversed(list(enumerate(inputs)))}
        firsts = {id(x): place for place, x in reversed(list(enumerate(results)))}
        self._arguments = [(place, places[id(x)]) for place, x in enumerate(results) if id(x) in places]
        self._constants = [(place, x) for place, x in enumerate(results) if type(x._array) is not TracedArray]
        self._again = [(place, firsts[id(x)]) for place, x in enumerate(results) if firsts[id(x)] != place]

    def __bool__(self) -> bool:
        return bool(self._arguments or self._constants or self._again)

    def __call__(self, results: list[Tensor], tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results of a call: those in a list, but for those that are other tensors."""
        for place, argument in self._arguments:
            results[place] = tensors[argument]
        for place, constant in self._constants:
            results[place] = constant
        for place, first in self._again:
            results[place] = results[first]
        return results
