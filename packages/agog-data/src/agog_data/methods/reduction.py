"""Reduction: methods of datasets that make one value of all elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_data.elements import Element, as_element
from agog_data.functions import ElementFunction
from agog_data.methods.pipeline import Pipeline
from agog_data.random_stream import Stream
from agog_data.stage import Scope
from agog_data.stages.combining import component_dtypes


class ReductionMethods(Pipeline):
    """Methods of datasets that make one value of all elements."""

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any]) -> Any:
        """Join all elements into one value, from the first to the last. Tapes do not record it.

        Args:
            initial_state: the value before the first element: tensors or what converts to them, in any structure.
            reduce_func: takes the value so far and an element (a tuple as one argument); returns the next value, with
                the structure and the dtypes of the one before.

        Returns:
            The last value.

        Raises:
            TypeError: the function cannot be called, or a value has another structure or another dtype.

        >>> from agog_data import Dataset
        >>> import numpy as np
        >>> int(Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x))
        10
        """
        function = ElementFunction("reduce", reduce_func)
        scope = Scope()
        return scope.context().run(self._reduce, scope, as_element(initial_state), function)

    def _reduce(self, scope: Scope, value: Element, function: ElementFunction) -> Element:
        form = component_dtypes(value)
        word = int(Stream(None).iterate().words(0).random_raw())
        elements = self._stage.iterate(scope)
        elements.start(0)
        for number, element in enumerate(elements):
            value = function((value, element), number, word)
            if component_dtypes(value) != form:
                raise TypeError(
                    f"reduce: the value must keep its structure and dtypes, {form}; "
                    f"the function returned {component_dtypes(value)} for element {number}."
                )
        return value
