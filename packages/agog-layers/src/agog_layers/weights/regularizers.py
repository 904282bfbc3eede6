"""Regularizers: penalties on weights or outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_layers.serialization.description import Configured
from agog_layers.serialization.lookup import Lookup

__all__ = [
    "L1L2",
    "OrthogonalRegularizer",
    "Regularizer",
    "RegularizerFunction",
    "deserialize",
    "get",
    "l1",
    "l1_l2",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2",
    "l2_regularizer",
    "serialize",
    "sum_regularizer",
]

RegularizerFunction = Callable[[Any], Any]


class Regularizer(Configured):
    """Base of regularizers: callable objects from a weight to its penalty."""

    described_kind: ClassVar[str] = "regularizer"

    def __call__(self, x: ag.TensorLike) -> Tensor:
        """Compute the penalty of a tensor or variable of floats, a scalar."""
        raise NotImplementedError(f"{type(self).__name__}.__call__ is not implemented; it returns the penalty.")


class L1L2(Regularizer):
    """``l1 * sum(abs(x)) + l2 * sum(x ** 2)``.

    Args:
        l1: the first factor.
        l2: the second factor.

    >>> print(L1L2(l1=1.0, l2=0.5)([2.0, -4.0]))
    tf.Tensor(16.0, shape=(), dtype=float32)
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = float(l1)
        self.l2 = float(l2)

    def __call__(self, x: ag.TensorLike) -> Tensor:
        weight = ag.convert_to_tensor(x)
        terms = []
        if self.l1:
            terms.append(ag.reduce_sum(ag.abs(weight)) * self.l1)
        if self.l2:
            terms.append(ag.nn.l2_loss(weight) * (2 * self.l2))  # l2_loss is half the sum of squares
        return ag.add_n(terms) if terms else ag.zeros((), weight.dtype)


class OrthogonalRegularizer(Regularizer):
    """What keeps the rows or columns of a matrix orthogonal: the mean of the sizes of their cosines, times a factor.

    Args:
        factor: the factor.
        mode: ``"rows"`` or ``"columns"``.

    Raises:
        ValueError: the mode is another, or the weight is no matrix.

    >>> print(OrthogonalRegularizer(factor=1.0)([[1.0, 0.0], [3.0, 4.0]]))
    tf.Tensor(0.6, shape=(), dtype=float32)
    """

    def __init__(self, factor: float = 0.01, mode: str = "rows") -> None:
        if mode not in ("rows", "columns"):
            raise ValueError(f"OrthogonalRegularizer: mode must be 'rows' or 'columns'; got {mode!r}.")
        self.factor = float(factor)
        self.mode = mode

    def __call__(self, x: ag.TensorLike) -> Tensor:
        weight = ag.convert_to_tensor(x)
        if len(weight._shape) != 2:
            raise ValueError(f"OrthogonalRegularizer: the weight must be a matrix; got shape {weight.shape}.")
        rows = ag.nn.l2_normalize(weight if self.mode == "rows" else ag.transpose(weight), 1)
        size = rows._shape[0]
        cosines = ag.abs(ag.matmul(rows, rows, transpose_b=True))
        total = ag.reduce_sum(cosines * (1.0 - ag.eye(size, dtype=weight.dtype)))
        return total * (self.factor / max(1, size * (size - 1)))


def l1(l: float = 0.01) -> L1L2:  # noqa: E741  # Keras's name of the argument
    """``l * sum(abs(x))``.

    Args:
        l: the factor.

    Returns:
        The regularizer.

    >>> print(l1(0.5)([2.0, -4.0]))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    return L1L2(l1=l)


@documented_like(l1)
def l2(l: float = 0.01) -> L1L2:  # noqa: E741  # Keras's name of the argument
    """``l * sum(x ** 2)``.

    >>> print(l2(0.5)([2.0, -4.0]))
    tf.Tensor(10.0, shape=(), dtype=float32)
    """
    return L1L2(l2=l)


@documented_like(L1L2)
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """``l1 * sum(abs(x)) + l2 * sum(x ** 2)``.

    Returns:
        The regularizer.

    >>> print(l1_l2(1.0, 0.5)([2.0, -4.0]))
    tf.Tensor(16.0, shape=(), dtype=float32)
    """
    return L1L2(l1, l2)


_BY_NAME: dict[str, Callable[[], Regularizer]] = {
    "l1": l1,
    "l2": l2,
    "l1_l2": l1_l2,
    "orthogonal_regularizer": OrthogonalRegularizer,
}
_OTHER_NAMES = {"L1L2": L1L2, "OrthogonalRegularizer": OrthogonalRegularizer}
REGULARIZERS = Lookup("regularizer", makers=_BY_NAME, aliases=_OTHER_NAMES)
get, serialize, deserialize = REGULARIZERS.get, REGULARIZERS.serialize, REGULARIZERS.deserialize


def l1_regularizer(scale: float, scope: str | None = None) -> L1L2:
    """``scale * sum(abs(x))``, as in ``tf.contrib.layers``.

    Args:
        scale: the factor.

    Returns:
        The regularizer.

    Raises:
        ValueError: the scale is an integer or negative.

    >>> print(l1_regularizer(0.5)([2.0, -4.0]))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    return L1L2(l1=_scale("l1_regularizer", scale))


@documented_like(l1_regularizer)
def l2_regularizer(scale: float, scope: str | None = None) -> L1L2:
    """``scale * sum(x ** 2) / 2``, as in ``tf.contrib.layers``: half of what Keras has.

    >>> print(l2_regularizer(0.5)([2.0, -4.0]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """
    return L1L2(l2=_scale("l2_regularizer", scale) / 2)


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> L1L2:
    """The sum of `l1_regularizer` and `l2_regularizer`.

    Args:
        scale_l1: the factor of the one.
        scale_l2: that of the other.

    Returns:
        The regularizer.

    Raises:
        ValueError: a scale is an integer or negative.

    >>> print(l1_l2_regularizer(1.0, 0.5)([2.0, -4.0]))
    tf.Tensor(11.0, shape=(), dtype=float32)
    """
    name = "l1_l2_regularizer"
    return L1L2(_scale(name, scale_l1), _scale(name, scale_l2) / 2)


def _scale(name: str, scale: float) -> float:
    if isinstance(scale, int) or scale < 0:
        raise ValueError(f"{name}: the scale must be a float that is not negative; got {scale!r}.")
    return scale


def sum_regularizer(
    regularizer_list: Sequence[RegularizerFunction | None], scope: str | None = None
) -> RegularizerFunction | None:
    """The sum of regularizers.

    Args:
        regularizer_list: the regularizers; None adds nothing.

    Returns:
        A function of a weight; None if there is no regularizer.

    >>> print(sum_regularizer([l1_regularizer(0.5), None, l2_regularizer(0.5)])([2.0, -4.0]))
    tf.Tensor(8.0, shape=(), dtype=float32)
    """
    regularizers = [each for each in regularizer_list if each is not None]

    def total(weights: Any) -> Tensor:
        return ag.add_n([each(weights) for each in regularizers])

    return total if regularizers else None
