"""Primitives: the terms of compilers for steps and values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from agog_core.compiler import ArraySpec, Primitive
from agog_cpu_executor.program.kinds import FUSIBLE, OF_UFUNC, Kind
from agog_cpu_executor.program.steps import ReduceStep, Step, UfuncStep, Value


def primitive_of(step: Step, numbers: dict[Value, int]) -> Primitive | None:
    """The primitive of a step; None for steps without one."""
    kind = step.kind
    if kind not in FUSIBLE or (kind is Kind.VIEW and step.name != "view"):
        return None
    if isinstance(step, (UfuncStep, ReduceStep)) and getattr(np, step.name, None) is not step.function:
        return None  # one of SciPy's
    options: dict[str, Any] = {}
    if isinstance(step, ReduceStep):
        options = {"axis": _axes(step), "dtype": None if step.dtype is None else step.dtype.name}
        options |= {"keepdims": step.keepdims} | ({} if step.initial is None else {"initial": step.initial})
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


def _axes(step: ReduceStep) -> tuple[int, ...]:
    """The axes of a reduction, from 0 on."""
    rank = step.inputs[0].array.ndim
    axes = range(rank) if step.axis is None else (step.axis,) if isinstance(step.axis, int) else step.axis
    return tuple(sorted(a % rank for a in axes))


def first_axis(step: ReduceStep) -> int | None:
    """The first axis of a reduction along the last axes; None for other reductions."""
    axes, rank = _axes(step), step.inputs[0].array.ndim
    return axes[0] if axes and axes == tuple(range(axes[0], rank)) else None


def is_of_rows(step: Step) -> bool:
    """Whether a step reduces along other than the last axes, so that its result is there after the last element."""
    return isinstance(step, ReduceStep) and first_axis(step) is None
