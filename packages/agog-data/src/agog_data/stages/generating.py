"""Generating: the stage at the beginning of a pipeline that reads a Python generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count, cycle
from typing import Any

import numpy as np

from agog_core import Tensor, TensorShape, as_dtype, string
from agog_core.errors import InvalidArgumentError
from agog_core.ops.control.py_func import in_pipeline
from agog_core.tensors.convert import from_host
from agog_core.tensors.host_array import host_array
from agog_data.elements import ComponentSpec, Element, components, map_components, packer
from agog_data.preview import touch
from agog_data.random_stream import ElementGenerator, Stream
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.state import State


class Generated(Stage):
    """The elements of a function's iterable, checked against the spec."""

    def __init__(self, function: Callable[..., Any], spec: Any, arguments: list[Any]) -> None:
        self._function = function
        self._spec = spec
        self._arguments = arguments
        self.stream = Stream(None)
        self.name: str = getattr(function, "__qualname__", None) or repr(function)

    def spec(self) -> Any:
        return self._spec

    def sample(self, scope: Scope) -> Element:
        return self.first(scope)

    def iterate(self, scope: Scope) -> GeneratorIterator:
        return GeneratorIterator(self, scope)

    def generate(self) -> Iterator[Any]:
        """Call the function, and iterate over what it returns."""
        token = in_pipeline.set(False)  # generators are never traced
        try:
            return iter(self._function(*self._arguments))
        except StopIteration as error:
            # It would end the loop as if there were no more elements.
            raise RuntimeError(f"from_generator: {self.name} raised StopIteration when it was called.") from error
        except Exception as error:
            error.add_note(f"This happened in from_generator, when {self.name} was called.")
            raise
        finally:
            in_pipeline.reset(token)

    def never_ends(self) -> bool:
        return getattr(self._function, "func", self._function) in (count, cycle)  # also as `partial`

    def unsettled(self) -> str | None:
        return f"from_generator cannot know that {self.name} yields them in one order"


def generated_spec(types: Any, shapes: Any) -> Any:
    """The spec of a generator's elements, of a structure of dtypes, and the same one of shapes or None if nothing is
    known of them. Raises TypeError if something is no dtype, or the structures differ."""
    dtypes = map_components(as_dtype, types)
    found = components(dtypes)
    if shapes is None:
        sizes = [TensorShape(None)] * len(found)
    else:
        try:
            sizes = [TensorShape(part) for part in components_like(dtypes, shapes)]
        except ValueError:
            raise TypeError(
                f"from_generator: output_shapes must have the structure of output_types, {types}; got {shapes}."
            ) from None
    return packer(dtypes)([ComponentSpec(dtype, shape) for dtype, shape in zip(found, sizes, strict=True)])


def components_like(structure: Any, value: Any) -> list[Any]:
    """The parts of a value, in the order of `components`, where a structure has its components. Raises ValueError if
    the value has another structure."""
    if isinstance(structure, Mapping):
        if not isinstance(value, Mapping) or structure.keys() != value.keys():
            raise ValueError
        return [part for key in sorted(structure) for part in components_like(structure[key], value[key])]
    if isinstance(structure, tuple):
        if not isinstance(value, tuple) or len(structure) != len(value):
            raise ValueError
        return [part for one, other in zip(structure, value, strict=True) for part in components_like(one, other)]
    return [value]


class GeneratorIterator(ElementIterator):
    """Starts the generator when an element is asked for. To resume, it starts another one and skips elements."""

    def __init__(self, stage: Generated, scope: Scope) -> None:
        self._stage = stage
        spec = stage.spec()
        self._spec = spec
        self._specs: list[ComponentSpec] = components(spec)
        self._tables = [scope.device.table(each.dtype) for each in self._specs]
        self._pack = packer(spec)
        self._iteration = stage.stream.iterate()
        self._random = ElementGenerator()
        self._generator: Iterator[Any] | None = None
        self._begin(0)

    def _begin(self, epoch: int) -> None:
        if self._generator is not None:
            getattr(self._generator, "close", lambda: None)()
        self._generator = None
        self._epoch = epoch
        self._number = 0  # how many elements the consumer was given
        self._ended = False
        self._word = int(self._iteration.words(epoch).random_raw())

    def start(self, epoch: int) -> None:
        self._begin(epoch)

    def __next__(self) -> Element:
        if self._ended:
            raise StopIteration
        generator = self._generator or self._restart()
        try:
            value = self._next(generator, self._number)
        except StopIteration:
            self._ended = True
            raise
        self._number += 1
        try:
            parts = components_like(self._spec, value)
        except ValueError:
            types = map_components(lambda component: component.dtype, self._spec)
            raise self._unfit(
                "that did not match the expected structure. "
                f"The expected structure was {types}, but the yielded element was {value!r}."
            ) from None
        rows = zip(parts, self._specs, self._tables, strict=True)
        return self._pack([from_host(self._convert(part, spec), table) for part, spec, table in rows])

    def _restart(self) -> Iterator[Any]:
        touch()  # two calls of the function may give one and the same iterator
        self._random.use(self._word, 0)
        generator = self._generator = self._stage.generate()
        for number in range(self._number):
            try:
                self._next(generator, number)
            except StopIteration:
                raise InvalidArgumentError(
                    f"from_generator: {self._stage.name} was started again to skip {self._number} elements, but it "
                    f"yielded only {number}. It must yield the same each time for an iterator to be resumed."
                ) from None
        return generator

    def _next(self, generator: Iterator[Any], number: int) -> Any:
        # The generator's random ops give the same again when it is started to skip elements.
        self._random.use(self._word, number)
        token = in_pipeline.set(False)
        try:
            return next(generator)
        except StopIteration:
            raise
        except Exception as error:
            error.add_note(
                f"This happened in from_generator, in the generator {self._stage.name}, at element {number} "
                "(the first is 0)."
            )
            raise
        finally:
            in_pipeline.reset(token)

    def _convert(self, value: Any, spec: ComponentSpec) -> Any:
        if isinstance(value, Tensor):
            value = value.numpy()
        try:
            if spec.dtype is string:
                host = host_array(value, string)
            else:
                host = np.array(value, spec.dtype.numpy_dtype, order="C")
        except (TypeError, ValueError, OverflowError) as error:
            raise self._unfit(
                "that could not be converted to the expected type. "
                f"The expected type was {spec.dtype.name}, but the yielded element was {value!r}."
            ) from error
        if not spec.shape.is_compatible_with(host.shape):
            raise self._unfit(f"of shape {host.shape} where an element of shape {spec.shape} was expected.")
        return host

    def _unfit(self, text: str) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"from_generator: element {self._number - 1}: `generator` {self._stage.name} yielded an element {text}"
        )

    def state_dict(self) -> dict[str, Any]:
        return {
            "stage": "from_generator",
            "epoch": self._epoch,
            "number": self._number,
            "ended": self._ended,
            "random": self._iteration.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self._iteration.load_state_dict(state["random"])
        self._begin(state["epoch"])
        self._number, self._ended = state["number"], state["ended"]
