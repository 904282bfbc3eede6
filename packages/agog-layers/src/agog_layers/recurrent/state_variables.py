"""State variables: the states of a stateful layer as variables, for traced functions too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, Variable


class KeptStates:
    """The initial states of the next call, for each shape of inputs so far."""

    def __init__(self) -> None:
        self.batch: int | None = None  # of the last call; None after a reset
        self._latest: Any = None
        self._states: dict[Any, list[Variable]] = {}
        self._first: dict[Any, list[Variable]] = {}
        self._given: Sequence[Tensor] | None = None  # what a reset has said before there were such states

    def begin(self, x: Tensor, first: Callable[[], Sequence[Tensor]]) -> list[Tensor]:
        """The states for inputs of shape (batch, time, ...); a function gives those of inputs of a new shape."""
        key = self._latest = _key(x)
        if key not in self._states:
            initial = first()
            self._first[key] = _variables(initial)
            self._states[key] = _variables(self._given or initial)
        self._given = None
        return [state.value() for state in self._states[key]]

    def end(self, x: Tensor, states: Sequence[Tensor]) -> None:
        """Keep the states that a call ends with."""
        self.batch, self._latest = x._shape[0], _key(x)
        kept = self._states.get(self._latest)
        if kept is None or not _fit(
            kept, states
        ):  # a call that was given its first states, or a cell that makes others
            self._states[self._latest] = _variables(states)
            return
        for variable, state in zip(kept, states, strict=True):
            variable.assign(state)

    def reset(self, given: Sequence[Tensor] | None) -> None:
        """Go back to the first states, or to others."""
        self.batch = None if given is None else given[0]._shape[0]
        self._given = given
        for key, states in list(self._states.items()):
            values = self._first.get(key) if given is None else given
            if values is not None and _fit(states, values):
                if given is not None:
                    self._given, self._latest = None, key
                for state, value in zip(states, values, strict=True):
                    state.assign(value)
            elif given is None:
                del self._states[key]

    @property
    def present(self) -> list[Tensor] | None:
        """The states that the next call begins with; None if no call was made."""
        if self._given is not None:
            return list(self._given)
        return [state.value() for state in self._states[self._latest]] if self._latest in self._states else None


def _key(x: Tensor) -> Any:
    batch, _, *sizes = x._shape
    return batch, *sizes


def _variables(states: Sequence[Tensor]) -> list[Variable]:
    return [Variable(state, trainable=False, name="state") for state in states]


def _fit(states: Sequence[Variable], values: Sequence[Tensor | Variable]) -> bool:
    return all(a.shape == b.shape and a.dtype is b.dtype for a, b in zip(states, values, strict=True))
