"""Eager tape: names of TensorFlow's ``python.eager.tape`` that programs call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agog_core.recording import stack

__all__ = ["stop_recording"]


@contextmanager
def stop_recording() -> Iterator[None]:
    """Record nothing inside a ``with`` block, on no tape of this thread or task.

    Returns:
        A context manager.

    >>> import agog_core as ag
    >>> x = ag.constant(3.0)
    >>> with ag.GradientTape() as tape:
    ...     tape.watch(x)
    ...     with stop_recording():
    ...         y = x * x
    >>> tape.gradient(y, x) is None
    True
    """
    token = stack.set(())
    try:
        yield
    finally:
        stack.reset(token)
