"""Temporary: variables inside one computation, such as gathered rows of a step."""

from __future__ import annotations

from agog_core.tensors.tensor import Tensor
from agog_core.tracers import present_tracer, tracing
from agog_core.variables.variable import Variable


def temporary(value: Tensor) -> Variable:
    """Make a variable that nobody keeps. Functions that are traced may make as many as they like.

    >>> import agog_core as ag
    >>> temporary(ag.constant(2.0)).assign_add(1.0).numpy()
    np.float32(3.0)
    """
    if tracing and (tracer := present_tracer()) is not None:
        return tracer.temporary(value)
    return Variable(value, trainable=False)
