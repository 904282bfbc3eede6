"""Checks: stages that check elements, and that leave out those whose making fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.shapes import TensorShape
from agog_data.elements import ComponentSpec, Element, components, packer
from agog_data.encoded_state import encode
from agog_data.stage import ElementIterator, Scope, Stage, UnaryIterator, UnaryStage
from agog_data.structures import flatten_up_to

# After this many errors in a row, check whether the input still goes on.
_PATIENCE = 100


class Skipped:
    """How many elements were left out, by all iterators together, and why the last one was."""

    def __init__(self) -> None:
        self.count = 0
        self.last: str | None = None
        self._lock = threading.Lock()

    def add(self, error: Exception) -> None:
        """Count one more."""
        with self._lock:
            self.count += 1
            self.last = f"{type(error).__name__}: {error}"


class IgnoreErrors(UnaryStage):
    """The elements whose making raises no error; the others are counted."""

    def __init__(self, stage: Stage, skipped: Skipped) -> None:
        super().__init__(stage)
        self._skipped = skipped

    def spec(self) -> Any:
        try:
            return self.input.spec()
        except Exception:
            return self.learn()

    def sample(self, scope: Scope) -> Element:
        try:
            return self.input.sample(scope)
        except Exception:  # what is only looked at is not counted
            return IgnoreErrors(self.input, Skipped()).first(scope)

    def iterate(self, scope: Scope) -> ElementIterator:
        return IgnoreErrorsIterator(self.input.iterate(scope), self._skipped)


class IgnoreErrorsIterator(UnaryIterator, name="ignore_errors"):
    """Asks again after an error, as long as the input goes on."""

    def __init__(self, elements: ElementIterator, skipped: Skipped) -> None:
        super().__init__(elements)
        self._skipped = skipped

    def __next__(self) -> Element:
        errors = 0
        before: Any = None
        while True:
            try:
                return next(self._input)
            except StopIteration:
                raise
            except Exception as error:
                errors += 1
                if errors % _PATIENCE == 0:
                    state = encode(self._input.state_dict())
                    if state == before:
                        error.add_note(f"ignore_errors: it stayed after {_PATIENCE} more attempts.")
                        raise
                    before = state
                self._skipped.add(error)


class AssertShape(UnaryStage, keeps_count=True):
    """The same elements, whose shapes are checked and known from then on: in their structure, what `TensorShape`
    takes."""

    def __init__(self, stage: Stage, shapes: Any) -> None:
        super().__init__(stage)
        self._shapes = shapes

    def spec(self) -> Any:
        spec = self.input.spec()
        parts = zip(components(spec), self._flat(spec), strict=True)
        return packer(spec)([_narrowed(part, shape, number) for number, (part, shape) in enumerate(parts)])

    def _flat(self, form: Any) -> list[TensorShape]:
        return [TensorShape(shape) for shape in flatten_up_to(form, self._shapes, _unlike)]

    def iterate(self, scope: Scope) -> ElementIterator:
        return AssertShapeIterator(self.input.iterate(scope), self._flat)


def _unlike(expected: str, found: Any) -> Exception:
    return TypeError(
        f"assert_element_shape: expected_shapes must have the structure of the elements, which have {expected}; "
        f"got {found!r} there."
    )


def _narrowed(part: ComponentSpec, shape: TensorShape, number: int) -> ComponentSpec:
    if not part.shape.is_compatible_with(shape):
        raise ValueError(f"assert_element_shape: component {number} has shape {part.shape}; {shape} is expected.")
    if part.shape.ndims is None or shape.ndims is None:
        return part if shape.ndims is None else type(part)(part.dtype, shape)
    sizes = zip(part.shape.as_list(), shape.as_list(), strict=True)
    return type(part)(part.dtype, TensorShape([wanted if known is None else known for known, wanted in sizes]))


class AssertShapeIterator(UnaryIterator, name="assert_element_shape", fields=("number",)):
    """Checks each element when it is asked for."""

    def __init__(self, elements: ElementIterator, flat: Callable[[Any], list[TensorShape]]) -> None:
        super().__init__(elements)
        self._flat = flat

    def _begin(self, epoch: int) -> None:
        self.number = 0

    def __next__(self) -> Element:
        element = next(self._input)
        number = self.number
        self.number = number + 1
        for component, (part, shape) in enumerate(zip(components(element), self._flat(element), strict=True)):
            if not shape.is_compatible_with(part.shape):
                raise InvalidArgumentError(
                    f"assert_element_shape: component {component} of element {number} has shape {part.shape}; "
                    f"{shape} is expected."
                )
        return element
