"""Unconnected: sources that no target depends on, or that a tape does not watch."""

from __future__ import annotations

import warnings

from agog_core.tensors.tensor import Tensor

__all__ = ["UnconnectedGradients"]


class UnconnectedGradients:
    """What ``tape.gradient(..., unconnected_gradients=...)`` takes."""

    NONE = "none"
    ZERO = "zero"


def without_gradient(source: Tensor) -> tuple[()]:
    """The ids of a source that a tape does not watch: none. One whose dtype can have no gradient is warned of."""
    if not source._table.dtype.is_differentiable:
        warnings.warn(
            f"GradientTape.gradient: a source of dtype {source.dtype.name} has no gradient; only floats and complex "
            "numbers have one. Cast it before the computation, such as tf.cast(x, tf.float32).",
            stacklevel=5,
        )
    return ()
