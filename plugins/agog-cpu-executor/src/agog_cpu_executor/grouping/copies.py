"""Copies: steps read the source of a copy, or write into the result of a concatenation, where bits stay the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import TAKING_EAGER_ARRAYS, Kind
from agog_cpu_executor.program.steps import FunctionStep, Step, UfuncStep, Value

# IEEE 754 defines their results to the last bit, in whatever order NumPy goes through memory.
_EXACT = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum, np.negative, np.absolute, np.sqrt),
        *(np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal),
        *(np.logical_and, np.logical_or, np.logical_not, np.bitwise_and, np.bitwise_or, np.bitwise_xor),
    }
)


def without_copies(steps: Sequence[Step]) -> None:
    """Let elementwise functions read the source of a copy, where the layout of their result stays the same."""
    for step in steps:
        if isinstance(step, UfuncStep) and step.function in _EXACT:
            for place, value in enumerate(step.inputs):
                source = _source(value)
                if source is not None:
                    inputs = (*step.inputs[:place], source, *step.inputs[place + 1 :])
                    if _gives_the_same(step, inputs):
                        step.inputs = inputs


def joined_in_place(steps: Sequence[Step], wanted: Iterable[Value]) -> None:
    """Let steps write the parts of a concatenation into its result."""
    users: dict[Value, list[Step]] = {}
    for step in steps:
        for value in step.inputs:
            users.setdefault(value.root, []).append(step)
    kept = {value.root for value in wanted}
    for step in steps:
        if not isinstance(step, FunctionStep) or step.function is not np.concatenate:
            continue
        [whole], axis = step.outputs, step.keywords["axis"]
        if axis is None:
            continue
        may_stay = whole not in kept and all(user.kind not in TAKING_EAGER_ARRAYS for user in users.get(whole, ()))
        if may_stay and layouts.is_dense(whole.array) and all(_is_part(x, whole, users, kept) for x in step.inputs):
            step.kind = Kind.JOIN
            start = 0
            for part in step.inputs:
                end = start + part.array.shape[axis]
                key = (*(slice(None),) * (axis % whole.array.ndim), slice(start, end))
                part.whole, start = (whole, ("getitem", key)), end
                part.array = whole.array[key]


def _is_part(value: Value, whole: Value, users: dict[Value, list[Step]], kept: set[Value]) -> bool:
    """Whether a value has one user, and a function computes it that may write into any layout."""
    step = value.step
    is_exact = isinstance(step, UfuncStep) and step.function in _EXACT
    is_alone = is_exact and value.base is None and value not in kept and len(users[value]) == 1
    return is_alone and value.array.size > 0 and value.array.dtype == whole.array.dtype


def _source(value: Value) -> Value | None:
    """The source of a copy; None for any other value."""
    return value.step.inputs[0] if value.step is not None and value.step.kind is Kind.COPY else None


def _gives_the_same(step: UfuncStep, inputs: Sequence[Value]) -> bool:
    """Whether a step gives an array of the same shape and strides for other operands."""
    array = step.outputs[0].array
    made = layouts.result(array.dtype, *[each.array for each in inputs])
    return bool(made.shape == array.shape and (step.is_imposed or layouts.are_equal(made, array)))
