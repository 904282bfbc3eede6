"""Resampling: the stage that rejects elements for another distribution of classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agog_core import Tensor, TensorShape, cast, convert_to_tensor, dtypes
from agog_core.errors import InvalidArgumentError
from agog_data.elements import ComponentSpec, Element
from agog_data.functions import ElementFunction
from agog_data.random_stream import Draws, Stream
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.mapping import CountingIterator
from agog_data.state import State

# With how many elements of each class the estimate of the distribution begins, as in TensorFlow.
_PRIOR = 10


class Resample(UnaryStage):
    """Pairs of class and element, some of them rejected. ``target`` and ``initial`` say how likely each class shall be
    and is; ``initial`` is None to estimate it from the elements."""

    def __init__(
        self,
        stage: Stage,
        function: Callable[..., Any],
        target: list[float],
        initial: list[float] | None,
        seed: int | None,
    ) -> None:
        super().__init__(stage)
        self.classes = len(target)
        self.acceptance = None if initial is None else acceptance(target, initial)
        self.target = target
        self.function = ElementFunction("rejection_resample", function, partial(_as_class, classes=len(target)))
        self.functions_stream = Stream(None)
        self.stream = Stream(seed)

    def spec(self) -> Any:
        return ComponentSpec(dtypes.int32, TensorShape([])), self.input.spec()

    def sample(self, scope: Scope) -> Element:
        element = self.input.sample(scope)
        return self.function(element, 0, 0), element

    def iterate(self, scope: Scope) -> ElementIterator:
        return ResampleIterator(self.input.iterate(scope), self)

    def unsettled(self) -> str | None:
        return "rejection_resample rejects other elements each time"


class ResampleIterator(CountingIterator, name="rejection_resample"):
    """Draws a number for each element, and rejects it where the number is too large."""

    def __init__(self, elements: ElementIterator, stage: Resample) -> None:
        self._stage = stage
        self._draws = Draws(stage.stream)
        super().__init__(elements, stage.function, stage.functions_stream)

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        self._seen = [_PRIOR] * self._stage.classes
        self._draws.start(epoch)

    def __next__(self) -> Element:
        while True:
            element = next(self._input)
            number = self._number
            self._number = number + 1
            found = self._function(element, number, self._word)
            if self._draws.uniform() < self._accepted(int(found)):
                return found, element

    def _accepted(self, found: int) -> float:
        if self._stage.acceptance is not None:
            return self._stage.acceptance[found]
        self._seen[found] += 1
        total = sum(self._seen)
        return acceptance(self._stage.target, [seen / total for seen in self._seen])[found]

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "draws": self._draws.state_dict(),
            "seen": self._seen.copy(),
        }

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        self._draws.load_state_dict(state["draws"])
        self._seen = list(state["seen"])


def _as_class(value: Any, classes: int) -> Tensor:
    found = convert_to_tensor(value)
    if found._shape or not found.dtype.is_integer or not 0 <= int(found) < classes:
        shown = int(found) if found.dtype.is_integer and not found._shape else repr(value)
        raise InvalidArgumentError(
            f"rejection_resample: class_func must return the number of a class, an integer scalar from 0 to "
            f"{classes - 1}; it returned {shown}."
        )
    return cast(found, dtypes.int32)


def acceptance(target: list[float], initial: list[float]) -> list[float]:
    """How likely an element of each class is kept, as many as possible: target / initial, divided by its largest
    value."""
    ratios = [wish / found if found else 0.0 for wish, found in zip(target, initial, strict=True)]
    return [ratio / max(ratios) for ratio in ratios]


def check_distribution(name: str, value: Any, count: int | None = None) -> list[float]:
    """How likely classes are: numbers, an array or a tensor, divided by their sum. Raises InvalidArgumentError if they
    are no vector of finite numbers, none negative, of length ``count`` if given.
    """
    array = np.asarray(value.numpy() if isinstance(value, Tensor) else value)
    right = array.ndim == 1 and array.size > 0 and array.dtype.kind in "fiu" and count in (None, array.size)
    if not right or not np.isfinite(array).all() or array.min() < 0 or array.max() == 0:
        wanted = "numbers" if count is None else f"{count} numbers"
        raise InvalidArgumentError(
            f"rejection_resample: {name} must be a vector of {wanted}, finite, not negative and not all zero; "
            f"got {value!r}."
        )
    listed: list[float] = (array / array.sum(dtype=np.float64)).tolist()
    return listed
