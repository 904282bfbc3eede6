"""Functions of the user, and their calls by stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.tensors.tensor import Tensor
from agog_data.elements import Element, as_element, components
from agog_data.random_stream import ElementGenerator

Finish = Callable[[Any], Any]


class ElementFunction:
    """A function that a stage calls for each element, a tuple as several arguments.

    It runs eagerly, in the context of the iterator. Its random ops take their bits from (seed, epoch, element), so they
    give the same on any number of threads and after a resumption. ``finish`` turns its result into what is needed.
    """

    _unit = "element"

    def __init__(self, stage: str, function: Callable[..., Any], finish: Finish = as_element) -> None:
        if not callable(function):
            raise TypeError(f"{stage}: a function is expected; got {function!r} of type {type(function).__name__}.")
        self._stage = stage
        self._function = function
        self._finish = finish

    def __call__(self, element: Element, number: int, word: int, generator: ElementGenerator | None = None) -> Any:
        """Call the function, with the element's number in the epoch and the epoch's random word. A generator that
        nobody else uses now may be given to hold the random state."""
        (generator or ElementGenerator()).use(word, number)
        try:
            if type(element) is tuple:
                return self._finish(self._function(*element))
            return self._finish(self._function(element))
        except StopIteration as error:
            # It would end the loop as if there were no more elements.
            raise RuntimeError(
                f"{self._stage}: the function {self.name()} raised StopIteration at {self._unit} {number}."
            ) from error
        except Exception as error:
            error.add_note(
                f"This happened in {self._stage}, in the function {self.name()}, at {self._unit} {number} "
                "(the first is 0)."
            )
            raise

    def name(self) -> str:
        """The qualified name of the user's function, for errors."""
        return getattr(self._function, "__qualname__", None) or repr(self._function)


class RowsFunction(ElementFunction):
    """A function that a stage calls for many elements at a time, joined along a new first axis."""

    _unit = "batch"

    def __call__(self, element: Element, number: int, word: int, generator: ElementGenerator | None = None) -> Any:
        result = super().__call__(element, number, word, generator)
        rows = components(element)[0]._shape[0]
        for position, component in enumerate(components(result)):
            if component._shape[:1] != (rows,):
                raise InvalidArgumentError(
                    f"{self._stage}: with vectorize=True the function {self.name()} was given {rows} elements, joined "
                    f"along a new first axis; component {position} of its result has shape {component._shape}, but "
                    f"its first size must be {rows} too. A function of single elements is for vectorize=False."
                )
        return result


def as_condition(value: Any, stage: str = "filter") -> bool:
    """Make a bool of what a predicate returned: a bool, or a scalar tensor or array of dtype bool; else a
    ValueError."""
    if isinstance(value, bool):
        return value
    if getattr(value, "dtype", None) == "bool" and value.shape == ():
        return bool(value)
    shown = f"dtype {value.dtype.name} and shape {value.shape}" if isinstance(value, Tensor) else f"{value!r}"
    raise ValueError(f"{stage}: the predicate must return a bool or a scalar boolean tensor; it returned {shown}.")
