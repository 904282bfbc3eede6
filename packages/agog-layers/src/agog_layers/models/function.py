"""Function: a part of a functional model as a function, ``tf.keras.backend.function``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_layers.calls.learning_phase import learning_phase_scope
from agog_layers.layer.symbolic import Symbolic
from agog_layers.models.graph import Graph

__all__ = ["function"]


def function(inputs: Sequence[Any], outputs: Any, updates: Any = None, **kwargs: Any) -> Callable[[Any], list[Any]]:
    """Make a function of what leads from inputs of a model to outputs of its layers.

    Args:
        inputs: what ``tf.keras.Input`` returned, such as ``model.input`` or ``model.inputs``; and
            ``tf.keras.backend.learning_phase()`` as the last one, if the function is to be told of training.
        outputs: what layers made of them, such as ``layer.output``, or a list of those.
        updates: must be None or empty.

    Returns:
        A function of a list of arrays, one for each input, that returns a list of arrays, one for each output; one
        output that is no list gives one array.

    Raises:
        ValueError: the outputs depend on another input, or there are updates.
        TypeError: an input or an output is no symbolic value, or there is another argument.

    >>> import numpy as np
    >>> from agog_layers import Dense, Sequential
    >>> model = Sequential([Dense(3, input_shape=(2,)), Dense(1)])
    >>> function([model.input], [model.layers[0].output])([np.ones((5, 2))])[0].shape
    (5, 3)
    """
    if kwargs:
        raise TypeError(f"function: there is no argument {sorted(kwargs)[0]!r}; there is no session to give it to.")
    if updates:
        raise ValueError("function: updates must be empty, since ops run as they are called; assign after the call.")
    told = [each for each in inputs if not isinstance(each, int)]  # the learning phase is a number
    several = isinstance(outputs, (list, tuple))
    graph = Graph("function", told, list(outputs) if several else [outputs])

    def run(values: Any) -> Any:
        given = list(values) if isinstance(values, (list, tuple)) else [values]
        if len(given) != len(inputs):
            raise ValueError(f"function: there are {len(inputs)} inputs; got {len(given)} values.")
        phases = [int(value) for each, value in zip(inputs, given, strict=True) if not isinstance(each, Symbolic)]
        tensors = [value for each, value in zip(inputs, given, strict=True) if isinstance(each, Symbolic)]
        with learning_phase_scope(phases[0] if phases else 0):
            results = graph.run(graph.converted(tensors))
        arrays = [result.numpy() for result in results]
        return arrays if several else arrays[0]

    return run
