"""Primitives: the terms of compilers for steps and values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from agog_core.compiler import ArraySpec, Primitive
from agog_cpu_executor.program.kinds import FUSIBLE, OF_UFUNC, Kind
from agog_cpu_executor.program.program import Step, Value


def primitive_of(step: Step, numbers: dict[Value, int]) -> Primitive | None:
    """The primitive of a step; None for steps without one."""
    kind = step.kind
    if kind not in FUSIBLE or (kind is Kind.VIEW and step.name != "view"):
        return None
    if kind in OF_UFUNC and getattr(np, step.name, None) is not step.options["function"]:
        return None  # one of SciPy's
    options: dict[str, Any] = {}
    if kind is Kind.REDUCE:
        axis, dtype = step.options["axis"], step.options["dtype"]
        rank = step.inputs[0].array.ndim
        axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
        options = {"axis": tuple(sorted(a % rank for a in axes)), "dtype": None if dtype is None else dtype.name}
        options |= {name: step.options[name] for name in ("keepdims", "initial") if name in step.options}
    name = step.name if kind in OF_UFUNC else ""
    word = "bits" if kind is Kind.VIEW else kind.value
    return Primitive(word, name, tuple(numbers[x] for x in step.inputs), numbers[step.outputs[0]], options)


def spec_of(value: Value) -> ArraySpec:
    """The dtype, shape and strides of a value."""
    array = value.array
    return _spec(array.dtype, array.shape, array.strides)


@lru_cache(1024)  # a dtype's name takes NumPy long to find
def _spec(dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> ArraySpec:
    return ArraySpec(str(dtype.name), shape, strides)


def first_axis(step: Step) -> int | None:
    """The first axis of a reduction along the last axes; None for other reductions."""
    primitive = primitive_of(step, {step.inputs[0]: 0, step.outputs[0]: 1})
    assert primitive is not None
    axes, rank = primitive.options["axis"], step.inputs[0].array.ndim
    return axes[0] if axes and axes == tuple(range(axes[0], rank)) else None


def is_of_rows(step: Step) -> bool:
    """Whether a step reduces along other than the last axes, so that its result is there after the last element."""
    return step.kind is Kind.REDUCE and first_axis(step) is None
