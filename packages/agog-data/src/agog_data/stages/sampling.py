"""Sampling: the stage that takes each element from the input of a selector's choice."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from agog_core import Tensor, dtypes
from agog_core.errors import InvalidArgumentError
from agog_data.elements import Element
from agog_data.random_stream import Draws, Stream
from agog_data.stage import ElementIterator, NoElementError, Scope, Stage
from agog_data.stages.combining import component_dtypes, first_unsettled, known_specs, merge
from agog_data.state import Resumable, State


class Mix(Stage):
    """Elements of several inputs, at least one, each taken from the one that a selector names."""

    def __init__(self, name: str, stages: Sequence[Stage]) -> None:
        self._name = name
        self._stages = stages

    @abstractmethod
    def selector(self, scope: Scope) -> Selector:
        """Make what names the inputs."""

    def spec(self) -> Any:
        specs = known_specs(self._stages)
        first = min(specs)
        form = component_dtypes(specs[first])
        for number, spec in specs.items():
            if component_dtypes(spec) != form:
                raise TypeError(
                    f"{self._name}: the elements of dataset {first} are {form}; those of dataset {number} are "
                    f"{component_dtypes(spec)}. They must have one structure and the same dtypes."
                )
        return reduce(merge, specs.values())

    def sample(self, scope: Scope) -> Element:
        for stage in self._stages:
            with suppress(NoElementError):
                return stage.sample(scope)
        raise NoElementError

    def iterate(self, scope: Scope) -> ElementIterator:
        return MixIterator(self._name, [stage.iterate(scope) for stage in self._stages], self.selector(scope))


class Selector(Resumable):
    """Names an input for each element."""

    @abstractmethod
    def select(self, active: list[bool]) -> int:
        """The number of an input that may have elements still, as ``active`` says; StopIteration ends the elements."""


class MixIterator(ElementIterator):
    """Asks the selector again when the input that it named has ended."""

    def __init__(self, name: str, inputs: list[ElementIterator], selector: Selector) -> None:
        self._name = name
        self._inputs = inputs
        self._selector = selector
        self._active = [True] * len(inputs)

    def start(self, epoch: int) -> None:
        self._active = [True] * len(self._inputs)
        self._selector.start(epoch)
        for each in self._inputs:
            each.start(epoch)

    def __next__(self) -> Element:
        while any(self._active):
            selected = self._selector.select(self._active)
            if self._active[selected]:
                for element in self._inputs[selected]:
                    return element
                self._active[selected] = False
        raise StopIteration

    def state_dict(self) -> dict[str, Any]:
        return {
            "stage": self._name,
            "active": self._active.copy(),
            "selector": self._selector.state_dict(),
            "inputs": [each.state_dict() for each in self._inputs],
        }

    def load_state_dict(self, state: State) -> None:
        self._active = list(state["active"])
        self._selector.load_state_dict(state["selector"])
        for each, part in zip(self._inputs, state["inputs"], strict=True):
            each.load_state_dict(part)


class Sample(Mix):
    """The inputs are named at random, by weights: numbers, or a stage of vectors, one for each element."""

    def __init__(self, stages: Sequence[Stage], weights: list[float] | Stage, seed: int | None) -> None:
        super().__init__("sample_from_datasets", stages)
        self._weights = weights
        self._stream = Stream(seed)

    def selector(self, scope: Scope) -> Selector:
        if isinstance(self._weights, Stage):
            return VaryingSelector(self._weights.iterate(scope), Draws(self._stream))
        return WeightedSelector(self._weights, Draws(self._stream))

    def unsettled(self) -> str | None:
        return "sample_from_datasets makes other choices each time"


class WeightedSelector(Selector):
    """Names inputs by fixed weights."""

    def __init__(self, weights: list[float], draws: Draws) -> None:
        self._weights = weights
        self._draws = draws

    def start(self, epoch: int) -> None:
        self._draws.start(epoch)

    def select(self, active: list[bool]) -> int:
        selected = _draw(self._weights, active, self._draws)
        if selected is None:
            raise StopIteration
        return selected

    def state_dict(self) -> dict[str, Any]:
        return {"draws": self._draws.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._draws.load_state_dict(state["draws"])


class VaryingSelector(Selector):
    """Names inputs by the next vector of weights."""

    def __init__(self, weights: ElementIterator, draws: Draws) -> None:
        self._weights = weights
        self._draws = draws

    def start(self, epoch: int) -> None:
        self._draws.start(epoch)
        self._weights.start(epoch)

    def select(self, active: list[bool]) -> int:
        while True:
            weights = check_weights(next(self._weights), len(active))
            selected = _draw(weights, active, self._draws)
            if selected is not None:
                return selected

    def state_dict(self) -> dict[str, Any]:
        return {"draws": self._draws.state_dict(), "weights": self._weights.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._draws.load_state_dict(state["draws"])
        self._weights.load_state_dict(state["weights"])


def _draw(weights: list[float], active: list[bool], draws: Draws) -> int | None:
    """One of the active inputs, or None if all of them have weight zero."""
    sums = list(accumulate(weight if may else 0.0 for weight, may in zip(weights, active, strict=True)))
    if not sums[-1]:
        return None
    selected = bisect_right(sums, draws.uniform() * sums[-1])
    return min(selected, sums.index(sums[-1]))  # the product may be rounded up to the sum


def check_weights(weights: Any, count: int) -> list[float]:
    """The weights of several datasets, numbers, an array or a tensor, in float64. Raises TypeError or ValueError if
    they are no floating-point vector of that length, InvalidArgumentError if one is negative or not finite or all
    are zero."""
    array = np.asarray(weights.numpy() if isinstance(weights, Tensor) else weights)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"sample_from_datasets: weights must be numbers; got {weights!r}.")
    if array.shape != (count,):
        raise ValueError(
            f"sample_from_datasets: weights must be a vector of length {count}, one for each dataset; "
            f"got shape {array.shape}."
        )
    listed: list[float] = array.astype(np.float64).tolist()
    if not (np.isfinite(array).all() and min(listed) >= 0 and max(listed) > 0):
        raise InvalidArgumentError(
            f"sample_from_datasets: weights must be finite and not negative, one of them positive; got {listed}."
        )
    return listed


class Choose(Mix):
    """The inputs are named by the elements of another stage, int64 scalars."""

    def __init__(self, stages: Sequence[Stage], choice: Stage) -> None:
        super().__init__("choose_from_datasets", stages)
        self._choice = choice

    def selector(self, scope: Scope) -> Selector:
        return ChoiceSelector(self._choice.iterate(scope))

    def unsettled(self) -> str | None:
        return first_unsettled([*self._stages, self._choice])


class ChoiceSelector(Selector):
    """Names inputs by the next number."""

    def __init__(self, choices: ElementIterator) -> None:
        self._choices = choices

    def start(self, epoch: int) -> None:
        self._choices.start(epoch)

    def select(self, active: list[bool]) -> int:
        choice = next(self._choices)
        if type(choice) is not Tensor or choice.dtype is not dtypes.int64 or choice._shape:
            shown = f"{choice.dtype.name} of shape {choice._shape}" if type(choice) is Tensor else repr(choice)
            raise TypeError(
                f"choose_from_datasets: choice_dataset must hold scalars of dtype int64; one element is {shown}."
            )
        selected = int(choice)
        if not 0 <= selected < len(active):
            raise InvalidArgumentError(
                f"choose_from_datasets: choice_dataset must hold numbers from 0 to {len(active) - 1}, those of the "
                f"datasets; got {selected}."
            )
        return selected

    def state_dict(self) -> dict[str, Any]:
        return {"choices": self._choices.state_dict()}

    def load_state_dict(self, state: State) -> None:
        self._choices.load_state_dict(state["choices"])
