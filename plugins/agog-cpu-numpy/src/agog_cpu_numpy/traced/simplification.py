"""Simplification: operands taken from where they are, in place of copies that only repeat them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agog_cpu_numpy.traced import layouts
from agog_cpu_numpy.traced.program import Step, Value

# What IEEE 754 says the result of to the last bit, in whatever order NumPy goes through memory.
_EXACT = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum, np.negative, np.absolute, np.sqrt),
        *(np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal),
        *(np.logical_and, np.logical_or, np.logical_not, np.bitwise_and, np.bitwise_or, np.bitwise_xor),
    }
)


def without_copies(steps: Sequence[Step]) -> None:
    """Let elementwise functions read what a copy repeats or reorders, where their results stay as they are."""
    for step in steps:
        if step.kind == "ufunc" and step.options["function"] in _EXACT:
            for place, value in enumerate(step.inputs):
                source = _source(value)
                if source is not None:
                    inputs = (*step.inputs[:place], source, *step.inputs[place + 1 :])
                    if _gives_the_same(step, inputs):
                        step.inputs = inputs


def _source(value: Value) -> Value | None:
    """What a copy is of, if a value is one."""
    return value.step.inputs[0] if value.step is not None and value.step.kind == "copy" else None


def _gives_the_same(step: Step, inputs: Sequence[Value]) -> bool:
    """Whether a step gives an array of the same shape and strides for other operands."""
    array = step.outputs[0].array
    made = layouts.result(array.dtype, *[each.array for each in inputs])
    return bool(made.shape == array.shape and (step.options["imposed"] or layouts.are_equal(made, array)))
