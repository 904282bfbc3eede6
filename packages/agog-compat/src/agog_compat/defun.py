"""Defun: `agog_core.tracing.functions.function.function` under its name in ``tf.contrib.eager``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.tracing.functions.function import DefinedFunction as DefinedFunction
from agog_core.tracing.functions.function import function

__all__ = ["defun"]


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    compiled: bool = False,
) -> Any:
    """See `agog_core.tracing.functions.function.function`: the same, for which programs of TensorFlow 1 have this name.

    >>> import agog_core as ag
    >>> @defun
    ... def double(x):
    ...     return x * 2
    >>> print(double(ag.constant(2.0)))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """
    return function(func, input_signature, owner="defun")
