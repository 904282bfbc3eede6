"""Constraints: functions applied to weights after each update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.nn import relu
from agog_layers.serialization.description import Configured
from agog_layers.serialization.lookup import Lookup

__all__ = [
    "Constraint",
    "ConstraintFunction",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "UnitNorm",
    "deserialize",
    "get",
    "max_norm",
    "min_max_norm",
    "non_neg",
    "serialize",
    "unit_norm",
]

ConstraintFunction = Callable[[Any], Any]

# So that a vector of zeros is not divided by its length, as Keras does.
_EPSILON = 1e-7


class Constraint(Configured):
    """Base of constraints: objects that are called with a weight and return its new value."""

    described_kind: ClassVar[str] = "constraint"

    def __call__(self, w: ag.TensorLike) -> Tensor:
        """Compute the new value of a tensor or variable of floats: a tensor of the same shape."""
        raise NotImplementedError(f"{type(self).__name__}.__call__ is not implemented; it returns the new value.")


class NonNeg(Constraint):
    """Negative numbers become 0.

    >>> print(NonNeg()([-1.0, 2.0]))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    def __call__(self, w: ag.TensorLike) -> Tensor:
        return relu(w)


class _Length(Constraint):
    """Base of constraints on the Euclidean lengths of a weight's parts."""

    axis: int | Sequence[int]

    def _lengths(self, w: Tensor) -> Tensor:
        return ag.sqrt(ag.reduce_sum(ag.square(w), self.axis, keepdims=True))


class MaxNorm(_Length):
    """Parts of a weight that are longer are scaled down.

    N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15, 2014.

    Args:
        max_value: the largest Euclidean length.
        axis: along which axis, or axes, the length is taken: 0 for the weights of each unit of a `Dense` layer,
            [0, 1, 2] for each filter of a `Conv2D` layer.

    >>> print(MaxNorm(1.0)([[3.0, 0.1], [4.0, 0.2]]))
    tf.Tensor(
    [[0.6        0.09999996]
     [0.8        0.19999991]], shape=(2, 2), dtype=float32)
    """

    def __init__(self, max_value: float = 2, axis: int | Sequence[int] = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: ag.TensorLike) -> Tensor:
        weight = ag.convert_to_tensor(w)
        lengths = self._lengths(weight)
        return weight * (ag.clip_by_value(lengths, 0.0, float(self.max_value)) / (lengths + _EPSILON))


class UnitNorm(_Length):
    """All parts of a weight become 1 long.

    Args:
        axis: along which axis, or axes, the length is taken.

    >>> print(UnitNorm()([[3.0], [4.0]]))
    tf.Tensor(
    [[0.6]
     [0.8]], shape=(2, 1), dtype=float32)
    """

    def __init__(self, axis: int | Sequence[int] = 0) -> None:
        self.axis = axis

    def __call__(self, w: ag.TensorLike) -> Tensor:
        weight = ag.convert_to_tensor(w)
        return weight / (self._lengths(weight) + _EPSILON)


class MinMaxNorm(_Length):
    """Parts of a weight that are shorter or longer are scaled.

    Args:
        min_value: the least Euclidean length.
        max_value: the largest.
        rate: how strictly: 1 for at once, less for a part of the way.
        axis: along which axis, or axes, the length is taken.

    >>> print(MinMaxNorm(1.0, 2.0)([[6.0], [8.0]]))
    tf.Tensor(
    [[1.2]
     [1.6]], shape=(2, 1), dtype=float32)
    """

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: int | Sequence[int] = 0
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: ag.TensorLike) -> Tensor:
        weight = ag.convert_to_tensor(w)
        lengths = self._lengths(weight)
        clipped = ag.clip_by_value(lengths, float(self.min_value), float(self.max_value))
        wanted = clipped * self.rate + lengths * (1 - self.rate)
        return weight * (wanted / (lengths + _EPSILON))


# The names that Keras has as well.
max_norm = MaxNorm
non_neg = NonNeg
unit_norm = UnitNorm
min_max_norm = MinMaxNorm

_BY_NAME: dict[str, Callable[[], Constraint]] = {
    "max_norm": MaxNorm,
    "non_neg": NonNeg,
    "unit_norm": UnitNorm,
    "min_max_norm": MinMaxNorm,
}
_BY_CLASS = {make.__name__: make for make in (MaxNorm, NonNeg, UnitNorm, MinMaxNorm)}
CONSTRAINTS = Lookup("constraint", makers=_BY_NAME, aliases=_BY_CLASS)
get, serialize, deserialize = CONSTRAINTS.get, CONSTRAINTS.serialize, CONSTRAINTS.deserialize
